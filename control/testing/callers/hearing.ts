/** The meaning of the agent's words for a caller, as far as rules can tell. Pure. */
import { asKeys } from '#shared/agent/keys.ts';
import { lexicon, phraseIn, plainText } from '../judging/lexicon.ts';
import { soundsDone } from '../judging/settled.ts';
import { asksFor, type Request, requestsIn } from './asked.ts';

export interface MenuChoice {
  readonly keys: string;
  readonly label: string;
}

export interface Heard {
  /** All of it; empty: the agent said nothing. */
  readonly text: string;
  /** Sentences that ask for something, as a question or in other words. */
  readonly questions: readonly string[];
  /** What is asked for besides values: to hold, to repeat, … */
  readonly requests: readonly Request[];
  /** The agent is the one who calls. */
  readonly outbound: boolean;
  /** The agent says a value and asks whether it is right. */
  readonly readsBack: boolean;
  readonly menu: readonly MenuChoice[];
  /** "How can I help you?" */
  readonly opensFloor: boolean;
  /** A question that yes or no answers. */
  readonly yesOrNo: boolean;
  /** The caller has what it came for, or is asked whether there is more. */
  readonly done: boolean;
  readonly goodbye: boolean;
  readonly transfers: boolean;
  readonly acknowledges: boolean;
  readonly dismisses: boolean;
}

const floor =
  /how (?:can|may) (?:i|we) (?:help|assist)|what can (?:i|we) (?:do|help)|what brings you|reason (?:for|of) (?:your|the) call(?! today was)|(?:what|what's) (?:is )?(?:this|it)? ?(?:about|regarding|concerning)|what would you like(?: to do)?\s*\?|what do you need\??$|what happened\s*\?|how (?:should|may|can) i direct|why (?:you are|you're) calling|^why (?:are you|did you) call(?:ing)?(?: us)?(?: today)?\s*\??$|tell me (?:what|how|why)(?: it is| this is)? (?:about|i can|you)|in a few words/i;
const closed =
  /^(?:so,?\s+|and\s+|okay,?\s+|great,?\s+)?(?:is|are|do|does|did|can|could|would|will|shall|should|have|has|may)\b|\b(?:is that (?:right|correct|okay|ok)|correct|right|okay)\s*\?/i;
const farewell =
  /\b(?:good ?bye|bye|have a (?:nice|great|good|lovely) \w+|thank you for calling|thanks for calling)\b/i;
const handsOver = /\b(?:transfer(?:ring)? you|connect(?:ing)? you|put(?:ting)? you through)\b/i;
const calls =
  /\b(?:calling (?:from|about|to|on behalf|because|regarding|you|with)|this is [\p{L} ]{2,30} (?:from|with|at)\b|giv(?:e|ing) you a call|trying to reach)\b/iu;
const readBack =
  /(?:correct|(?<!all )right|yes|is it|isn't it)\s*\?|\bis that (?:right|correct)|\bdid you say\b|\bto confirm\b|\bread that back\b|\b(?:i have|i've got|i put) you\b/i;
/** Before a question mark: "Your order number is SP4402?" */
const readBackBefore = /^so\b|\b(?:your|the) (?:[a-z]+ ){1,3}(?:is|was)\b/i;
const asksOpen = /\b(?:what|which|when|where|who|whom|whose|how|why)\b/i;

const dismissal =
  /\b(?:calm down|your fault|stop (?:shouting|yelling)|not my problem|nothing i can do|relax)\b/i;

const menuForms = [
  /\bpress\s+([0-9*#]|one|two|three|four|five|six|seven|eight|nine|zero|star|pound)\s+(?:for|to)\s+([^,.;?]+)/gi,
  /\b(?:for|to)\s+([^,.;?]{1,100}?),?\s+(?:please\s+)?press\s+([0-9*#]|one|two|three|four|five|six|seven|eight|nine|zero|star|pound)\b/gi,
] as const;
export function hear(lines: readonly string[]): Heard {
  const text = lines.join(' ').replaceAll(/\s+/g, ' ').trim();
  const sentences = text.split(/(?<=[.!?])\s+/).filter((sentence) => sentence !== '');
  const questions = sentences.filter((sentence, at) => asksFor(sentence, at === sentences.length - 1));
  return {
    text,
    questions,
    menu: menuIn(text),
    opensFloor: floor.test(plainText(text)),
    // What was asked long ago is forgotten.
    requests: requestsIn(text.slice(-600)),
    outbound: calls.test(text),
    readsBack: sentences.some(isReadBack),
    yesOrNo: questions.some(
      (question) => closed.test(question) || (/\?$/.test(question) && !asksOpen.test(question)),
    ),
    done: soundsDone(text),
    goodbye: farewell.test(text),
    transfers: handsOver.test(text),
    acknowledges: phraseIn(text, lexicon.acknowledgement) !== null,
    dismisses: dismissal.test(text),
  };
}

function isReadBack(sentence: string): boolean {
  const mark = sentence.lastIndexOf('?');
  return readBack.test(sentence) || (mark >= 0 && readBackBefore.test(sentence.slice(0, mark)));
}

function menuIn(text: string): MenuChoice[] {
  const [before, after] = menuForms;
  const found = [...text.matchAll(before)].map(([, key = '', label = '']) => choice(key, label));
  if (found.length > 0) return found;
  return [...text.matchAll(after)].map(([, label = '', key = '']) => choice(key, label));
}

function choice(key: string, label: string): MenuChoice {
  return { keys: asKeys(key), label: label.trim() };
}
