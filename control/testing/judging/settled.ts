/** Whether a conversation came to what it was for, as far as rules can tell. English. Pure. */
import type { Affirmation } from './affirmed.ts';
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

/**
 * As `soundsDone`, but "Is it booked?", "Once it is booked" and "All slots are booked" say of nothing that it is done, and
 * "Tuesday is booked" may say either.
 */
export function saysDone(text: string): Affirmation {
  const found = sentences(text).map((sentence) =>
    more.test(plainText(sentence)) ? 'said' : told(plainText(sentence).trim()),
  );
  if (found.includes('said')) return 'said';
  return found.includes('doubtful') ? 'doubtful' : 'none';
}

const open = /\b(?:if|once|when|until|before|unless|whether|let me know|would you like|not|cannot)\b|n't\b/;
/** Nothing was done for the caller. */
const refusal =
  /\b(?:unfortunately|afraid)\b|\b(?:all|every|most|both|other|our) (?:of )?(?:the |our )?(?:\w+ )?(?:slots?|times?|days?|dates?|tables?|rooms?|seats?|appointments?|places?)\b|\b(?:we|he|she|they|the (?:doctor|dentist|hall|house|show))(?:'re|'s| are| is) (?:all |now )?(?:booked|reserved)\b|\bdone for\b|\b(?:booked|reserved) (?:up|out|solid|by (?!us\b|me\b))/;
const nobody = /\b(?:nothing|none|nobody|no one|no|never)\b/;
const time =
  '(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today|noon|morning|afternoon|evening|weekend|week|slot|time|day|date|everything|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\d+(?::\\d\\d)?)';
/** A time alone is booked for the caller, or taken by others. */
const timeAlone = new RegExp(
  `^(?:(?:well|ok|okay|yes|so|then),? )*(?:(?:the|this|that|next|on|at) )*${time}(?: (?:at|on|the|in|o'clock|am|pm|${time}))*$`,
);
/** "Booked, goodbye." */
const doneAtOnce =
  /^(?:(?:ok|okay|right|great|good|perfect|lovely|thanks|thank you|yes|and|all),? )*(?:booked|scheduled|reserved|confirmed|done|all set|cancelled|canceled|refunded)(?:$|[,.!]| (?:for|on|at|and)\b(?! whom))/;

function told(plain: string): Affirmation {
  if (plain.endsWith('?') || open.test(plain) || refusal.test(plain)) return 'none';
  if (doneAtOnce.test(plain)) return 'said';
  const match = doneWords.exec(plain);
  if (!match) return 'none';
  const subject =
    plain
      .slice(0, match.index)
      .split(/[,;:]|\b(?:and|but|so)\b/)
      .at(-1) ?? '';
  if (nobody.test(subject)) return 'none';
  return timeAlone.test(subject.trim()) && /(?:booked|reserved)$/.test(match[0]) ? 'doubtful' : 'said';
}

/** An agent that says it and asks whether that is fine. */
const tag = /,? (?:okay|ok|all right|alright)\?["”]?$/i;

/** What is stated: no questions. */
export function statements(text: string): string[] {
  return sentences(text).filter((sentence) => tag.test(sentence) || !/\?["”]?$/.test(sentence));
}

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+/).filter((sentence) => sentence !== '');
}

/** Where a value is missing: "So  on , is that right?", "Your number is .", "$ a month", "Hello {{name}}", "Hello null". */
export const gap =
  /\{\{|\}\}|[\p{L},]\s{2,}\p{L}|\p{L}\s+,|\p{L}\s+\.(?:\s|$)|(?<!\d\s?)[$€£]\s+\p{L}|(?<!\ban )\bundefined\b|\bnull\b(?! and void)|(?<=[\p{Ll},] )None(?=[,.?!]|$)|\bNaN\b|\[object /u;

/** Why callers without a model leave an agent that gets them nowhere. */
export const givesUp = {
  patience: 'The caller lost patience.',
  anger: 'The caller hung up in anger.',
  evaded: 'The gatekeeper ended the call.',
  nothingAgreed: 'The gatekeeper ended the call without a next step.',
} as const;
