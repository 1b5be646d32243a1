import { expect, it } from 'vitest';
import { PendingLines } from './pending-lines.ts';

const at = '2030-01-01T00:00:00.000Z';
const line = (id: string, text: string, user: 'user' | 'assistant' | 'agent-action' = 'assistant') => ({
  id,
  at,
  user,
  text,
  node_id: null,
  node_name: null,
});
const texts = (lines: readonly { readonly text: string }[]) => lines.map(({ text }) => text);

it("a line of the agent waits for the caller's next one, with the words that were heard", () => {
  const lines = new PendingLines([], 3);
  lines.add(4, [line('a', 'Hello.'), line('b', 'How may I help you today?')], 0);
  expect([texts(lines.settle(0, false)), lines.copiedPart]).toEqual([[], 3]);
  lines.add(5, [line('b', 'How may I')], 0);
  lines.add(6, [line('c', 'Two lamps.', 'user'), line('d', 'Two lamps, fine.')], 0);
  expect(texts(lines.settle(0, false))).toEqual(['Hello.', 'How may I', 'Two lamps.']);
  expect([texts(lines.waiting), lines.copiedPart, lines.lastPart]).toEqual([['Two lamps, fine.'], 5, 6]);
});

it('a line is settled after 10 s, or by the end of the call', () => {
  const lines = new PendingLines([], 0);
  lines.add(1, [line('a', 'One.')], 0);
  lines.add(2, [line('b', 'Two.')], 5_000);
  expect(texts(lines.settle(9_999, false))).toEqual([]);
  expect(texts(lines.settle(10_000, false))).toEqual(['One.']);
  expect(texts(lines.settle(10_000, true))).toEqual(['Two.']);
  expect(lines.copiedPart).toBe(2);
});

it('a line that is in the thread is revised there, and what the agent did is left out', () => {
  const lines = new PendingLines(['a'], 1);
  expect(texts(lines.add(2, [line('a', 'He'), line('x', 'Key 1', 'agent-action')], 0))).toEqual(['He']);
  expect([lines.settle(0, true), lines.copiedPart]).toEqual([[], 2]);
});
