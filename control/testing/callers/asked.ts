/** What a sentence of the agent asks a caller to do, other than to tell a value. Pure. */

/** Whether a sentence asks for something, as a question, an order or a statement of what is needed. */
export function asksFor(sentence: string, isLast: boolean): boolean {
  const plain = sentence.toLowerCase().replaceAll('’', "'").trim();
  if (/\?\s*$/.test(plain) || order.test(plain) || need.test(plain)) return true;
  if (has.test(plain)) return false;
  return (isLast && yours.test(plain)) || bare.test(plain);
}

const order =
  /^(?:(?:and|so|okay|great|first|now|then|next|sorry|thanks?(?: you)?|gladly|sure)[,.]?\s+)*(?:please\s+)?(?:tell|say|give|spell|enter|provide|state|share|confirm|read|describe|choose|rate|leave|let me know|go ahead|remind|what|which|when|where|who|whom|how|may i|may we|could|can|would you)\b|\bplease\s+(?:tell|say|give|spell|enter|provide|state|share|confirm|describe|choose|rate|leave|read|have|let me know)\b/;
const need =
  /\b(?:i|we)(?:'ll| will|'d| would|'m| am| are|'re)?\s+(?:(?:just|also|still|only|first|going to|then)\s+)*(?:need(?: to (?:know|have|check|verify|confirm|get|ask|take))?|require|have to (?:ask|get|take|know|check)|must (?:ask|have|know)|like to (?:know|get|take|have|confirm|verify|hear|ask)|love to (?:know|hear)|missing|can't find it without|cannot go on without)\b|\blet (?:me|us|'s)? ?(?:get|take|verify|have|grab)\b|\blet's (?:start|begin|get|have|take)\b|\b(?:start|begin) with\b|\bif you (?:give|tell|could|would|can)\b|\ball i need\b|\b(?:missing|without) (?:is |are )?(?:your|the|an?)\b|\bfor (?:your )?(?:security|verification)\b/;
/** The agent has what it speaks of. */
const has =
  /\b(?:thank|thanks|found|have (?:found|noted|updated|changed|received|sent|confirmed|booked|added)|got|see|noted|updated|changed|received|sent|confirmed|booked|we have|i have (?:your|the)|is now|has been|was|will (?:be|call|send|email|text)|goodbye|checking)\b/;
const yours = /\b(?:your|the) [a-z][a-z' -]{1,40}[.!]?$/;
/** "Your name, please." */
const bare = /^(?:and\s+)?(?:your|the|an?|any)?\s*[a-z][a-z' -]{1,40}?,? please[.!]?$/;

/** A request other than for a value. */
export type Request =
  | 'identity'
  | 'good time'
  | 'bad time'
  | 'hearing'
  | 'hold'
  | 'repeat'
  | 'spell'
  | 'last four'
  | 'listening';

const requests: readonly (readonly [Request, RegExp])[] = [
  ['spell', /\bspell/],
  ['last four', /\blast (?:four|4|three|3|two|2)\b/],
  [
    'hearing',
    /\b(?:can|do|could) you (?:still )?hear me|\bare you (?:still )?(?:there|here|with me|on the line)\b|\bstill (?:there|with me)\b|\b(?:anybody|somebody|anyone) there\b|^hello\?+$|\blost you\b/,
  ],
  [
    'repeat',
    /\b(?:repeat|say (?:that|it|this) (?:again|once more)|one more time|once more|come again|speak up|breaking up|try (?:that|it) again)\b|\b(?:did not|didn't|could not|couldn't|cannot|can't) (?:quite )?(?:catch|get|hear|understand|make out)\b|\bmissed that\b|^(?:sorry|pardon|excuse me|i beg your pardon)[?.!]*$|\bwhat was that\b|\bwhat did you say\b|\bpardon(?: me)?\?/,
  ],
  [
    'hold',
    /\b(?:hold|wait)(?: on| the line)?(?: for)?(?: just)?(?: a| one)?(?: moment| second| minute| while|,? please|[.?!]|$)|\bplease (?:hold|wait|stay)\b|\b(?:put|place) you on hold\b|\bbear with me\b|^(?:just )?(?:a|one) (?:moment|second|minute)\b|\bmind (?:holding|waiting)\b|\bjust a (?:moment|second|minute)\b/,
  ],
  [
    'bad time',
    /\b(?:bad|wrong|inconvenient) (?:time|moment)|\bam i (?:disturbing|interrupting)|\bare you busy\b/,
  ],
  [
    'good time',
    /\b(?:good|convenient|okay|right) (?:time|moment)\b(?! (?:for|to) (?:the|your|us to))|\b(?:have|got|spare) (?:a|an|one|two|a few|a couple of|five|some)(?: spare)? (?:minutes?|moments?|seconds?|time)\b|\b(?:can|could|may) we (?:talk|speak)\b|\bfree to (?:talk|speak)\b|\btalk for a (?:moment|minute)\b/,
  ],
  ['listening', /\b(?:i'm|i am) listening\b|^go ahead\b|\bspeaking[.!]?$/],
];

/** The requests in a line, most telling first. */
export function requestsIn(text: string): Request[] {
  const plain = text.toLowerCase().replaceAll('’', "'").trim();
  const sentences = plain.split(/(?<=[.!?])\s+/);
  return requests.flatMap(([request, form]) =>
    form.test(plain) || sentences.some((one) => form.test(one)) ? [request] : [],
  );
}

const speaksTo =
  /\b(?:am i (?:speaking|talking) (?:with|to)|is (?:this|that|it)|speak(?:ing)? (?:with|to)|talk(?:ing)? (?:with|to)|reach|looking for|calling for|do i have|have i (?:got|reached)|ask for|is|are you)\b/;

/**
 * Whether the agent asks for a person: `self`, `other` for somebody else, null when it does not.
 * @param name the caller's
 */
export function personAsked(text: string, name: string | null): 'self' | 'other' | null {
  const whole = text.replaceAll('’', "'");
  const parts = name === null ? [] : name.split(/\s+/).filter((part) => part.length > 1);
  for (const sentence of whole.split(/(?<=[.!?])(?<!\b(?:Mr|Mrs|Ms|Dr)\.)\s+/)) {
    const plain = sentence.toLowerCase();
    const named = parts.some((part) => new RegExp(`\\b${escaped(part.toLowerCase())}\\b`).test(plain));
    const short = /^(?:(?:hi|hello|hey|good \w+),?\s+)?[\p{L}.' -]{2,40}\?$/iu.test(sentence);
    const asks = /\?$/.test(plain) || /\b(?:reach|looking for|calling for|ask for)\b/.test(plain);
    if (named && asks && (short || speaksTo.test(plain)) && !/\bname\b/.test(plain)) return 'self';
    const other =
      /\b[Ii]s (?:this|that) (?:Mr|Mrs|Ms|Miss|Dr)\.? \p{Lu}[\p{L}'-]+|\b(?:[Aa]m I (?:speaking|talking) (?:with|to)|(?:speak|talk) (?:with|to)|reach|looking for) (?:(?:Mr|Mrs|Ms|Dr)\.? )?(\p{Lu}[\p{L}'-]+)/u.exec(
        sentence,
      );
    if (other && !named && parts.length > 0 && asks) return 'other';
  }
  return null;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
