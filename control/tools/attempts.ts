/** Retries of a tool (contract 8.1 `max_retries`, `cooldown`). */
import type { Clock } from '#shared/clock.ts';

/** The result of one attempt. */
export interface Attempt {
  /** HTTP status; null without a response, or when the integration has none. */
  readonly statusCode: number | null;
  readonly data: unknown;
  /** One sentence without secrets; null when it succeeded. */
  readonly error: string | null;
  /** Whether a retry may succeed: network error, timeout, 429, 5xx. */
  readonly again: boolean;
}

export interface Retries {
  readonly clock: Clock;
  readonly mostRetries: number;
  /** Between two attempts, ms. */
  readonly cooldownMs: number;
  readonly signal: AbortSignal;
}

/** Repeats `attempt` while that may help. Resolves with the last one; rejects when `signal` is aborted. */
export async function withRetries(
  { clock, mostRetries, cooldownMs, signal }: Retries,
  attempt: () => Promise<Attempt>,
): Promise<Attempt & { readonly attempts: number }> {
  for (let attempts = 1; ; attempts++) {
    const result = await attempt();
    signal.throwIfAborted();
    if (!result.again || attempts > mostRetries) return { ...result, attempts };
    await pause(clock, cooldownMs, signal);
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = () => {
      timer.cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
