/** The meaning of the agent's words for a caller, as far as rules can tell. Pure. */
import { asKeys } from '#shared/agent/keys.ts';
import { lexicon, phraseIn, plainText } from '../judging/lexicon.ts';

export interface MenuChoice {
  readonly keys: string;
  readonly label: string;
}

export interface Heard {
  /** All of it; empty: the agent said nothing. */
  readonly text: string;
  /** Sentences that ask for something. */
  readonly questions: readonly string[];
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

const asks =
  /\?\s*$|^(?:please\s+)?(?:tell|say|give|spell|enter|provide|state|share|confirm|let me know|may i|could|can|what|which|when|where|who|how)\b|\bplease (?:tell|say|give|spell|enter|provide|state|share|confirm|let me know)\b/i;
const floor =
  /how (?:can|may) (?:i|we) (?:help|assist)|what can (?:i|we) (?:do|help)|what brings you|reason (?:for|of) (?:your|the) call|(?:what|what's) (?:is )?(?:this|it)? ?(?:about|regarding|concerning)|what would you like(?: to do)?\s*\?|what do you need|what happened|how should i direct/i;
const closed =
  /^(?:so,?\s+|and\s+|okay,?\s+|great,?\s+)?(?:is|are|do|does|did|can|could|would|will|shall|should|have|has|may)\b|\b(?:is that (?:right|correct|okay|ok)|correct|right|okay)\s*\?/i;
const finished =
  /\b(?:is|are|was|were|been|you're|all|i've|i have|it's|we've|we have)\s+(?:now\s+|all\s+)?(?:booked|scheduled|confirmed|all set|set up|done|complete|completed|cancelled|canceled|placed|updated|resolved|refunded|taken care of|reserved|registered|noted)\b|\banything else\b/i;
const farewell =
  /\b(?:good ?bye|bye|have a (?:nice|great|good|lovely) \w+|thank you for calling|thanks for calling)\b/i;
const handsOver = /\b(?:transfer(?:ring)? you|connect(?:ing)? you|put(?:ting)? you through)\b/i;
const dismissal =
  /\b(?:calm down|your fault|stop (?:shouting|yelling)|not my problem|nothing i can do|relax)\b/i;

const menuForms = [
  /\bpress\s+([0-9*#]|one|two|three|four|five|six|seven|eight|nine|zero|star|pound)\s+(?:for|to)\s+([^,.;?]+)/gi,
  /\b(?:for|to)\s+([^,.;?]{1,100}?),?\s+(?:please\s+)?press\s+([0-9*#]|one|two|three|four|five|six|seven|eight|nine|zero|star|pound)\b/gi,
] as const;
export function hear(lines: readonly string[]): Heard {
  const text = lines.join(' ').replaceAll(/\s+/g, ' ').trim();
  const sentences = text.split(/(?<=[.!?])\s+/).filter((sentence) => sentence !== '');
  const questions = sentences.filter((sentence) => asks.test(sentence));
  return {
    text,
    questions,
    menu: menuIn(text),
    opensFloor: floor.test(plainText(text)),
    yesOrNo: questions.some((question) => closed.test(question)),
    done: finished.test(plainText(text)),
    goodbye: farewell.test(text),
    transfers: handsOver.test(text),
    acknowledges: phraseIn(text, lexicon.acknowledgement) !== null,
    dismisses: dismissal.test(text),
  };
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
