/**
 * Which test runs are of their scenario as it is: in no other weather, voice or data, no held-out variant, and not of a
 * load. Counts of analytics are of those alone, so the others are taken out of them as far as they are stored.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';

interface Tables {
  test_runs: {
    id: string;
    scenario_id: string;
    pathway_id: string | null;
    simulation_set_id: string | null;
    status: string;
    transport: string;
    trigger_source: string;
    request_data_override: string | null;
    created_at: string;
    path_id: string;
    failed_node_id: string;
    overall_score: number | null;
    as_is: number;
  };
  test_run_records: { run_id: string; scenario: string };
  test_scenarios: { id: string; metadata: string | null; updated_at: string };
  test_simulation_sets: { id: string; matrix_cell: string | null };
  test_run_days: Counts & { day: string };
  test_run_periods: Counts & {
    period: string;
    scenario_id: string;
    path_id: string;
    failed_node_id: string;
  };
}

interface Counts {
  pathway_id: string;
  status: string;
  runs: number;
  scored: number;
  score_sum: number;
}

type Db = Kysely<Tables>;

const pageRuns = 500;

export async function up(db: Db): Promise<void> {
  await db.schema
    .alterTable('test_runs')
    .addColumn('as_is', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
  // Analytics read the index alone.
  await db.schema.dropIndex('test_runs_of_pathway').execute();
  await db.schema
    .createIndex('test_runs_of_pathway')
    .on('test_runs')
    .columns(['pathway_id', 'created_at', 'as_is', 'status', 'scenario_id'])
    .columns(['path_id', 'failed_node_id', 'overall_score'])
    .execute();
  await db
    .updateTable('test_runs')
    .set({ as_is: 0 })
    .where((is) =>
      is.or([is('trigger_source', 'in', ['held_out', 'load']), is('request_data_override', 'is not', null)]),
    )
    .execute();
  // Loads under way insert the runs that they have planned.
  await sql`update test_loads set planned =
    replace(planned, '"request_data_override":null', '"request_data_override":null,"as_is":0')
    where status = 'RUNNING'`.execute(db);
  await markCalls(db);
  await countNoMore(db);
}

/** Calls whose voice or weather was another one than the scenario's. */
async function markCalls(db: Db): Promise<void> {
  for (let after = ''; ; ) {
    const page = await db
      .selectFrom('test_runs as run')
      .innerJoin('test_run_records as record', 'record.run_id', 'run.id')
      .innerJoin('test_scenarios as scenario', 'scenario.id', 'run.scenario_id')
      .leftJoin('test_simulation_sets as set', 'set.id', 'run.simulation_set_id')
      .select(['run.id', 'run.created_at', 'record.scenario as used', 'set.matrix_cell'])
      .select(['scenario.metadata as own', 'scenario.updated_at'])
      .where('run.transport', '=', 'sip')
      .where('run.as_is', '=', 1)
      .where('run.id', '>', after)
      .orderBy('run.id')
      .limit(pageRuns)
      .execute();
    const others = page.filter(isAltered).map(({ id }) => id);
    if (others.length > 0)
      await db.updateTable('test_runs').set({ as_is: 0 }).where('id', 'in', others).execute();
    const last = page.at(-1);
    if (page.length < pageRuns || !last) return;
    after = last.id;
  }
}

interface Call {
  readonly created_at: string;
  readonly used: string;
  readonly matrix_cell: string | null;
  readonly own: string | null;
  readonly updated_at: string;
}

function isAltered({ created_at, used, matrix_cell, own, updated_at }: Call): boolean {
  const record: { metadata?: Metadata } = JSON.parse(used);
  const isKept = Object.keys(record).length > 0;
  // What a scenario said before its last change is not known; the cell of a matrix says what was another one.
  if (isKept && created_at >= updated_at)
    return !isDeepStrictEqual(callOf(record.metadata), callOf(own === null ? null : JSON.parse(own)));
  const cell: { voice?: unknown; weather?: unknown } = matrix_cell === null ? {} : JSON.parse(matrix_cell);
  return (cell.voice ?? cell.weather ?? null) !== null;
}

type Metadata = { call?: { weather?: object } } | null | undefined;

/** Calm weather is none. */
function callOf(metadata: Metadata): object {
  const { weather, ...call } = metadata?.call ?? {};
  return { ...call, ...(weather && Object.keys(weather).length > 0 && { weather }) };
}

/** The counts cover all runs that have ended, also those that were deleted since: those stay. */
async function countNoMore(db: Db): Promise<void> {
  const groups = await db
    .selectFrom('test_runs')
    .select(['pathway_id', 'status', 'scenario_id', 'path_id', 'failed_node_id'])
    .select([
      sql<string>`substr(created_at, 1, 10)`.as('day'),
      sql<number>`count(*)`.as('runs'),
      sql<number>`count(overall_score)`.as('scored'),
      sql<number>`coalesce(sum(overall_score), 0.0)`.as('score_sum'),
    ])
    .where('as_is', '=', 0)
    .where('pathway_id', 'is not', null)
    .where('status', 'in', ['PASSED', 'FAILED', 'ERROR', 'CANCELLED'])
    .groupBy(['pathway_id', 'status', 'scenario_id', 'path_id', 'failed_node_id'])
    .groupBy(sql`substr(created_at, 1, 10)`)
    .execute();
  for (const { day, pathway_id, runs, score_sum, scored, status, ...alike } of groups) {
    const less = (table: 'test_run_days' | 'test_run_periods') =>
      db
        .updateTable(table)
        .set({
          runs: sql`runs - ${sql.lit(Number(runs))}`,
          scored: sql`scored - ${sql.lit(Number(scored))}`,
          score_sum: sql`score_sum - ${score_sum}`,
        })
        .where('pathway_id', '=', pathway_id ?? '')
        .where('status', '=', status);
    await less('test_run_days').where('day', '=', day).execute();
    await less('test_run_periods')
      .where('period', 'in', [day, day.slice(0, 7)])
      .where('scenario_id', '=', alike.scenario_id)
      .where('path_id', '=', alike.path_id)
      .where('failed_node_id', '=', alike.failed_node_id)
      .execute();
  }
  await db.deleteFrom('test_run_days').where('runs', '<=', 0).execute();
  await db.deleteFrom('test_run_periods').where('runs', '<=', 0).execute();
}
