import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { collectGarbage, trimFreedPages } from './give-memory-back.ts';

/** An object that nothing holds when this has returned. */
const lost = () => new WeakRef({ text: 'x'.repeat(1000) });

test('what nothing holds is collected, and what something does is kept', async () => {
  const held = { text: 'held' };
  const references = [lost(), new WeakRef(held)];
  // A reference read in a turn is held until its end.
  await nextTurn();
  collectGarbage();
  expect(references.map((reference) => reference.deref())).toEqual([undefined, held]);
});

/** Fills 64 MiB in pieces that the allocator keeps together, and frees all but the last one. @returns that */
function fragmented(): Buffer {
  const pieces = Array.from({ length: 16_384 }, () => Buffer.alloc(4000, 1));
  return pieces.at(-1) ?? Buffer.alloc(0);
}

test('pages freed below a used one are given back', async () => {
  const last = fragmented();
  await nextTurn();
  collectGarbage();
  const before = process.memoryUsage.rss();
  trimFreedPages();
  expect(before - process.memoryUsage.rss()).toBeGreaterThan(32 * 1024 * 1024);
  expect(last[0]).toBe(1);
});
