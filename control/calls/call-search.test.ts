import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { planOf } from '../../test/kit/db/driver.ts';
import { onSqlite, openTestDatabase } from '../../test/kit/db/test-database.ts';
import { type CallRow, fromJson } from '../db/index.ts';
import type { Database } from '../db/open.ts';
import { type SearchFilter, searchCalls } from './call-search.ts';
import { callRow } from './rules.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.db.insertInto('calls').values(rows).execute();
});
afterAll(() => database.close());

const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString();
const id = (index: number) => `00000000-0000-4000-8000-${String((index * 7919) % 100_003).padStart(12, '0')}`;
const numbers = ['+14155550100', '+14155550101'];
const others = ['+4930111', '+4930222', 'anonymous'];
const ends = ['caller_hangup', 'callee_hangup', null] as const;
const opinions = [4.4, 3.6, 2.1, null];

const rows: CallRow[] = Array.from({ length: 180 }, (_, index) => {
  const [number = '', other = ''] = [numbers[index % 2], others[(index % 5) % 3]];
  const direction = index % 4 === 0 ? 'outbound' : 'inbound';
  const mos = opinions[(index % 7) % 4] ?? null;
  const { media } = callRecord('org');
  const record: Partial<CallRecord> = {
    id: id(index),
    started_at: at(Math.floor(index / 3)),
    number,
    direction,
    ...(direction === 'inbound' ? { from: other, to: number } : { from: number, to: other }),
    termination: ends[index % 3] ?? null,
    trunk_id: index % 6 === 0 ? 'trunk' : null,
    media: index % 8 === 0 || !media ? null : { ...media, mos },
    pathway_id: index % 5 === 0 ? 'pathway' : null,
    persona_id: index % 5 === 1 ? 'persona' : null,
    status: index % 9 === 0 ? 'failed' : 'completed',
  };
  return callRow(callRecord(index % 11 === 0 ? 'another' : 'org', record), 'edge');
});

const otherOf = (row: CallRow) => (row.direction === 'inbound' ? row.from_number : row.to_number);
const mosOf = (row: CallRow) => (row.media === null ? null : (fromJson(row.media)?.mos ?? null));

/** The expected calls, found by looking at every row. */
function expected(filter: SearchFilter): string[] {
  const { number, direction, from, to, after, otherParty, termination, maxMos, trunkId } = filter;
  const { pathwayId, personaId, status } = filter;
  const place = (row: Pick<CallRow, 'started_at' | 'id'>) => `${row.started_at} ${row.id}`;
  return rows
    .filter((row) => row.org_id === 'org')
    .filter((row) => number === undefined || row.number === number)
    .filter((row) => direction === undefined || row.direction === direction)
    .filter((row) => otherParty === undefined || otherOf(row) === otherParty)
    .filter((row) => termination === undefined || row.termination === termination)
    .filter((row) => maxMos === undefined || (mosOf(row) ?? 9) <= maxMos)
    .filter((row) => trunkId === undefined || row.trunk_id === trunkId)
    .filter((row) => pathwayId === undefined || row.pathway_id === pathwayId)
    .filter((row) => personaId === undefined || row.persona_id === personaId)
    .filter((row) => status === undefined || row.status === status)
    .filter((row) => (!from || row.started_at >= from) && (!to || row.started_at < to))
    .filter((row) => !after || place(row) < place(after))
    .sort((a, b) => (place(a) < place(b) ? 1 : -1))
    .map((row) => row.id);
}

const filters = [{}, { otherParty: '+4930222' }].flatMap((other) =>
  [{}, { termination: 'caller_hangup' }].flatMap((end) =>
    [{}, { maxMos: 2.5 }, { maxMos: 4 }].flatMap((sound) =>
      [{}, { number: '+14155550101', direction: 'inbound' } as const].flatMap((line) =>
        [
          {},
          { from: at(10), to: at(45) },
          { after: { started_at: at(30), id: id(91) }, trunkId: 'trunk' },
          { pathwayId: 'pathway', status: 'completed' },
          { personaId: 'persona' },
        ].map((span): SearchFilter => ({ ...other, ...end, ...sound, ...line, ...span })),
      ),
    ),
  ),
);

async function allPages(filter: SearchFilter, limit: number, most: number): Promise<string[]> {
  const seen: string[] = [];
  let { after } = filter;
  for (;;) {
    const here = { ...filter, ...(after && { after }) };
    const page = await searchCalls(database.db, 'org', here, limit, most);
    seen.push(...page.rows.map((row) => row.id));
    after = rows.find((row) => row.id === page.next);
    if (!after) return seen;
  }
}

describe('a search of calls', () => {
  it('finds the matches of every combination of filters, newest first', async () => {
    expect(filters.length).toBe(120);
    for (const filter of filters) {
      const { rows: found, next } = await searchCalls(database.db, 'org', filter, 500);
      expect([filter, found.map((row) => row.id), next]).toEqual([filter, expected(filter), null]);
    }
  });

  it('goes on where it stopped: at the end of a page, and after the most calls it reads for one', async () => {
    for (const filter of filters.filter((_, index) => index % 11 === 0)) {
      expect([filter, await allPages(filter, 9, 1000)]).toEqual([filter, expected(filter)]);
      expect([filter, await allPages(filter, 500, 13)]).toEqual([filter, expected(filter)]);
    }
  });

  it.runIf(onSqlite)('reads its index in list order, with both ends of the range', async () => {
    const executor = database.db.getExecutor();
    const execute = executor.executeQuery;
    const plans: string[][] = [];
    executor.executeQuery = async ({ sql, parameters }) => {
      plans.push(await planOf(database.db, sql, parameters));
      return { rows: [] };
    };
    try {
      for (const filter of filters) await searchCalls(database.db, 'org', filter, 50);
    } finally {
      executor.executeQuery = execute;
    }
    for (const [step = '', ...others] of plans) {
      expect(others).toEqual([]);
      expect(step).toMatch(/^SEARCH calls USING (COVERING )?INDEX calls_by_\w+ \(org_id=\?/);
    }
    const used = new Set(plans.map(([step]) => /calls_by_\w+/.exec(step ?? '')?.[0]));
    const led = ['other_party', 'termination', 'poor_sound', 'number', 'time'];
    expect(used).toEqual(new Set(led.map((name) => `calls_by_${name}`)));
  });
});
