/**
 * When a failed registration is retried. Pure.
 *
 * The PBX cannot know the derived password before attach or update has returned it, so for some minutes after
 * that the retries are frequent. The others back off as in RFC 5626 section 4.5.
 */
import type { Failure } from './register-answer.ts';

export interface RetrySettings {
  /** RFC 5626 section 4.5: base and bound of the pauses after failures, ms. */
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** Pause after a rejection that needs manual action, ms. */
  readonly refusedPauseMs: number;
}

/** Attempts so far, including the current failure. */
export interface TriesSoFar {
  /** Consecutive failures. */
  readonly failures: number;
  /** Rejections among the failures since setup that need manual action, such as a wrong password. */
  readonly refusals: number;
  /** ms since the record was attached or changed; null: not since the edge started, or it has registered since. */
  readonly sinceSetUpMs: number | null;
}

/** How long retries are frequent, ms. */
const closeTriesMs = 300_000;
/** Increment of each pause between frequent retries, ms. */
const closeStepMs = 5_000;
const longestClosePauseMs = 30_000;
/**
 * Maximum number of rejected frequent retries. fail2ban with Debian's defaults bans an address after ten wrong
 * passwords in ten minutes, and at the usual pause one more follows within ten minutes: nine stay below that.
 */
const mostCloseRefusals = 8;

/** @returns ms until the next attempt @param random from 0 to 1 */
export function pauseAfter(
  { lasting, retryAfterS }: Pick<Failure, 'lasting' | 'retryAfterS'>,
  { failures, refusals, sinceSetUpMs }: TriesSoFar,
  { retryMs, retryMaxMs, refusedPauseMs }: RetrySettings,
  random: () => number,
): number {
  const jittered = (ms: number, low: number, high: number) =>
    Math.round(ms * (low + (high - low) * random()));
  // RFC 5626 section 4.5: a fraction of min(longest, base * 2^failures), 50 to 100 %.
  const backOffMs = jittered(Math.min(retryMaxMs, retryMs * 2 ** failures), 0.5, 1);
  const usualMs = lasting ? jittered(refusedPauseMs, 1, 1.1) : backOffMs;
  const closeMs = jittered(Math.min(longestClosePauseMs, closeStepMs * failures), 0.8, 1);
  const isClose =
    sinceSetUpMs !== null &&
    sinceSetUpMs + closeMs <= closeTriesMs &&
    !(lasting && refusals >= mostCloseRefusals);
  return Math.max(isClose ? Math.min(closeMs, usualMs) : usualMs, (retryAfterS ?? 0) * 1000);
}

/**
 * A drachtio-server asks for no `rport` over TLS: an OPTIONS does not show that its connection is a new one, over which
 * the registrar does not call. So the binding is renewed this often, ms.
 */
const unseenRenewalMs = 120_000;

/**
 * Whether the connection of a binding is checked by a REGISTER instead of an OPTIONS.
 * @param rport our port as the registrar sees it; null: it does not say, so only a new binding is certain
 */
export function isRenewalDue(rport: number | null, embedded: boolean, sinceBoundMs: number): boolean {
  return rport === null && (embedded || sinceBoundMs >= unseenRenewalMs);
}
