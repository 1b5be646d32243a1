import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { faultyGraph, missingEdge, soundBooking } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, bookingPersona } from '../../../test/kit/control/test-runs.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';
import { onSqlite } from '../../../test/kit/db/test-database.ts';
import { toJson } from '../../db/index.ts';
import { deleteTornadoBefore, emptyRecordsBefore } from './retention.ts';

/** The clock's time when runs end. */
const end = '2030-01-01T00:00:00.000Z';
const later = '2030-01-01T00:00:00.001Z';
const now = '2030-02-01T00:00:00.000Z';

const test = emptiedForEach(startControl);
let client: TornadoClient;

beforeEach(() => {
  client = new TornadoClient(test);
});

const db = () => test.control.services.database.db;
const emptyBefore = (before: string) => emptyRecordsBefore(db(), before, now);
const deleteBefore = (before: string) => deleteTornadoBefore(db(), before);

const plan = async (query: string) => {
  const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(query)}`.execute(db());
  return rows.map(({ detail }) => detail).join();
};

describe('the record of a run', () => {
  const booked = {
    type: 'REGEX_MATCH',
    name: 'Booked',
    config: { pattern: 'You are booked', target: 'agent' },
  };
  const missed = { type: 'NODE_REACHED', name: 'Sorry', config: { node_id: 'sorry' } };
  const scenario = async (assertion: object) =>
    client.scenario({
      pathway_id: await client.pathway(bookingGraph),
      tester_persona_prompt: bookingPersona,
      assertions: [assertion],
    });
  const read = async (id: unknown) => (await client.call('GET', `/runs/${id}`)).body.data;

  it('is emptied after its retention time, and the verdict stays', async () => {
    const run = await client.run(await scenario(booked));
    expect(run).toMatchObject({ status: 'PASSED', record_deleted_at: null });
    expect(JSON.stringify(run.assertion_results)).toContain('"quote":"You are booked');
    const scores = { naturalness: 0.5, conciseness: 0.5, empathy: 0.5, flow_preservation: 0.5 };
    const tone = {
      ...scores,
      back_channeling: 0.5,
      topic_transitions: 0.5,
      overall_tone_score: 0.5,
      issues: [],
    };
    const examples = [{ turn: 0, quote: 'Hello' }];
    await db()
      .updateTable('test_run_records')
      .set({ service_tone_score: toJson({ ...tone, examples }) })
      .execute();
    expect(await emptyBefore(end)).toBe(0);
    expect(await emptyBefore(later)).toBe(1);
    const kept = await read(run.id);
    expect(kept).toEqual({
      ...run.data,
      chat_history: [],
      variables_extracted: {},
      webhook_calls: [],
      tool_calls: [],
      record_deleted_at: now,
      service_tone_score: { ...tone, examples: [] },
      assertion_results: [{ ...(run.assertion_results?.[0] as object), evidence: [] }],
    });
    expect(await emptyBefore(later)).toBe(0);
    const stored = await db().selectFrom('test_run_records').selectAll().executeTakeFirstOrThrow();
    expect(stored).toMatchObject({ scenario: '{}', log: '[]', ending: null, ended_at: null });
    expect(JSON.stringify(stored)).not.toContain('Sam Reed');
  });

  it('can be analyzed only while it is kept, and an existing analysis stays', async () => {
    const id = await scenario(missed);
    const analysed = await client.run(id);
    const left = await client.run(id);
    const made = (await client.call('POST', `/runs/${analysed.id}/analyze`)).body.analysis;
    expect(await emptyBefore(later)).toBe(2);
    expect((await client.call('POST', `/runs/${analysed.id}/analyze`)).body.analysis).toEqual(made);
    const refused = await client.call('POST', `/runs/${left.id}/analyze`);
    expect([refused.status, refused.codes]).toEqual([410, ['RUN_RECORD_DELETED']]);
  });

  it('of a waiting or running run is kept', async () => {
    const run = await client.run(await scenario(booked));
    await db().updateTable('test_run_records').set({ ended_at: null }).execute();
    expect(await emptyBefore(now)).toBe(0);
    expect((await read(run.id))?.chat_history).toEqual(run.chat_history);
  });

  it.runIf(onSqlite)('is found by an index of kept records only', async () => {
    expect(
      await plan("select run_id from test_run_records where ended_at < 'x' order by ended_at limit 200"),
    ).toMatch(/USING INDEX test_run_records_ended\b/);
  });
});

describe('a tornado session', () => {
  it('is deleted with its iterations after its retention time; its version and its runs stay', async () => {
    const pathway = await client.pathway(faultyGraph);
    await client.scenario({ pathway_id: pathway, ...missingEdge });
    await client.scenario({ pathway_id: pathway, ...soundBooking });
    const id = await client.tornado(pathway);
    const ended = await client.endedSession(id);
    expect(ended).toMatchObject({ status: 'COMPLETED_ALL_PASSED', forked_version: 2 });
    expect(await deleteBefore(end)).toBe(0);
    expect((await client.status(id)).data).toEqual(ended);
    expect(await deleteBefore(later)).toBe(1);
    expect((await client.call('GET', `/tornado/${id}/status`)).codes).toEqual(['TORNADO_NOT_FOUND']);
    expect(await db().selectFrom('test_tornado_iterations').selectAll().execute()).toEqual([]);
    expect((await test.call('GET', `/v1/pathway/${pathway}/version/2`)).status).toBe(200);
    const runs = await client.call('GET', `/runs?pathway_id=${pathway}`);
    // Two of each version, and three held-out variants of the one that was repaired.
    expect(runs.body.total_count).toBe(7);
  });

  it('that is running stays, however old it is', async () => {
    const pathway = await client.pathway(faultyGraph);
    await client.scenario({ pathway_id: pathway, ...soundBooking });
    const id = await client.tornado(pathway);
    await client.endedSession(id);
    await db().updateTable('test_tornado_sessions').set({ completed_at: null }).execute();
    expect(await deleteBefore(now)).toBe(0);
  });

  it.runIf(onSqlite)('is found by an index', async () => {
    expect(
      await plan(
        "select id from test_tornado_sessions where completed_at < 'x' order by completed_at limit 200",
      ),
    ).toMatch(/USING INDEX test_tornado_ended\b/);
  });
});
