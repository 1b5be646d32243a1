import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Time-out for a hang; nothing takes that long on a machine with four times the load that it can carry. */
const usualLimitMs = 60_000;
/** Characters of the last value in the error message. */
const shownCharacters = 2000;

/**
 * Pause between two looks, ms: a look takes CPU from the programs, so it grows with the time that it has taken, by which
 * a test becomes longer by a twentieth at most.
 */
const shortestPauseMs = 25;
const longestPauseMs = 100;
const pauseAfter = (waitedMs: number) => Math.min(longestPauseMs, Math.max(shortestPauseMs, waitedMs / 20));

const looking = new AsyncLocalStorage<{ seen: unknown }>();

/** Tell what happened meanwhile, for the error message. */
const witnesses = new Set<() => string>();

/** Has the errors of {@link eventually} contain what a program says of itself. Returns a function that ends it. */
export function witness(tell: () => string): () => void {
  witnesses.add(tell);
  return () => witnesses.delete(tell);
}

/** Records a value that {@link eventually} checked: its error contains the last one. */
export function saw<T>(seen: T): T {
  const look = looking.getStore();
  if (look) look.seen = seen;
  return seen;
}

/**
 * Polls until there is a result: for state of another process, which can only be polled.
 *
 * @param what completes the sentence "timed out waiting for ..."
 * @param ask returns null or undefined while there is no result, and passes the current value to {@link saw}
 * @throws Error with `what`, the last value, and what the programs that run have said last
 */
export async function eventually<T>(
  what: string,
  ask: () => T | null | undefined | Promise<T | null | undefined>,
  limitMs = usualLimitMs,
): Promise<T> {
  const began = performance.now();
  const look: { seen: unknown } = { seen: 'nothing' };
  for (;;) {
    const answer = await looking.run(look, ask);
    if (answer !== null && answer !== undefined) return answer;
    const waitedMs = performance.now() - began;
    if (waitedMs > limitMs) {
      const told = [...witnesses].map((tell) => `\n${tell()}`);
      throw new Error(
        `timed out waiting for ${what} (${limitMs} ms); seen last: ${shown(look.seen)}${told.join('')}`,
      );
    }
    await pause(pauseAfter(waitedMs));
  }
}

function shown(seen: unknown): string {
  const text = typeof seen === 'string' ? seen : inspect(seen, { depth: 6, breakLength: 120 });
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)} ...` : text;
}
