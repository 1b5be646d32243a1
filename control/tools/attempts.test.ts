import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type Attempt, withRetries } from './attempts.ts';

const failing: Attempt = { statusCode: 503, data: null, error: 'away', again: true };

function start(mostRetries: number, results: readonly Attempt[]) {
  const clock = new FakeClock();
  const began = clock.now();
  const at: number[] = [];
  const stop = new AbortController();
  const result = withRetries({ clock, mostRetries, cooldownMs: 3000, signal: stop.signal }, async () => {
    at.push(clock.now() - began);
    return results[at.length - 1] ?? failing;
  });
  /** Lets promises settle, then advances time. */
  const pass = async (ms: number) => {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, at, stop, result, pass };
}

it('waits for its cooldown between attempts, and ends with the last one', async () => {
  const { at, result, pass, clock } = start(2, []);
  await pass(2999);
  expect(at).toEqual([0]);
  await pass(1);
  await pass(3000);
  expect(await result).toEqual({ ...failing, attempts: 3 });
  expect(at).toEqual([0, 3000, 6000]);
  expect(clock.pending).toBe(0);
});

it('ends with the first result that another attempt would not improve', async () => {
  const good = { ...failing, error: null, again: false };
  expect(await start(4, [good]).result).toEqual({ ...good, attempts: 1 });
  const refused = { ...failing, again: false };
  expect(await start(4, [refused]).result).toEqual({ ...refused, attempts: 1 });
});

it('gives up at once when aborted', async () => {
  const { stop, result, pass, clock } = start(4, []);
  await pass(1);
  stop.abort(new Error('over'));
  await expect(result).rejects.toThrow('over');
  expect(clock.pending).toBe(0);
});
