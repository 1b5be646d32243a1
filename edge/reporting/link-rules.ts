/** When the link tries again: pure. */

export interface RetryLimits {
  /**
   * Wait before a new connection attempt, ms: first, at most (it doubles), and at most while control answers and
   * refuses us, which no haste alters. Each is shortened by up to half, so that edges do not come all at once.
   */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  readonly maxRefusedMs: number;
}

/** Whether control answered and refused us; a proxy's 502, 503 and 504 say that control is away. */
export function isRefusal(why: string | undefined): boolean {
  return why !== undefined && /^Unexpected server response: 4/.test(why);
}

/**
 * ms until the next attempt.
 * @param failures attempts in a row that did not connect, from 0: a connection that stood was lost
 * @param random 0..1
 */
export function retryPause(
  limits: RetryLimits,
  failures: number,
  isRefused: boolean,
  random: number,
): number {
  const { retryMs, maxRetryMs, maxRefusedMs } = limits;
  const most = isRefused ? maxRefusedMs : maxRetryMs;
  const doubled = retryMs * 2 ** Math.min(failures, 30);
  return Math.round(Math.min(doubled, most) * (1 - random / 2));
}
