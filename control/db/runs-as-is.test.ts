/** Runs from before it was stored whether they are of the scenario as it is: which are, and the counts of analytics. */
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { storeFinishedRun } from '../../test/kit/control/agent-testing.ts';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { toJson } from './json.ts';
import { up } from './migrations/0091-runs-as-is.ts';
import type { Database } from './open.ts';
import type { TestRunRecordRow, TestRunRow } from './tables.ts';

let database: Database;
const db = () => database.db;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const changed = '2030-01-10T00:00:00.000Z';
const own = { metadata: { call: { voice: 'slt', weather: { loss_percent: 1 } } } };
const wild = { metadata: { call: { voice: 'slt', weather: { loss_percent: 20 } } } };

async function scenario(id: string, metadata: object | null): Promise<void> {
  await db()
    .insertInto('test_scenarios')
    .values({
      id,
      org_id: 'org',
      pathway_id: 'pathway',
      persona_id: null,
      agent_id: null,
      name: id,
      description: null,
      category: 'CUSTOM',
      scenario_type: 'AGENT',
      tester_persona_prompt: null,
      tester_persona_name: null,
      max_turns: 20,
      request_data: null,
      start_node_id: null,
      service_tone_enabled: 0,
      is_required_for_promotion: 0,
      promotion_repeats: 1,
      enabled: 1,
      input_messages: null,
      advanced_instructions: null,
      metadata: metadata && toJson({ ...metadata }),
      created_at: changed,
      updated_at: changed,
      deleted_at: null,
    })
    .execute();
}

async function cell(id: string, matrix_cell: object | null): Promise<void> {
  await db()
    .insertInto('test_simulation_sets')
    .values({
      id,
      org_id: 'org',
      pathway_id: 'pathway',
      persona_id: null,
      status: 'PASSED',
      scenario_ids: toJson(['own']),
      simulations_per_scenario: 1,
      pass_threshold: 0.5,
      version_number: 1,
      webhook_url: null,
      created_at: changed,
      completed_at: changed,
      matrix_id: matrix_cell && 'matrix',
      matrix_place: matrix_cell && 0,
      matrix_cell: matrix_cell && toJson(matrix_cell),
      load_id: null,
    })
    .execute();
}

let day = '10';
/** @returns its id */
async function ran(more: Partial<TestRunRow>, used: object = own, scenarioId = 'own'): Promise<string> {
  const id = await storeFinishedRun(db(), {
    orgId: 'org',
    pathwayId: 'pathway',
    scenarioId,
    createdAt: `2030-01-${day}T01:00:00.000Z`,
    status: 'FAILED',
    score: 0.5,
    nodesVisited: ['greet'],
    failedNodeId: 'greet',
    more,
  });
  await db()
    .updateTable('test_run_records')
    .set({ scenario: toJson({ ...used }) as TestRunRecordRow['scenario'] })
    .where('run_id', '=', id)
    .execute();
  return id;
}

it('are found, and the others are taken out of the counts, also where those have runs that were deleted', async () => {
  await scenario('own', own.metadata);
  await scenario('plain', null);
  await cell('weather', { version: 1, voice: null, weather: 'loss' });
  await cell('versions', { version: 1, voice: null, weather: null });
  const deleted = await ran({});
  await db().deleteFrom('test_runs').where('id', '=', deleted).execute();
  const call = { transport: 'sip' } as const;
  const counted = [
    await ran({}),
    await ran(call),
    await ran({ ...call, simulation_set_id: 'versions' }),
    await ran(call, { metadata: { call: { weather: {} } } }, 'plain'),
  ];
  const others = [
    await ran({ trigger_source: 'load' }),
    await ran({ trigger_source: 'held_out' }),
    await ran({ request_data_override: toJson({ vip: true }) }),
    await ran(call, wild),
    await ran({ ...call, simulation_set_id: 'weather' }, wild),
    await ran(call, own, 'plain'),
    // Its record was emptied.
    await ran({ ...call, simulation_set_id: 'weather' }, {}),
  ];
  // Before the scenario's last change: what it said is not known, and what a matrix changed is.
  day = '01';
  counted.push(await ran(call, wild));
  others.push(await ran({ ...call, simulation_set_id: 'weather' }, wild));
  await sql`drop index test_runs_of_pathway`.execute(db());
  await sql`alter table test_runs drop column as_is`.execute(db());
  await db().schema.createIndex('test_runs_of_pathway').on('test_runs').column('pathway_id').execute();
  await up(db());
  const rows = await db().selectFrom('test_runs').select(['id', 'as_is']).execute();
  const are = (as_is: number) => rows.filter((row) => row.as_is === as_is).map(({ id }) => id);
  expect(are(1).toSorted()).toEqual(counted.toSorted());
  expect(are(0).toSorted()).toEqual(others.toSorted());
  const days = await db().selectFrom('test_run_days').selectAll().orderBy('day').execute();
  const all = { pathway_id: 'pathway', status: 'FAILED' };
  expect(days).toEqual([
    { ...all, day: '2030-01-01', runs: 1, scored: 1, score_sum: 0.5 },
    { ...all, day: '2030-01-10', runs: 5, scored: 5, score_sum: 2.5 },
  ]);
  const months = await db()
    .selectFrom('test_run_periods')
    .select(['scenario_id', 'runs', 'score_sum'])
    .where('period', '=', '2030-01')
    .orderBy('scenario_id')
    .execute();
  expect(months).toEqual([
    { scenario_id: 'own', runs: 5, score_sum: 2.5 },
    { scenario_id: 'plain', runs: 1, score_sum: 0.5 },
  ]);
});
