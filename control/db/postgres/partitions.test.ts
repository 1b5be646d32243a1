import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { TraceMessage, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { newTimedId } from '#shared/ids.ts';
import { callRecord } from '../../../test/kit/control/edge-client.ts';
import { onSqlite, openTestDatabase, takeDatabase } from '../../../test/kit/db/test-database.ts';
import { deleteCallsBefore, deleteTracesBefore } from '../../calls/index.ts';
import { callRow } from '../../calls/rules.ts';
import { createReportStore } from '../../report-writers.ts';
import { toJson } from '../json.ts';
import { migrations } from '../migrations/index.ts';
import { type Database, migrate } from '../open.ts';
import type { Tables } from '../tables.ts';
import { openPostgres } from './open.ts';
import { addPartitions } from './partitions.ts';

const dayMs = 86_400_000;
/** Of no other test: databases are used again, and partitions stay. */
const start = Date.parse('2041-01-30T12:00:00.000Z');

let database: Database;
let clock: FakeClock;
let seq = 0;
beforeEach(async () => {
  database = await openTestDatabase();
  clock = new FakeClock(start);
});
afterEach(() => database.close());

/** A call with a transcript and a trace. Returns its id. */
async function report(id = newTimedId(clock.now())): Promise<string> {
  const at = new Date(clock.now()).toISOString();
  const message = {
    at,
    direction: 'sent',
    local: 'a',
    remote: 'b',
    transport: 'tls',
    start_line: 'x',
    raw: 'x',
  };
  const line = { id, at, user: 'user', text: 'Hi', node_id: null, node_name: null };
  const samples = [[5000, 5000, 0, 250, 0, null, null, null, null, 250, null, null, null, null, null, null]];
  const quality = { part: 0, samples, whole: false };
  const bodies = [
    { type: 'call', call: { ...callRecord('org'), id, started_at: at } },
    { type: 'transcript', call_id: id, entries: [line] },
    { type: 'trace', call_id: id, messages: [message], truncated: false },
    { type: 'measured', calls: [{ call_id: id, quality: [quality], marks: [[0, 'sound', 5]] }] },
  ];
  const store = createReportStore(database, clock);
  const { rejected } = await store.store(
    { edgeId: 'e', outboxId: 'o' },
    bodies.map((body) => ({ seq: ++seq, at, body })),
  );
  expect(rejected).toEqual([]);
  return id;
}

const tables = ['calls', 'transcript_parts', 'trace_parts', 'quality_parts', 'turn_parts'] as const;

/** Where each table has the row of a call, in the order of `tables`. */
async function placesOf(id: string): Promise<string[]> {
  const places = [];
  for (const table of tables) {
    const { rows } = await sql<{ place: string }>`select tableoid::regclass::text as place
      from ${sql.table(table)} where ${sql.ref(table === 'calls' ? 'id' : 'call_id')} = ${id}`.execute(
      database.db,
    );
    places.push(...rows.map(({ place }) => place));
  }
  return places;
}

const before = (time: string) => new Date(time).toISOString();

describe.skipIf(onSqlite)('the call log on PostgreSQL', () => {
  it('is stored by month, and traces by day', async () => {
    await addPartitions(database.db, clock.now());
    expect(await placesOf(await report())).toEqual([
      'calls_2041_01',
      'transcript_parts_2041_01',
      'trace_parts_2041_01_30',
      'quality_parts_2041_01',
      'turn_parts_2041_01',
    ]);
    clock.advance(2 * dayMs);
    expect(await placesOf(await report())).toEqual([
      'calls_2041_02',
      'transcript_parts_2041_02',
      'trace_parts_2041_02_01',
      'quality_parts_2041_02',
      'turn_parts_2041_02',
    ]);
  });

  it('has calls whose id has no time, or one without a partition, in a part of its own', async () => {
    await addPartitions(database.db, clock.now());
    const undated = tables.map((table) => `${table}_undated`);
    expect(await placesOf(await report('3f8a5f0e-7a44-4d2c-9d42-6f1c1f0a0f11'))).toEqual(undated);
    expect(await placesOf(await report('tc_3f8a5f0e'))).toEqual(undated);
    expect(await placesOf(await report(newTimedId(start + 4000 * dayMs)))).toEqual(undated);
  });

  it('moves rows that came before their partition, and still knows them as one call', async () => {
    clock.advance(200 * dayMs);
    const id = await report();
    expect(await placesOf(id)).toEqual(tables.map((table) => `${table}_undated`));
    await addPartitions(database.db, clock.now());
    await addPartitions(database.db, clock.now());
    await report(id);
    const [call, , , trace, , ...measured] = await placesOf(id);
    // What is measured grows in its row.
    expect(measured).toEqual(['quality_parts_2041_08', 'turn_parts_2041_08']);
    expect([call, trace]).toEqual(['calls_2041_08', 'trace_parts_2041_08_18']);
    expect(await database.db.selectFrom('calls').select('id').execute()).toEqual([{ id }]);
  });

  it('loses whole months and days when all of them is too old, and undated rows one by one', async () => {
    await addPartitions(database.db, clock.now());
    const january = await report();
    const undated = await report('3f8a5f0e-7a44-4d2c-9d42-6f1c1f0a0f11');
    clock.advance(2 * dayMs);
    const february = await report();
    const ids = async () =>
      (await database.db.selectFrom('calls').select('id').orderBy('id').execute()).map(({ id }) => id);

    await deleteCallsBefore(database.db, before('2041-01-31T00:00:00Z'));
    expect(await ids()).toEqual([january, february].sort());
    await deleteCallsBefore(database.db, before('2041-02-01T00:00:00Z'));
    expect(await ids()).toEqual([february]);
    expect(await placesOf(january)).toEqual(['trace_parts_2041_01_30']);
    expect(await placesOf(undated)).toEqual(['trace_parts_undated']);

    await deleteTracesBefore(database.db, before('2041-01-30T23:59:59Z'));
    expect(await placesOf(january)).toEqual(['trace_parts_2041_01_30']);
    await deleteTracesBefore(database.db, before('2041-01-31T00:00:00Z'));
    expect(await placesOf(january)).toEqual([]);
    expect(await placesOf(february)).toHaveLength(tables.length);
  });

  it('counts on with its generated ids', async () => {
    await addPartitions(database.db, clock.now());
    await report();
    await report();
    const parts = await database.db.selectFrom('transcript_parts').select('id').orderBy('id').execute();
    expect(parts.map(({ id }) => id)).toEqual([1, 2]);
  });
});

describe.skipIf(onSqlite)('a PostgreSQL database with the call log in whole tables', () => {
  const names = Object.keys(migrations);
  const partitioning = names.indexOf('0037-call-log-by-month');

  it('keeps every row, its indexes and its next ids', async () => {
    const { address, release } = await takeDatabase();
    const url = new URL(address);
    url.pathname = '/unpartitioned';
    await database.db.executeQuery(
      sql`create database unpartitioned template template0`.compile(database.db),
    );
    const { dialect } = openPostgres(url.href, clock, 1);
    const db = new Kysely<Tables>({ dialect });
    try {
      await migrate(db, Object.fromEntries(Object.entries(migrations).slice(0, partitioning)));
      const { received_at, ...trace } = {
        call_id: 'a',
        messages: toJson<TraceMessage[]>([]),
        received_at: 'then',
      };
      const part = { call_id: 'a', entries: toJson<TranscriptEntry[]>([]), received_at };
      await db.insertInto('transcript_parts').values([part, part]).execute();
      await db
        .insertInto('trace_parts')
        .values({ ...trace, received_at, message_count: 0, truncated: 0 })
        .execute();
      const call = callRow({ ...callRecord('org'), id: 'a' }, 'edge');
      // Later migrations have added columns.
      const { rows: columns } = await sql<{ name: string }>`select column_name as name
        from information_schema.columns where table_name = 'calls'`.execute(db);
      const known = new Set(columns.map(({ name }) => name));
      const earlierRow = Object.fromEntries(Object.entries(call).filter(([name]) => known.has(name)));
      await sql`insert into calls (${sql.join(Object.keys(earlierRow).map((name) => sql.id(name)))})
        values (${sql.join(Object.values(earlierRow))})`.execute(db);
      const indexes = async () => {
        const { rows } = await sql<{ text: string }>`select indexdef as text from pg_indexes
          where tablename = 'calls' order by 1`.execute(db);
        return rows.map(({ text }) => text.replace('ON ONLY', 'ON'));
      };
      const earlier = await indexes();
      await migrate(db, migrations);
      expect(await indexes()).toEqual(expect.arrayContaining(earlier));
      expect(await db.selectFrom('calls').selectAll().execute()).toMatchObject([earlierRow]);
      await db.insertInto('transcript_parts').values(part).execute();
      const ids = await db.selectFrom('transcript_parts').select('id').orderBy('id').execute();
      expect(ids.map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(await db.selectFrom('trace_parts').select(['id', 'call_id']).execute()).toEqual([
        { id: 1, call_id: 'a' },
      ]);
    } finally {
      await db.destroy();
      await sql`drop database unpartitioned`.execute(database.db);
      await release();
    }
  });
});

it.runIf(onSqlite)('SQLite has no partitions, and deletes each call in its time', async () => {
  await addPartitions(database.db, clock.now());
  await report();
  expect(await deleteCallsBefore(database.db, before('2041-01-30T12:00:00Z'))).toBe(0);
  expect(await deleteCallsBefore(database.db, before('2041-01-30T12:00:01Z'))).toBe(1);
});
