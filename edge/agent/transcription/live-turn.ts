/** A stretch of the caller's speech whose words are wanted, and how long they are waited for. */
import type { TranscriptionLimits } from './live-deps.ts';
import { type HeardWords, longer, noWords } from './transcription.ts';

/** By positions in the ring. */
export interface Turn {
  readonly from: number;
  /** null: the caller is still speaking */
  to: number | null;
  /** Whether the connection of now knows its end. */
  endSent: boolean;
  readonly beganAt: number;
  endedAt: number;
  hadPartial: boolean;
  /** Whether a server was left because of it. */
  sentAgain: boolean;
  /** Most of its words that a connection before this one has told. */
  told: HeardWords;
}

/** @param now ms on the clock's elapsed time */
export function turnOf(from: number, to: number | null, now: number): Turn {
  const state = { endSent: false, hadPartial: false, sentAgain: false, told: noWords };
  return { from, to, beganAt: now, endedAt: now, ...state };
}

/** Another connection is to tell the words of the turns. @param soFar of the first one, as this connection has told it */
export function forAnother(turns: readonly Turn[], soFar: HeardWords): void {
  const [first] = turns;
  if (first) first.told = longer(first.told, soFar);
  for (const turn of turns) turn.endSent = false;
}

/**
 * The time up to which the words of a turn are waited for, ms on the clock's elapsed time.
 * @param connected the open connection; null: there is none
 * @param unsettledMs audio whose words are missing: after a reconnect, or for audio that came at once, the provider has
 *   more to do than it had live
 */
export function answerDue(
  { endedAt }: Turn,
  connected: { readonly finalWithinMs: number; readonly since: number } | null,
  unsettledMs: number,
  { giveUpMs }: Pick<TranscriptionLimits, 'giveUpMs'>,
): number {
  const within = connected?.finalWithinMs ?? giveUpMs;
  // One that was connected after the end has its time, too.
  const since = connected ? Math.max(endedAt, connected.since) : endedAt;
  return Math.min(since + within, endedAt + Math.max(within, giveUpMs)) + unsettledMs / 10;
}

/** Notices words that a provider tells once more: the same ones up to the same place. */
export class ToldWords {
  #told = { text: '', to: -1 };

  /** @param to position of their end */
  isRepeated(text: string, to: number): boolean {
    if (text === '') return false;
    const told = this.#told;
    this.#told = { text, to };
    return text === told.text && to === told.to;
  }
}
