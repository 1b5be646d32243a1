import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** A hang shows after this; nothing is that slow on a machine with four times the load that it can carry. */
const usualLimitMs = 60_000;
/** Characters of what was seen last that go into the error. */
const shownCharacters = 2000;

const looking = new AsyncLocalStorage<{ seen: unknown }>();

/** What the question of an {@link eventually} under way got to see: its error tells the last one. */
export function saw<T>(seen: T): T {
  const look = looking.getStore();
  if (look) look.seen = seen;
  return seen;
}

/**
 * Asks until there is an answer: for state of another process, which can only be asked for.
 *
 * @param what completes the sentence "timed out waiting for ..."
 * @param ask returns null or undefined while there is no answer, and tells {@link saw} what there is instead
 * @throws Error with what was waited for and what was seen last
 */
export async function eventually<T>(
  what: string,
  ask: () => T | null | undefined | Promise<T | null | undefined>,
  limitMs = usualLimitMs,
): Promise<T> {
  const limit = performance.now() + limitMs;
  const look: { seen: unknown } = { seen: 'nothing' };
  for (;;) {
    const answer = await looking.run(look, ask);
    if (answer !== null && answer !== undefined) return answer;
    if (performance.now() > limit) {
      throw new Error(`timed out waiting for ${what} (${limitMs} ms); seen last: ${shown(look.seen)}`);
    }
    await pause(25);
  }
}

function shown(seen: unknown): string {
  const text = typeof seen === 'string' ? seen : inspect(seen, { depth: 6, breakLength: 120 });
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)} ...` : text;
}
