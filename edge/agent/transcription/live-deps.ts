/** What a live transcription depends on, and its limits. */
import type { Clock } from '#shared/clock.ts';
import type { Log } from '../../call/log.ts';
import type { ProviderChoice } from './provider-choice.ts';

export interface TranscriptionLimits {
  /** time for a connection to open, ms */
  readonly openTimeoutMs: number;
  /** pause before the second attempt, ms; doubled for each further one */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** audio kept until its words are settled, seconds */
  readonly maxKeptSeconds: number;
  /** audio that a provider may leave unread, ms; more waits in the ring */
  readonly maxUnreadMs: number;
  /** pause until a provider that does not read is looked at again, ms */
  readonly pauseMs: number;
  /** audio before the voice was noticed that belongs to the turn, and the longest time until `begin` is called, ms */
  readonly leadMs: number;
  readonly lateMs: number;
  /** turns that wait for their words */
  readonly maxTurns: number;
  /** turns one after the other whose words a server owes */
  readonly mostLate: number;
  /** audio kept between turns for a provider that hears it, ms */
  readonly idleKeptMs: number;
  /** time for the words of a turn without a connection, ms */
  readonly giveUpMs: number;
}

export const transcriptionLimits: TranscriptionLimits = {
  openTimeoutMs: 3000,
  firstRetryMs: 250,
  longestRetryMs: 5000,
  // The longest utterance, and one that begins while it is transcribed.
  maxKeptSeconds: 40,
  maxUnreadMs: 2000,
  pauseMs: 20,
  // The detector of today reports speech 60 ms after its onset, and soft consonants precede that.
  leadMs: 300,
  // Detectors of voices are not waited for any longer (ears/echo-guard.ts).
  lateMs: 1000,
  maxTurns: 16,
  // One may be due to the network.
  mostLate: 2,
  // Silence is settled every few seconds.
  idleKeptMs: 10_000,
  giveUpMs: 8000,
};

/** Counts of all calls; times are in ms. */
export interface TranscriptionMeter {
  count(what: 'reconnects' | 'fallbacks' | 'returns' | 'failures' | 'lost_audio' | 'late_finals'): void;
  /** @param what from the beginning of a turn to its first words, or from its end to its last */
  took(what: 'first_partial' | 'final', ms: number): void;
}

export interface LiveDeps {
  readonly choice: ProviderChoice;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: TranscriptionMeter;
  readonly limits: TranscriptionLimits;
}

/** @param inARow failures, two or more */
export function retryMs({ firstRetryMs, longestRetryMs }: TranscriptionLimits, inARow: number): number {
  return Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(inARow - 2, 16));
}
