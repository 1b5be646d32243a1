/** One HTTPS POST to a checked address (contract 1.9 and 13). */
import { type OutgoingParts, sendOutgoing } from '#outgoing/request.ts';
import type { AttemptResult } from './rules.ts';

export interface PostParts extends OutgoingParts {
  /** Timeout from the look-up to the response headers, ms. */
  readonly timeoutMs: number;
}

/** Resolves with the status of the response, or with why there was none. Does not follow redirects. */
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
    // The response body is not used, whatever its length.
    const order = { method: 'POST', url: target, headers, body, timeoutMs: parts.timeoutMs, mostBytes: 0 };
    return { status: (await sendOutgoing(parts, { ...order, signal })).status };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
