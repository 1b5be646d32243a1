/** One HTTPS POST to an address that was judged (contract 1.9 and 13). */
import { type OutgoingParts, sendOutgoing } from '#outgoing/request.ts';
import type { AttemptResult } from './rules.ts';

export interface PostParts extends OutgoingParts {
  /** Longest time from the look-up to the head of the answer, ms. */
  readonly timeoutMs: number;
}

/** Resolves with the status of the answer, whatever it is, or with why there was none. Follows no redirect. */
export async function post(
  parts: PostParts,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<AttemptResult> {
  try {
    const target = new URL(url);
    if (target.protocol !== 'https:') return { error: `${target.protocol} is not supported` };
    // What the answer says is of no use, however long it is.
    const order = { method: 'POST', url: target, headers, body, timeoutMs: parts.timeoutMs, mostBytes: 0 };
    return { status: (await sendOutgoing(parts, { ...order, signal })).status };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
