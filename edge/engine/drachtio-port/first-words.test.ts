import { expect, it } from 'vitest';
import { FirstWords } from './first-words.ts';

/** @param waits how many INVITEs of each source wait, after one of them has waited for `lastMs` */
function waiting(waits: Readonly<Record<string, number>>, lastMs: number): FirstWords {
  const words = new FirstWords();
  words.asked('earlier');
  for (const [source, count] of Object.entries(waits)) for (let i = 0; i < count; i++) words.asked(source);
  words.said('earlier', lastMs);
  return words;
}

it('refuses a source once the last INVITE has waited for more than a second and others of it wait', () => {
  expect(waiting({ a: 3 }, 1_000).tooMuchOf('a')).toBe(false);
  const words = waiting({ a: 3 }, 1_001);
  expect(words.tooMuchOf('a')).toBe(true);
  words.said('a', 900);
  expect(words.tooMuchOf('a')).toBe(false);
});

it('takes one more when none waits, so that an application that hung is tried again', () => {
  expect(waiting({}, 5_000).tooMuchOf('a')).toBe(false);
});

it('refuses those who have most of the calls that wait, and no others', () => {
  const words = waiting({ many: 90, few: 2, some: 60 }, 3_000);
  expect(['many', 'some', 'few', 'none'].filter((source) => words.tooMuchOf(source))).toEqual([
    'many',
    'some',
  ]);
});

it('forgets a source with its last INVITE', () => {
  const words = waiting({ a: 4, b: 1 }, 3_000);
  words.said('b', 3_000);
  expect(words.tooMuchOf('a')).toBe(true);
  for (let i = 0; i < 4; i++) words.said('a', 3_000);
  expect(words.tooMuchOf('a')).toBe(false);
});
