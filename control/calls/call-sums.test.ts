/** The sums of calls are what counting the stored calls gives, whatever is reported and in which order. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import type { Database } from '../db/open.ts';
import { createReportStore } from '../report-writers.ts';
import { allTrunks, deleteSumsBefore } from './call-sums.ts';
import { countEarlierCalls, uncountedSince } from './earlier-calls.ts';
import { failQueuedCall } from './lost-store.ts';

let database: Database;
let clock: FakeClock;
let seq = 0;
beforeEach(async () => {
  database = await openTestDatabase();
  clock = new FakeClock();
  seq = 0;
});
afterEach(() => database.close());

const now = () => new Date(clock.now()).toISOString();
const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

async function report(...calls: Partial<CallRecord>[]): Promise<void> {
  const frame = calls.map((call) => ({
    seq: ++seq,
    at: now(),
    body: { type: 'call', call: callRecord('org', call) },
  }));
  await createReportStore(database, clock).store({ edgeId: 'e', outboxId: 'o' }, frame);
}

async function sums(): Promise<string[]> {
  const rows = await database.db.selectFrom('call_sums').selectAll().where('calls', '!=', 0).execute();
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** As a database of the version before. */
async function forgetSums(beginsAt = now()): Promise<void> {
  await database.db.deleteFrom('call_sums').execute();
  await database.db
    .insertInto('uncounted_calls')
    .values({ id: 1, before_id: 'g', begins_at: beginsAt })
    .execute();
}

async function countAll(): Promise<void> {
  while ((await countEarlierCalls(database.db, now(), 2)) !== null);
}

/** Some answered, some not, with and without a MOS and a trunk, in two hours. */
const some = (n: number): Partial<CallRecord> => ({
  id: id(n),
  started_at: `2030-01-01T0${n % 2}:00:00.000Z`,
  answered_at: n % 3 === 0 ? null : `2030-01-01T0${n % 2}:00:02.000Z`,
  ended_at: `2030-01-01T0${n % 2}:00:${40 + n}.250Z`,
  trunk_id: n % 4 === 0 ? null : `trunk ${n % 4}`,
  direction: n % 4 === 1 ? 'outbound' : 'inbound',
  media: n % 3 === 0 ? null : { ...media, mos: 3 + n / 10 },
});
const media = {
  packets_sent: 1,
  packets_received: 1,
  packets_lost: 0,
  jitter_ms: 1,
  round_trip_ms: 1,
  verdict: 'two_way' as const,
  cause: null,
};

it('are exact after late, updated and repeated records', async () => {
  await report({ ...some(1), ended_at: null }, some(2), some(3));
  await report(some(1), some(4), { ...some(2), media: null });
  await report(some(2), some(2), { ...some(3), ended_at: null });
  await report(some(3));
  await database.db.updateTable('calls').set({ ended_at: null, sip_call_id: '' }).execute();
  await forgetSums();
  await countAll();
  expect(await sums()).toEqual([]);
  await failQueuedCall(database.db, id(4), now(), 'no edge');
  await report(some(1), some(2), some(3));
  const kept = await sums();
  expect(kept.length).toBeGreaterThan(4);
  await forgetSums();
  await countAll();
  expect(await sums()).toEqual(kept);
});

it('have each earlier call once, although calls are reported while these are counted', async () => {
  for (const n of [1, 2, 3, 4, 5, 6]) await report(some(n));
  await forgetSums();
  expect(await sums()).toEqual([]);
  await report(some(9), { ...some(1), ended_at: null }, some(6));
  expect(await sums()).toEqual([]);
  expect(await countEarlierCalls(database.db, now(), 3)).toBe(3);
  // Above what was counted, in it, and below it.
  await report(some(8), { ...some(9), media: null }, { ...some(2), answered_at: null }, some(1));
  await countAll();
  expect(await uncountedSince(database.db)).toBeNull();
  const kept = await sums();
  await forgetSums();
  await countAll();
  expect(await sums()).toEqual(kept);
  expect(kept.length).toBeGreaterThan(8);
});

it('wait until the release before has ended', async () => {
  await report(some(1));
  await forgetSums(new Date(clock.now() + 1000).toISOString());
  expect(await countEarlierCalls(database.db, now())).toBeNull();
  expect(await uncountedSince(database.db)).not.toBeNull();
  clock.advance(1000);
  expect(await countEarlierCalls(database.db, now())).toBe(1);
});

it('are deleted when their hour or day is over for as long as calls are kept', async () => {
  await report(some(1), some(2));
  const periods = async () => {
    const rows = await database.db
      .selectFrom('call_sums')
      .select('period')
      .where('trunk_id', '=', allTrunks)
      .orderBy('period')
      .execute();
    return rows.map(({ period }) => period);
  };
  await deleteSumsBefore(database.db, '2030-01-01T01:30:00.000Z');
  expect(await periods()).toEqual(['2030-01-01', '2030-01-01', '2030-01-01T01']);
  await deleteSumsBefore(database.db, '2030-01-02T00:00:00.000Z');
  expect(await periods()).toEqual([]);
});
