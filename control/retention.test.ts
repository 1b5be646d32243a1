import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type Database, openDatabase } from './db/open.ts';
import { ReportStore } from './edges/reports.ts';
import { forgetOld, startRetention } from './retention.ts';
import { callRecord } from './testing/edge-client.ts';

let database: Database;
let clock: FakeClock;
beforeEach(async () => {
  database = await openDatabase(':memory:');
  clock = new FakeClock();
});
afterEach(() => database.close());

const dayMs = 24 * 60 * 60 * 1000;
const limits = { callLogDays: 90, traceDays: 14 };

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
  const bodies = [
    { type: 'call', call },
    { type: 'transcript', call_id: call.id, entries: [entry] },
    { type: 'trace', call_id: call.id, messages: [message], truncated: false },
  ];
  const store = new ReportStore(database, clock);
  await store.store(
    { edgeId: 'e', outboxId: 'o' },
    bodies.map((body, index) => ({ seq: index + 1, at, body })),
  );
}

describe('forgetOld', () => {
  it('deletes traces after 14 days and calls with their transcripts after 90', async () => {
    await report();
    const { db } = database;
    const forget = () => forgetOld(db, clock, limits);
    clock.advance(14 * dayMs);
    expect(await forget()).toEqual({
      calls: 0,
      traceParts: 0,
      answers: 0,
      probes: 0,
      checks: 0,
      webhooks: 0,
      alerts: 0,
      alertNotices: 0,
    });
    clock.advance(1);
    expect(await forget()).toEqual({
      calls: 0,
      traceParts: 1,
      answers: 0,
      probes: 0,
      checks: 0,
      webhooks: 0,
      alerts: 0,
      alertNotices: 0,
    });
    clock.advance(76 * dayMs);
    expect(await forget()).toEqual({
      calls: 1,
      traceParts: 0,
      answers: 0,
      probes: 0,
      checks: 0,
      webhooks: 0,
      alerts: 0,
      alertNotices: 0,
    });
    expect(await db.selectFrom('transcript_parts').selectAll().execute()).toEqual([]);
  });

  it('runs every hour until it is stopped', async () => {
    await report();
    const { db } = database;
    const stop = startRetention(db, clock, limits, pino({ level: 'silent' }));
    clock.advance(15 * dayMs);
    await stop();
    expect(clock.pending).toBe(0);
    expect(await db.selectFrom('trace_parts').selectAll().execute()).toEqual([]);
  });
});
