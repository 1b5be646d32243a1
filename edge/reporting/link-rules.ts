/** When the link reconnects, how much it sends at a time, and what it says about failed commands. Pure. */
import { apiErrors } from '#shared/errors.ts';
import type { StoredReport } from './stored-reports.ts';

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

/** The error code, if it describes a fault of the command; control does not need other codes, such as system errors. */
export function codeOf(error: unknown): { code?: string } {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return {};
  return Object.hasOwn(apiErrors, error.code) ? { code: error.code } : {};
}

/** The first of `reports`, and those after it whose bodies together have at most `bytes` octets. */
export function firstFitting(reports: readonly StoredReport[], bytes: number): readonly StoredReport[] {
  let sum = 0;
  const end = reports.findIndex(({ body }, index) => {
    sum += body.length;
    return index > 0 && sum > bytes;
  });
  return end === -1 ? reports : reports.slice(0, end);
}
