import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

it('many pieces of one key leave the event loop to others, and cost another key the time of one', async () => {
  const turns = new Turns();
  const begun: string[] = [];
  let loops = 0;
  const seen: number[] = [];
  const piece = (name: string) =>
    turns.take(name, async () => {
      begun.push(name);
      seen.push(loops);
    });
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; loops++) await setImmediate();
  })();
  const many = Array.from({ length: 20 }, () => piece('a'));
  const one = piece('b');
  await Promise.all([...many, one]);
  isOver = true;
  await counting;
  expect(begun.indexOf('b')).toBeLessThanOrEqual(1);
  expect(begun).toHaveLength(21);
  // No two in the same turn of the loop.
  expect(new Set(seen).size).toBe(21);
});

it('a piece that fails ends nobody else’s turn', async () => {
  const turns = new Turns();
  const failed = turns.take('a', () => Promise.reject(new Error('no')));
  const next = turns.take('a', async () => 1);
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe(1);
});
