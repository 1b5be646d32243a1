import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { callRecord } from '../test/kit/control/edge-client.ts';
import { openTestDatabase } from '../test/kit/db/test-database.ts';
import { systemActor } from './audit/rules.ts';
import { recordChange } from './audit/store.ts';
import type { Database } from './db/open.ts';
import { createReportStore } from './report-writers.ts';
import { pruneOld, startRetention } from './retention.ts';

let database: Database;
let clock: FakeClock;
beforeEach(async () => {
  database = await openTestDatabase();
  clock = new FakeClock();
});
afterEach(() => database.close());

const dayMs = 24 * 60 * 60 * 1000;
const limits = {
  retention: {
    calls: 90,
    traces: 14,
    changes: 365,
    recordings: 90,
    toolRuns: 14,
    testRecords: 90,
    ports: 1095,
    tornado: 60,
  },
  quotas: { storedRuns: 1000 },
};

async function report(): Promise<void> {
  const at = '2030-01-01T00:00:00.000Z';
  const call = callRecord('org');
  const entry = { id: 't', at, user: 'user' as const, text: 'Hi', node_id: null, node_name: null };
  const message = {
    at,
    direction: 'sent' as const,
    local: '192.0.2.1:5061',
    remote: '192.0.2.2:5061',
    transport: 'tls' as const,
    start_line: 'x',
    raw: 'x',
  };
  const samples = [[5000, 5000, 0, 250, 0, null, null, null, null, 250, null, null, null, null, null, null]];
  const quality = { part: 0, samples, whole: false };
  const bodies = [
    { type: 'call', call },
    { type: 'transcript', call_id: call.id, entries: [entry] },
    { type: 'trace', call_id: call.id, messages: [message], truncated: false },
    { type: 'measured', calls: [{ call_id: call.id, quality: [quality], marks: [[0, 'sound', 5]] }] },
  ];
  const store = createReportStore(database, clock);
  await store.store(
    { edgeId: 'e', outboxId: 'o' },
    bodies.map((body, index) => ({ seq: index + 1, at, body })),
  );
}

/**
 * Those of the kinds of which a round deleted rows. Of partitions that earlier tests left, PostgreSQL estimates how many
 * rows they had: calls and traces, when they are not asked for, are not counted.
 */
async function forget(...kinds: string[]): Promise<Record<string, number>> {
  const forgotten = Object.entries(await pruneOld(database.db, clock, limits));
  return Object.fromEntries(forgotten.filter(([kind, rows]) => kinds.includes(kind) && rows > 0));
}

describe('pruneOld', () => {
  it('deletes traces after 14 days and calls with their transcripts and measurements after 90', async () => {
    await report();
    for (const table of ['transcript_parts', 'quality_parts', 'turn_parts'] as const)
      expect(await database.db.selectFrom(table).selectAll().execute()).toHaveLength(1);
    clock.advance(14 * dayMs);
    expect(await forget('traceParts', 'calls')).toEqual({});
    clock.advance(1);
    expect(await forget('traceParts', 'calls')).toEqual({ traceParts: 1 });
    clock.advance(76 * dayMs);
    expect(await forget('calls')).toEqual({ calls: 1 });
    for (const table of ['transcript_parts', 'quality_parts', 'turn_parts'] as const)
      expect(await database.db.selectFrom(table).selectAll().execute()).toEqual([]);
  });

  it('deletes audit entries after a year', async () => {
    const change = { orgId: null, area: 'keys', subject: 'k', action: 'create' };
    await recordChange(database.db, clock, systemActor, change);
    clock.advance(365 * dayMs);
    expect(await forget('changes')).toEqual({});
    clock.advance(1);
    expect(await forget('changes')).toEqual({ changes: 1 });
  });
});

describe('pruneOld of tests', () => {
  /** Inserts a row with these values and something in every other column. */
  async function row(table: string, values: Record<string, string>): Promise<void> {
    const tables = await database.db.introspection.getTables();
    const { columns = [] } = tables.find(({ name }) => name === table) ?? {};
    const filled = columns.map(({ name, dataType }) => values[name] ?? (dataType === 'text' ? '{}' : 1));
    const names = columns.map(({ name }) => sql.ref(name));
    await sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(filled)})`.execute(
      database.db,
    );
  }

  it('empties old run records, and deletes old tornado sessions', async () => {
    const end = '2030-01-01T00:00:00.000Z';
    await row('test_run_records', { run_id: 'r', ended_at: end, chat_history: '["Hi"]' });
    await row('test_tornado_sessions', { id: 't', completed_at: end });
    await row('test_tornado_iterations', { session_id: 't' });
    clock.advance(60 * dayMs);
    expect(await forget('tornado', 'testRecords')).toEqual({});
    clock.advance(1);
    expect(await forget('tornado', 'testRecords')).toEqual({ tornado: 1 });
    clock.advance(30 * dayMs - 1);
    expect(await forget('tornado', 'testRecords')).toEqual({});
    clock.advance(1);
    expect(await forget('tornado', 'testRecords')).toEqual({ testRecords: 1 });
    const records = await database.db.selectFrom('test_run_records').selectAll().execute();
    expect(records).toMatchObject([{ run_id: 'r', chat_history: '[]', ended_at: null }]);
    expect(await forget('tornado', 'testRecords')).toEqual({});
  });
});

describe('startRetention', () => {
  const quiet = pino({ level: 'silent' });
  const services = () => ({ database, clock, config: limits });

  it('processes every kind an hour after the start and every hour from then on', async () => {
    await report();
    clock.advance(15 * dayMs);
    const seen: string[] = [];
    let ended = Promise.withResolvers<void>();
    const deleted = (kind: string, rows: number) => {
      if (rows > 0) seen.push(kind);
      if (kind === 'alertNotices') ended.resolve();
    };
    const stop = startRetention(services(), quiet, { deleted, failed: () => {} });
    clock.advance(60 * 60 * 1000);
    await ended.promise;
    expect(seen).toEqual(['traceParts']);
    ended = Promise.withResolvers();
    clock.advance(76 * dayMs);
    // The previous round schedules the next one when it ends, which may be after its last kind.
    while (clock.pending === 0) await setImmediate();
    clock.advance(60 * 60 * 1000);
    await ended.promise;
    expect(seen).toEqual(['traceParts', 'calls', 'callSums']);
    await stop();
    expect(clock.pending).toBe(0);
  });

  it('counts a failing kind and continues with the others', async () => {
    // It comes back: other tests get the database.
    await sql`alter table trace_parts rename to away`.execute(database.db);
    const failed: string[] = [];
    const ended = Promise.withResolvers<void>();
    const stop = startRetention(services(), quiet, {
      deleted: (kind) => kind === 'alertNotices' && ended.resolve(),
      failed: (kind) => failed.push(kind),
    });
    clock.advance(60 * 60 * 1000);
    await ended.promise;
    expect(failed).toEqual(['traceParts']);
    await stop();
    await sql`alter table away rename to trace_parts`.execute(database.db);
  });
});
