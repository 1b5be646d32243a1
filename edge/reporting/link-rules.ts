/** When the link reconnects. Pure. */

export interface RetryLimits {
  /**
   * Wait before a connection attempt, ms: the first, the maximum (it doubles), and the maximum while control rejects
   * us, which frequent retries cannot change. Each is shortened by up to half, so that edges do not reconnect together.
   */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  readonly maxRefusedMs: number;
}

/** Whether control itself rejected us; 502, 503 and 504 come from a proxy while control is away. */
export function isRefusal(why: string | undefined): boolean {
  return why !== undefined && /^Unexpected server response: 4/.test(why);
}

/**
 * ms until the next attempt.
 * @param failures failed attempts in a row; 0: an established connection was lost
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
