/** Aggregates of calls over the HTTP API, compared with counting the calls themselves. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type CallAggregate, CallAggregates } from '#shared/api/call-aggregates.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { type SharedControl, shareRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { createReportStore } from '../report-writers.ts';
import { readAggregates } from './aggregates-store.ts';

let shared: SharedControl;
let test: TestControl;
let calls: CallRecord[];
beforeAll(async () => {
  shared = await shareRoutes({ RATE_LIMIT_PER_MINUTE: '10000' });
});
let outbox = 0;
beforeEach(async () => {
  test = await shared.next();
  calls = Array.from({ length: 60 }, (_, n) => recordOf(n));
  const at = new Date(test.clock.now()).toISOString();
  const frame = calls.map((call, n) => ({ seq: n + 1, at, body: { type: 'call' as const, call } }));
  await createReportStore(test.control.services.database, test.clock).store(
    { edgeId: 'e', outboxId: `o${++outbox}` },
    frame,
  );
});
afterAll(() => shared.close());

/** Over 3 hours of two days and 2 trunks; by numbers without a common factor, so that all combinations are there. */
function recordOf(n: number): CallRecord {
  const record = callRecord(test.orgId);
  const hour = ['2030-01-01T22', '2030-01-01T23', '2030-01-02T00'][n % 3];
  const isAnswered = n % 5 !== 0;
  return {
    ...record,
    id: `${String(outbox).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`,
    trunk_id: [null, 'a', 'b'][(n >> 2) % 3] ?? null,
    direction: n % 7 < 3 ? 'inbound' : 'outbound',
    started_at: `${hour}:10:00.000Z`,
    answered_at: isAnswered ? `${hour}:10:02.000Z` : null,
    ended_at: n === 59 ? null : `${hour}:10:${10 + (n % 50)}.000Z`,
    media:
      record.media && isAnswered ? { ...record.media, mos: n % 11 === 0 ? null : 3 + (n % 13) / 10 } : null,
  };
}

/** By nearest rank, as a person would. */
function counted(some: readonly CallRecord[]) {
  const ended = some.filter(({ ended_at }) => ended_at !== null);
  const answered = ended.filter(({ answered_at }) => answered_at !== null);
  const seconds = answered.reduce(
    (sum, call) => sum + (Date.parse(call.ended_at ?? '') - Date.parse(call.answered_at ?? '')) / 1000,
    0,
  );
  const mos = ended.flatMap(({ media }) => media?.mos ?? []).sort((a, b) => a - b);
  const at = (percent: number) => mos[Math.ceil((mos.length * percent) / 100) - 1];
  return {
    calls: ended.length,
    answered: answered.length,
    asr_percent: Math.round((answered.length / ended.length) * 10_000) / 100,
    talk_seconds: seconds,
    acd_seconds: Math.round((seconds / answered.length) * 1000) / 1000,
    measured: mos.length,
    mos: { p1: at(1), p5: at(5), p25: at(25), p50: at(50), p75: at(75), p95: at(95) },
  };
}

const path = '/v1/sip/calls/aggregates';
async function read(query = '', key?: string) {
  const answer = await test.call('GET', `${path}${query}`, key === undefined ? {} : { key });
  return answer.read(CallAggregates).data;
}
const list = async (query = ''): Promise<readonly CallAggregate[]> => (await read(query)).aggregates;

it('has exact figures for each hour and trunk', async () => {
  const found = await list();
  expect(found.map(({ period, trunk_id }) => [period, trunk_id])).toEqual(
    ['2030-01-01T22', '2030-01-01T23', '2030-01-02T00'].flatMap((hour) =>
      [null, 'a', 'b'].map((trunk) => [`${hour}:00:00.000Z`, trunk]),
    ),
  );
  for (const { period, trunk_id, ...figures } of found)
    expect(figures).toEqual(
      counted(
        calls.filter((call) => call.started_at.startsWith(period.slice(0, 13)) && call.trunk_id === trunk_id),
      ),
    );
});

it('has a day, all trunks together, one trunk, one direction', async () => {
  const [first, second, ...more] = await list('?by=day&per=all');
  expect(more).toEqual([]);
  const day = (one: string) => calls.filter(({ started_at }) => started_at.startsWith(one));
  expect(first).toEqual({
    period: '2030-01-01T00:00:00.000Z',
    trunk_id: null,
    ...counted(day('2030-01-01')),
  });
  expect(second).toEqual({
    period: '2030-01-02T00:00:00.000Z',
    trunk_id: null,
    ...counted(day('2030-01-02')),
  });
  const [one] = await list('?by=day&trunk_id=a&direction=outbound&to_date=2030-01-01');
  expect(one).toMatchObject(
    counted(day('2030-01-01').filter((call) => call.trunk_id === 'a' && call.direction === 'outbound')),
  );
});

it('has the periods that a span touches', async () => {
  const periods = async (query: string) =>
    (await list(`?per=all&${query}`)).map(({ period }) => period.slice(0, 13));
  expect(await periods('from_date=2030-01-01T23:30:00Z')).toEqual(['2030-01-01T23', '2030-01-02T00']);
  expect(await periods('to_date=2030-01-01T23:00:00Z')).toEqual(['2030-01-01T22']);
  expect(await periods('to_date=2030-01-01T23:00:01Z')).toEqual(['2030-01-01T22', '2030-01-01T23']);
  expect(await periods('to_date=2030-01-01')).toEqual(['2030-01-01T22', '2030-01-01T23']);
});

it.each(['', 'per=all&', 'by=day&'])('has pages that together are the whole list: %s', async (query) => {
  const whole = await list(`?${query}`);
  const paged: CallAggregate[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await read(`?${query}limit=2${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`);
    expect(page.aggregates.length).toBeLessThanOrEqual(2);
    paged.push(...page.aggregates);
    after = page.next;
  }
  expect(paged).toEqual(whole);
});

it.each([
  ['each trunk', { byTrunk: true }, { sums: 30, periods: 1000 }],
  ['all trunks', { byTrunk: false }, { sums: 30, periods: 1000 }],
  ['all trunks, few periods', { byTrunk: false }, { sums: 1000, periods: 1 }],
  ['one trunk', { byTrunk: true, trunkId: 'b' }, { sums: 8, periods: 1000 }],
  ['one trunk, few periods', { byTrunk: true, trunkId: 'b' }, { sums: 1000, periods: 2 }],
  ['one trunk of all', { byTrunk: false, trunkId: 'b' }, { sums: 8, periods: 1000 }],
])('ends a page early where there is much to read: %s', async (_, which, limits) => {
  const { db } = test.control.services.database;
  const filter = { orgId: test.orgId, unit: 'hour' as const, ...which };
  const whole = await readAggregates(db, filter, 500);
  expect(whole.next).toBeNull();
  expect(whole.cells.length).toBeGreaterThanOrEqual(3);
  const cells: unknown[] = [];
  let pages = 0;
  for (let after: (typeof whole)['next'] | undefined; after !== null; pages++) {
    const page = await readAggregates(db, { ...filter, ...(after && { after }) }, 500, limits);
    cells.push(...page.cells);
    after = page.next;
  }
  expect(cells).toEqual(whole.cells);
  expect(pages).toBeGreaterThan(1);
});

it('is empty without calls, for another organization, and says what a wrong cursor is', async () => {
  expect(await read('', test.foreignKey)).toEqual({ complete: true, aggregates: [], next: null });
  const wrong = await test.call('GET', `${path}?after=x`);
  expect([wrong.status, wrong.codes]).toEqual([400, ['INVALID_CURSOR']]);
});
