import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { collectGarbage, giveMemoryBack } from './give-memory-back.ts';

/** An object that nothing holds when this has returned. */
const lost = () => new WeakRef({ text: 'x'.repeat(1000) });

test.each([
  ['collectGarbage', collectGarbage],
  ['giveMemoryBack', giveMemoryBack],
])('%s frees what nothing holds, and keeps what something does', async (_name, act) => {
  const held = { text: 'held' };
  const references = [lost(), new WeakRef(held)];
  // A reference read in a turn is held until its end.
  await nextTurn();
  act();
  expect(references.map((reference) => reference.deref())).toEqual([undefined, held]);
});
