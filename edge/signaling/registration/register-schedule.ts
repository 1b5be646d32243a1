/**
 * When a registration that failed is tried again. Pure.
 *
 * The PBX cannot know the derived password before attach or update has answered with it, so the tries after that follow
 * each other closely for some minutes. RFC 5626 section 4.5 says how the others back off.
 */
import type { Failure } from './register-answer.ts';

export interface RetrySettings {
  /** RFC 5626 section 4.5: base and bound of the pauses after failures, ms. */
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** Pause after a refusal that only a person can end, ms. */
  readonly refusedPauseMs: number;
}

/** What was tried before, the failure that is judged included. */
export interface TriesSoFar {
  /** Failures in a row. */
  readonly failures: number;
  /** Of the failures since the set-up: refusals that only a person can end, such as that of a password. */
  readonly refusals: number;
  /** ms since the record was attached or changed; null: not since the edge was started, or it has been registered. */
  readonly sinceSetUpMs: number | null;
}

/** How long the tries follow each other closely, ms. */
const closeTriesMs = 300_000;
/** Each pause between them is longer than the one before by this, ms. */
const closeStepMs = 5_000;
const longestClosePauseMs = 30_000;
/**
 * Refused tries of these. fail2ban as Debian ships it bans an address after ten wrong passwords in ten minutes, and
 * one more follows within ten minutes at the usual pause: nine stay below that.
 */
const mostCloseRefusals = 8;

/** @returns ms until the next try @param random from 0 to 1 */
export function pauseAfter(
  { lasting, retryAfterS }: Pick<Failure, 'lasting' | 'retryAfterS'>,
  { failures, refusals, sinceSetUpMs }: TriesSoFar,
  { retryMs, retryMaxMs, refusedPauseMs }: RetrySettings,
  random: () => number,
): number {
  const jittered = (ms: number, low: number, high: number) =>
    Math.round(ms * (low + (high - low) * random()));
  // RFC 5626 section 4.5: a part of min(longest, base * 2^failures), 50 to 100 %.
  const backOffMs = jittered(Math.min(retryMaxMs, retryMs * 2 ** failures), 0.5, 1);
  const usualMs = lasting ? jittered(refusedPauseMs, 1, 1.1) : backOffMs;
  const closeMs = jittered(Math.min(longestClosePauseMs, closeStepMs * failures), 0.8, 1);
  const isClose =
    sinceSetUpMs !== null &&
    sinceSetUpMs + closeMs <= closeTriesMs &&
    !(lasting && refusals >= mostCloseRefusals);
  return Math.max(isClose ? Math.min(closeMs, usualMs) : usualMs, (retryAfterS ?? 0) * 1000);
}
