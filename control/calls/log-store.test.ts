import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { planOf as stepsOf } from '../../test/kit/db/driver.ts';
import { onSqlite, openTestDatabase } from '../../test/kit/db/test-database.ts';
import type { Database } from '../db/open.ts';
import type { CallRow } from '../db/tables.ts';
import { type CallFilter, listCalls } from './log-store.ts';
import { callRow } from './rules.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.db.insertInto('calls').values(rows).execute();
});
afterAll(() => database.close());

const ends: readonly Partial<CallRecord>[] = [
  {},
  { ended_at: null, sip_code: null },
  { answered_at: null, sip_code: 486 },
  { answered_at: null, sip_code: 600 },
  { answered_at: null, sip_code: 503 },
];
const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString();
const id = (index: number) => `00000000-0000-4000-8000-${String((index * 7919) % 100_003).padStart(12, '0')}`;

/** Three calls start in each minute, so that page ends fall between calls of the same time. */
const rows: CallRow[] = Array.from({ length: 240 }, (_, index) =>
  callRow(
    callRecord(index % 11 === 0 ? 'other' : 'org', {
      id: id(index),
      started_at: at(Math.floor(index / 3)),
      direction: index % 4 === 0 ? 'outbound' : 'inbound',
      number: index % 5 < 3 ? '+14155550100' : '+14155550101',
      ...ends[(index * 3) % 7],
    }),
    'edge',
  ),
);

/** The expected page, found by scanning every row. */
function expected(filter: CallFilter): string[] {
  const { number, direction, outcome, sipCode, from, to, after } = filter;
  const isAfter = (row: CallRow) =>
    !after || row.started_at < after.started_at || (row.started_at === after.started_at && row.id < after.id);
  return rows
    .filter((row) => row.org_id === 'org')
    .filter((row) => number === undefined || row.number === number)
    .filter((row) => direction === undefined || row.direction === direction)
    .filter((row) => outcome === undefined || row.outcome === outcome)
    .filter((row) => sipCode === undefined || row.sip_code === sipCode)
    .filter(
      (row) => (from === undefined || row.started_at >= from) && (to === undefined || row.started_at < to),
    )
    .filter(isAfter)
    .sort((a, b) => (`${a.started_at} ${a.id}` < `${b.started_at} ${b.id}` ? 1 : -1))
    .map((row) => row.id);
}

const cursor = (index: number) => ({ started_at: at(Math.floor(index / 3)), id: id(index) });
const numbers: CallFilter[] = [{}, { number: '+14155550101' }];
const directions: CallFilter[] = [{}, { direction: 'inbound' }, { direction: 'outbound' }];
const statuses: CallFilter[] = [
  {},
  ...['in_progress', 'completed', 'busy', 'failed'].map((outcome) => ({ outcome })),
  ...[200, 486, 404].map((sipCode) => ({ sipCode })),
];
const spans: CallFilter[] = [{}, { from: at(20) }, { to: at(60) }, { from: at(20), to: at(60) }];
const cursors: CallFilter[] = [{}, { after: cursor(100) }, { after: cursor(220) }];

const filters = numbers.flatMap((number) =>
  directions.flatMap((direction) =>
    statuses.flatMap((status) =>
      spans.flatMap((span) =>
        cursors.map((after) => ({ ...number, ...direction, ...status, ...span, ...after })),
      ),
    ),
  ),
);

describe('the call log', () => {
  it('returns the matches of every combination of filters, newest first', async () => {
    expect(filters.length).toBe(576);
    for (const filter of filters) {
      const page = await listCalls(database.db, 'org', filter, 500);
      expect([filter, page.map((row) => row.id)]).toEqual([filter, expected(filter)]);
    }
  });

  it.each([
    ['all calls', {}],
    ['one direction', { direction: 'inbound' }],
    ['one status', { outcome: 'completed' }],
  ] as const)('is paged without gaps or repeats: %s', async (_what, filter) => {
    const seen: string[] = [];
    let after: CallFilter = {};
    for (;;) {
      const page = await listCalls(database.db, 'org', { ...filter, ...after }, 7);
      seen.push(...page.map((row) => row.id));
      const last = page.at(-1);
      if (page.length < 7 || !last) break;
      after = { after: last };
    }
    expect(seen).toEqual(expected(filter));
  });

  it.runIf(onSqlite)('reads only index ranges that contain nothing but matches', async () => {
    for (const filter of filters) {
      const { steps, equalities, bounds } = await planOf(filter);
      const asked = ['number', 'direction', 'outcome', 'sipCode'].filter((name) => name in filter);
      for (const step of steps) {
        expect(step).toMatch(
          /^(MERGE \(UNION ALL\)|LEFT|RIGHT|SEARCH calls USING INDEX calls_by_\w+ \(.*\))$/,
        );
      }
      // The organization, plus one per filter; a filter by direction or status alone is covered by ranges of both.
      expect(Math.min(...equalities)).toBeGreaterThanOrEqual(1 + asked.length);
      const ends = Number('from' in filter) + Number('to' in filter || 'after' in filter);
      expect(new Set(bounds)).toEqual(new Set([ends]));
    }
  });
});

/** The query plan of a page, and for each of its ranges the number of equal columns and of bounds. */
async function planOf(filter: CallFilter) {
  const executor = database.db.getExecutor();
  const execute = executor.executeQuery;
  let plan: string[] = [];
  executor.executeQuery = async ({ sql, parameters }) => {
    plan = await stepsOf(database.db, sql, parameters);
    return { rows: [] };
  };
  try {
    await listCalls(database.db, 'org', filter, 50);
  } finally {
    executor.executeQuery = execute;
  }
  const ranges = plan.filter((step) => step.startsWith('SEARCH'));
  return {
    steps: plan,
    equalities: ranges.map((step) => step.match(/\w=\?/g)?.length ?? 0),
    bounds: ranges.map((step) => step.match(/[<>](\?|\()/g)?.length ?? 0),
  };
}
