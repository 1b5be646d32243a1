/** What an edge asks control about its outgoing calls, when answers are late, missing, or of a control plane that has gone. */
import { beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallCountFrame } from '#shared/edge-protocol/fleet.ts';
import { FleetCounts } from './fleet-counts.ts';

const scopes = [{ scope: 'organization o', concurrent: 1, per_minute: null }];
let clock: FakeClock;
let sent: CallCountFrame[];
let counts: FleetCounts;
let edges: number;
beforeEach(() => {
  clock = new FakeClock();
  sent = [];
  edges = 2;
  counts = new FleetCounts({
    clock,
    edges: () => edges,
    connected: () => true,
    send: (frame) => sent.push(frame),
    held: () => [],
  });
  counts.refresh();
});

const settled = () => new Promise(setImmediate);
/** Ids of the asks so far. */
const asked = () => sent.flatMap((frame) => (frame.type === 'call_ask' ? [frame.id] : []));
const answer = (id: string | undefined, answer: 'counted' | 'unknown') =>
  counts.answered({ type: 'call_answer', id: id ?? '', answer });

async function pass(ms: number): Promise<void> {
  await settled();
  for (let passed = 0; passed < ms; passed += 250) {
    clock.advance(250);
    await settled();
  }
}

it('asks again while control does not know, and gives up after 8 s', async () => {
  const verdict = counts.ask(scopes);
  for (let asks = 1; asks <= 32; asks++) {
    expect(asked()).toHaveLength(asks);
    answer(asked().at(-1), 'unknown');
    await pass(250);
  }
  answer(asked().at(-1), 'unknown');
  expect(await verdict).toMatchObject({ answer: 'unknown' });
});

it('frees a call that is counted after it no longer waited', async () => {
  const verdict = counts.ask(scopes);
  await pass(1_250);
  const [first, second] = asked();
  answer(second, 'counted');
  expect(await verdict).toMatchObject({ answer: 'counted' });
  answer(first, 'counted');
  answer(first, 'counted');
  const over = { type: 'call_over', scopes: ['organization o'], sent: false };
  expect(sent.filter(({ type }) => type === 'call_over')).toEqual([over]);
});

it('ignores the answer of the control plane that counted before, and asks the one that counts now', async () => {
  const verdict = counts.ask(scopes);
  const [before] = asked();
  counts.declareAgain();
  answer(before, 'counted');
  await pass(250);
  const [, now] = asked();
  expect(sent.map(({ type }) => type)).toEqual(['calls_held', 'call_ask', 'calls_held', 'call_ask']);
  answer(now, 'counted');
  expect(await verdict).toMatchObject({ answer: 'counted' });
});

it('goes on asking for a minute after the last other edge has gone, and declares again when one comes', async () => {
  edges = 1;
  counts.refresh();
  await pass(59_000);
  expect(counts.edges).toBe(2);
  const verdict = counts.ask(scopes);
  answer(asked().at(-1), 'counted');
  expect(await verdict).toMatchObject({ answer: 'counted' });
  await pass(1_000);
  expect(counts.edges).toBe(1);
  expect(await counts.ask(scopes)).toEqual({ answer: 'unknown' });
  sent = [];
  edges = 2;
  counts.refresh();
  expect(sent).toEqual([{ type: 'calls_held', held: [] }]);
});

it('does not declare again when another edge comes back within the minute', async () => {
  edges = 1;
  counts.refresh();
  await pass(30_000);
  edges = 2;
  counts.refresh();
  await pass(60_000);
  expect(counts.edges).toBe(2);
  expect(sent.map(({ type }) => type)).toEqual(['calls_held']);
});
