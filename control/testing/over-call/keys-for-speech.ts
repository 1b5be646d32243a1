/** Keys in place of words: an agent without a transcription server understands nothing else. Pure. */
import { digitWords } from '#shared/digit-words.ts';
import type { CallerMove } from '../callers/ports.ts';

/** The agent asks for something that has digits. */
const asksForDigits =
  /\b(?:numbers?|codes?|pin|digits?|enter|press|keys?|keypad|type|account|id|zip|postcode|how many|amount|year)\b/i;
/** As many as one entry has (shared/agent/keys.ts). */
const entryDigits = 32;

/**
 * The move of a caller whom the agent cannot hear: the digits of its words, when the agent asks for some and the words
 * have one number; else unchanged.
 * @param heard what the agent said since the caller's last move
 */
export function pressed(move: CallerMove, heard: readonly string[]): CallerMove {
  if (move.type !== 'say' || !asksForDigits.test(heard.join(' '))) return move;
  const keys = onlyNumber(move.text);
  if (keys === null) return move;
  return { type: 'keys', keys, ...(move.leaves !== undefined && { leaves: move.leaves }) };
}

const spelled = new RegExp(`\\b(?:${Object.keys(digitWords).join('|')})\\b`, 'gi');

function onlyNumber(text: string): string | null {
  const digits = text.replaceAll(spelled, (word) => digitWords[word.toLowerCase()] ?? word);
  const found = digits.match(/(?<![\w.,/:-])\+?\d(?:[\d ().-]*\d)?(?![\w/:%]|\.\d)/g) ?? [];
  const keys = (found[0] ?? '').replaceAll(/\D/g, '');
  return found.length === 1 && keys !== '' && keys.length <= entryDigits ? keys : null;
}
