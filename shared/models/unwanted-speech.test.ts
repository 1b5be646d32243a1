/** Texts of the embedded voice that nobody waits for any more, because the callers have hung up. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Flite } from './flite.ts';
import { SpeechCache } from './speech-cache.ts';

const english = { voice: null, language: 'en-US', sampleRate: 8000 };

let failures: number;
let cache: SpeechCache;
beforeEach(() => {
  failures = 0;
  cache = new SpeechCache(new Flite({ maxWaiting: 3, failed: () => failures++ }), 1_000_000);
});
afterEach(() => cache.close());

/** The thread has got what is to be spoken first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function asked(text: string) {
  const caller = new AbortController();
  const length = cache
    .stream(text, english, caller.signal)
    .next()
    .then(({ value }) => value?.length ?? 0);
  // It may reject before it is awaited.
  length.catch(() => undefined);
  return { length, hangUp: () => caller.abort(new Error('hung up')) };
}

it('give their places to others, and are not counted as failures', async () => {
  await cache.synthesize('ready', english);
  const spoken = asked('one two three '.repeat(50));
  await turn();
  const gone = ['two', 'three', 'four'].map(asked);
  await turn();
  await expect(asked('five').length).rejects.toThrow('queue is full');
  const full = failures;
  for (const { hangUp } of gone) hangUp();
  for (const { length } of gone) await expect(length).rejects.toThrow('not wanted any more');
  const late = asked('six');
  expect(await spoken.length).toBeGreaterThan(0);
  expect(await late.length).toBeGreaterThan(0);
  expect([full, failures]).toEqual([1, 1]);
});

it('are spoken as long as one waits, and again for who asks later', async () => {
  const [first, second] = [asked('one'), asked('one')];
  first.hangUp();
  expect(await second.length).toBeGreaterThan(0);
  const alone = asked('two');
  alone.hangUp();
  const later = asked('two');
  expect(await later.length).toBeGreaterThan(0);
  await expect(alone.length).rejects.toThrow('not wanted any more');
});
