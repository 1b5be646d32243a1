import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks until there is an answer: for state of another process, which can only be asked for.
 *
 * @param what completes the sentence "waited in vain for ..."
 * @param ask returns null or undefined while there is no answer
 */
export async function eventually<T>(
  what: string,
  ask: () => T | null | undefined | Promise<T | null | undefined>,
  limitMs = 10_000,
): Promise<T> {
  const limit = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined) return answer;
    if (performance.now() > limit) throw new Error(`waited in vain for ${what} (${limitMs} ms)`);
    await pause(25);
  }
}
