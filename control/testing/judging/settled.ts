/** Whether a conversation came to what it was for, as far as rules can tell. English. Pure. */
import { plainText } from './lexicon.ts';

const doneWords =
  /\b(?:is|are|was|were|been|you're|all|i've|i have|it's|we've|we have)\s+(?:now\s+|all\s+)?(?:booked|scheduled|confirmed|all set|set up|done|complete|completed|cancelled|canceled|placed|updated|resolved|refunded|taken care of|reserved|registered|noted)\b|\b(?:put|got) you down for\b/i;
const more =
  /\b(?:any(?:thing)? else|something else (?:i|we) can|what else can (?:i|we)|was there something else|any (?:other|further|more) questions)\b|\b(?:that|this) (?:be )?(?:all|everything)\s*\?/i;

/** The caller has what it came for, or is asked whether there is more. */
export function soundsDone(text: string): boolean {
  const plain = plainText(text);
  return doneWords.test(plain) || more.test(plain);
}

/** As `soundsDone`, but "Is it booked?" and "Once it is booked" say of nothing that it is done. */
export function saysDone(text: string): boolean {
  return sentences(text).some((sentence) => more.test(plainText(sentence)) || told(sentence, doneWords));
}

const open = /\b(?:if|once|when|until|before|unless|whether|let me know|would you like|not|cannot)\b|n't\b/i;

function told(sentence: string, words: RegExp): boolean {
  const plain = plainText(sentence);
  return words.test(plain) && !plain.trimEnd().endsWith('?') && !open.test(plain);
}

/** What is stated: no questions. */
export function statements(text: string): string[] {
  return sentences(text).filter((sentence) => !/\?["”]?$/.test(sentence));
}

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+/).filter((sentence) => sentence !== '');
}

/** Where a value is missing: "So  on , is that right?", "Hello {{name}}". */
export const gap = /\{\{|\}\}|[\p{L},]\s{2,}\p{L}|\p{L}\s+,|\b(?:undefined|NaN)\b|\[object /u;

/** Why callers without a model leave an agent that gets them nowhere. */
export const givesUp = {
  patience: 'The caller lost patience.',
  anger: 'The caller hung up in anger.',
  evaded: 'The gatekeeper ended the call.',
  nothingAgreed: 'The gatekeeper ended the call without a next step.',
} as const;
