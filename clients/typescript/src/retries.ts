/** Whether a request is sent again, and when: pure. */
import { unkeyed } from './generated-lists.ts';

export interface Attempt {
  /** `POST /v1/calls` */
  readonly name: string;
  /** How often it was sent, from 1. */
  readonly sent: number;
  readonly maxRetries: number;
  /** HTTP status; null: no answer came. */
  readonly status: number | null;
  readonly retryAfterS: number | null;
}

/** A wait beyond this is left to the caller, seconds. */
const longestWaitS = 60;
const firstPauseMs = 500;
const longestPauseMs = 8000;

/** Statuses after which it may be unknown whether the request was carried out. */
const passing = [502, 503, 504];

/**
 * How long to wait before sending it again, ms; null: not again.
 * @param random 0..1, so that many clients do not come back at once
 */
export function pauseBefore(attempt: Attempt, random: number): number | null {
  const { name, sent, maxRetries, status, retryAfterS } = attempt;
  if (sent > maxRetries) return null;
  // A request that was refused at a limit was not carried out. Otherwise only one that may be repeated is.
  const again = status === 429 || (isRepeatable(name) && (status === null || passing.includes(status)));
  if (!again) return null;
  if (retryAfterS !== null) return retryAfterS > longestWaitS ? null : retryAfterS * 1000;
  const most = Math.min(longestPauseMs, firstPauseMs * 2 ** (sent - 1));
  return Math.round((most / 2) * (1 + random));
}

/** Whether sending it twice does what sending it once does: reads, replacements, and POSTs with an Idempotency-Key. */
function isRepeatable(name: string): boolean {
  const [method = ''] = name.split(' ');
  return method === 'GET' || method === 'PUT' || takesKey(name);
}

export function takesKey(name: string): boolean {
  return name.startsWith('POST ') && !unkeyed.includes(name);
}
