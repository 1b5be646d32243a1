/**
 * What people are asked for on the phone, and the ways to ask for it. A slot joins the words of a question to a fact of
 * the persona, whatever its author called it. Facts of other names are found by the words of their names.
 */
import { type Fact, factsFor } from './facts.ts';

export interface Slot {
  readonly id: string;
  /** Names of facts that fill it. */
  readonly key: RegExp;
  /** Words that ask for it. */
  readonly cue: RegExp;
}

/** In order of precedence: words that one has taken do not count for the next, as "email" in "email address". */
const slots: readonly Slot[] = [
  {
    id: 'birth',
    key: /birth|\bdob\b/,
    cue: /date of birth|birth ?date|birthday|\bd\.?o\.?b\b\.?|(?:when )?(?:were|was) (?:you )?born/,
  },
  { id: 'email', key: /e-?mail/, cue: /e-?mail(?: address)?/ },
  {
    id: 'referral',
    key: /\b(?:hear|heard|referr?al|referred|found)\b/,
    cue: /hea?rd? (?:about|of) us|(?:find|found|come across|came across) us|find out about us|told you about us|referred you/,
  },
  {
    id: 'feedback',
    key: /feedback|improve|suggestion|comment|do better/,
    cue: /feedback|improv\w+|do (?:it )?better|suggestions?|comments?\b|should we change|what would you change/,
  },
  {
    id: 'rating',
    key: /rating|score|recommend|satisf|likel/,
    cue: /(?:on a )?scale (?:of|from)|from (?:\d{1,2}|zero|one) to (?:\d{1,2}|five|ten)|how likely|\brat(?:e|ing)\b|out of (?:5|10|five|ten)|how satisfied|what score/,
  },
  {
    id: 'contact',
    key: /(?:preferred|best) (?:contact|channel|way)|contact (?:method|preference|by)|\bcontact$/,
    cue: /(?:how|way|method|means|channel)\b.{0,40}\b(?:contact(?:ed)?|in touch)|(?:contact|reach) (?:method|preference|you by)|preferred (?:contact|channel)/,
  },
  {
    id: 'insurance',
    key: /insur/,
    cue: /insur\w*(?: (?:company|provider|carrier))?|health plan|who covers you/,
  },
  {
    id: 'company',
    key: /company|business|organi[sz]ation|employer|\bfirm\b/,
    cue: /(?:name of your )?(?:company|business|organi[sz]ation|employer|\bfirm)(?: name)?(?: called)?|who do you work for|where are you calling from/,
  },
  {
    id: 'doctor',
    key: /doctor|physician|dentist|provider|stylist/,
    cue: /(?:name of (?:your|the) )?(?:doctor|physician|dentist|stylist)|who do you (?:usually |normally )?see/,
  },
  { id: 'first name', key: /(?:first|given) name/, cue: /(?:first|given) name/ },
  { id: 'last name', key: /(?:last|family) name|surname/, cue: /(?:last|family) name|surname/ },
  {
    id: 'phone',
    key: /phone|mobile|\bcell\b|callback|contact number/,
    cue: /(?:tele)?phone(?: number)?|mobile(?: number)?|\bcell\b(?: number)?|call-?back number|contact number|best number|(?:at |on )?(?:which|what) number (?:can|could|should|may|do) (?:we|i)|(?:reach|call|ring) you (?:back )?(?:at|on|by phone)|number (?:to|where|on which|at which) .{0,12}(?:reach|call)/,
  },
  { id: 'postcode', key: /post ?(?:al )?code|\bzip\b/, cue: /post ?(?:al )?code|\bzip\b(?: code)?/ },
  {
    id: 'address',
    key: /address|street/,
    cue: /(?:(?:street|home|mailing|delivery|shipping|billing|postal) )?address|where do you live|\bstreet\b/,
  },
  { id: 'city', key: /\bcity\b|\btown\b/, cue: /\bcity\b|\btown\b/ },
  { id: 'payment', key: /\bpay|\bcard$/, cue: /(?:method of )?pay(?:ment|ing)?\b(?: method)?/ },
  {
    id: 'budget',
    key: /budget|price|spend/,
    cue: /budget|price range|how much (?:would|do|can|could|are|will) you|(?:can|could|to) spend|afford/,
  },
  {
    id: 'since',
    key: /\bsince\b|start(?:ed)? (?:on|of)|how long/,
    cue: /since when|how long (?:has|have|ago|is)|when did (?:it|this|that|the|you first)|(?:first )?notice/,
  },
  {
    id: 'problem',
    key: /problem|issue|symptom|fault|complaint|trouble|damage/,
    cue: /problem|\bissues?\b|symptoms?|(?:what(?:'s| is)|is) wrong|trouble|bothering you|going on with|happened to/,
  },
  {
    id: 'vehicle',
    key: /vehicle|\bcar\b|make and model/,
    cue: /(?:make and model of (?:your|the) )?(?:vehicle|\bcar\b)|make and model|you driving|you drive/,
  },
  {
    id: 'party',
    key: /party|guests|people|persons|head ?count/,
    cue: /how many (?:people|guests|persons|of you)|party(?: size)?|(?:size of|number of|how large|how big).{0,20}(?:party|group|guests|people)|table for how many|guests/,
  },
  {
    id: 'nights',
    key: /nights?|length of stay/,
    cue: /nights?\b|how long (?:will|would|are) you stay(?:ing)?/,
  },
  {
    id: 'quantity',
    key: /quantity|how many|\bcount\b|\bpieces\b/,
    cue: /quantity|how many(?! (?:nights|people|guests|persons|of you))/,
  },
  { id: 'age', key: /\bage\b/, cue: /how old|\byour age\b/ },
  { id: 'colour', key: /colou?r/, cue: /colou?rs?/ },
  { id: 'language', key: /language/, cue: /language/ },
  {
    id: 'time',
    key: /\btime\b|\bhour\b/,
    cue: /(?:what|which|at what|at which) (?:time|hour)|time of day|(?:preferred|best|right) time|\b(?:the|a) time\b(?! to)|and when exactly/,
  },
  {
    id: 'day',
    key: /\bday\b|\bdate\b/,
    cue: /(?:what|which|on which) (?:day|date)|(?:preferred|any|best|right) (?:day|date)|\b(?:the|a|your) (?:day|date)\b|\bwhen\b(?! (?:did|were|was|i|we|it|they))|how soon/,
  },
  {
    id: 'name',
    key: /^(?:(?:full|patient|customer|caller|my) )?name$/,
    cue: /\b(?:your|full|the|which|a|under what|under which)\b(?: \w+)? name\b|^name\b|\bname,? please|who(?:'s| is| am i| do i have| i have|m am i)(?: .{0,12})?\b(?:calling|speaking|talking|line|this|with)\b|whom? am i|who(?:'s| is) (?:it|the (?:appointment|booking|reservation|order)) for\b/,
  },
];

/** Facts that a question asks for: by its words for a slot, then by the names of the others. */
export function askedFor(question: string, facts: readonly Fact[]): Fact[] {
  let left = question.toLowerCase().replaceAll('’', "'");
  const found: Fact[] = [];
  for (const { cue, key } of slots) {
    const here = cue.exec(left);
    if (!here) continue;
    const own = facts.filter((fact) => ownerOf(fact.key) === key && !found.includes(fact));
    const [best] = own.length > 1 ? factsFor(question, own) : own;
    const fact = best ?? own[0];
    if (fact === undefined) continue;
    found.push(fact);
    left = `${left.slice(0, here.index)} ${left.slice(here.index + here[0].length)}`;
  }
  const others = facts.filter((fact) => !found.includes(fact) && ownerOf(fact.key) === undefined);
  const named = factsFor(left, others).filter(({ key }) => namesOf(key).some((word) => left.includes(word)));
  // "How would you rate our service?" asks for the rating named service.
  const rating = slots.find(({ id }) => id === 'rating')?.key;
  const kept = found.filter(
    ({ key }) =>
      named.length === 0 ||
      ownerOf(key) !== rating ||
      namesOf(key).some((word) => question.toLowerCase().includes(word)),
  );
  return [...kept, ...named];
}

/** A date of birth is not the date of an appointment: the first slot that a fact fits owns it. */
function ownerOf(factKey: string): RegExp | undefined {
  return slots.find(({ key }) => key.test(factKey))?.key;
}

/** The words that tell a fact from others: "order" of "order number". */
function namesOf(key: string): string[] {
  const words = key.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2 && !common.has(word));
  return words.length > 0 ? words : [key];
}

const common: ReadonlySet<string> = new Set('number name date time the and for your first last'.split(' '));

/** The slot that a question is about, when no fact fills it; null: none. */
export function slotOf(question: string): string | null {
  const plain = question.toLowerCase().replaceAll('’', "'");
  return slots.find(({ cue }) => cue.test(plain))?.id ?? null;
}
