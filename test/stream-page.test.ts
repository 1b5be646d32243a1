/** docs/stream.md and contract 9.5: the messages of a server that they show are ones that the edge reads, with its errors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOrder } from '../edge/agent/stream-orders.ts';

const root = join(import.meta.dirname, '..');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
const page = read('docs', 'stream.md');
const contract = read('docs', 'contract', '09-calls.md');

const stream = '5f…';
/** Sound that the page leaves out. */
const withSound = (message: string) => message.replaceAll('"payload":"…"', '"payload":"f39/fw=="');

/** What a server sends: a line after `server`, without a program before it, or in the text. */
const fromServer = [
  ...page.matchAll(/^ {4}(?:server +)?(\{"event":.*?\})(?: {2,}.*)?$/gm),
  ...page.matchAll(/`(\{"event":.*?\})`/g),
]
  .map(([, message = '']) => withSound(message))
  .filter((message) => !message.startsWith('{"event":"error"'));

test('every message that a server sends there is read as an order', () => {
  expect(fromServer.length).toBeGreaterThan(10);
  const others = fromServer.map((message) => [
    message,
    readOrder(message.replaceAll(/"reason":"…"/g, '"reason":"x"'), stream),
  ]);
  expect(
    others.filter(([, order]) => !(order !== null && typeof order === 'object' && 'order' in order)),
  ).toEqual([]);
});

/** The events of a table of 9.5. */
function eventsOf(heading: string): string[] {
  const [, table = ''] = contract.split(`\n${heading}`);
  const [rows = ''] = table.split('\n\n', 3).filter((part) => part.startsWith('| Event'));
  return [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, event = '']) => event);
}

test('the contract lists the events that the edge reads, and the page shows each', () => {
  const listed = eventsOf('From the server.');
  expect(listed.length).toBeGreaterThan(7);
  expect(listed.filter((event) => readOrder(JSON.stringify({ event }), stream) === null)).toEqual([]);
  const code = read('edge', 'agent', 'stream-orders.ts');
  const [, readers = ''] = code.split('const readers');
  const known = [...(readers.split('\n};')[0] ?? '').matchAll(/^ {2}(\w+): \(/gm)].map(([, event]) => event);
  expect(listed.sort()).toEqual(known.sort());
  expect(
    listed.filter((event) => !fromServer.some((message) => message.includes(`"event":"${event}"`))),
  ).toEqual([]);
});

test('the contract lists the events that the edge sends', () => {
  const code = read('edge', 'agent', 'stream-agent.ts');
  const sent = [
    ...code.matchAll(/#send(?:Numbered)?\(\{\s+event: '(\w+)'/g),
    ...code.matchAll(/#send(?:Numbered)?\(\{ event: '(\w+)'/g),
  ].map(([, event]) => event);
  // Written without an object, 50 times a second.
  expect(eventsOf('From the edge:').sort()).toEqual([...new Set([...sent, 'media'])].sort());
});

test('the page has every code of an error, and no other', () => {
  const [, union = ''] =
    /export type StreamErrorCode =([^;]*);/.exec(read('edge', 'agent', 'stream-orders.ts')) ?? [];
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code);
  const [, errors = ''] = page.split('## Errors');
  const shown = [...(errors.split('\n\nUnknown events')[0] ?? '').matchAll(/^\| `(\w+)`/gm)].map(
    ([, code]) => code,
  );
  expect(shown.filter((code) => code !== 'code').sort()).toEqual(codes.sort());
});
