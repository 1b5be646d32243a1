import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { withoutRowid } from './dialects.ts';

type Columns<C extends string> = CreateTableBuilder<string, C>;

/** Scenarios, their runs and results (contract 6). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createScenarios(db);
  await createRuns(db);
  await createRunIndexes(db);
  await createAnalytics(db);
  await createGroups(db);
  await createTornado(db);
}

/** Text columns, not null. */
function texts<C extends string>(table: Columns<C>, names: readonly string[]): Columns<C> {
  return names.reduce(
    (into, name) => into.addColumn(name, 'text', (column) => column.notNull()) as Columns<C>,
    table,
  );
}

/** Nullable text columns. */
function maybe<C extends string>(table: Columns<C>, names: readonly string[]): Columns<C> {
  return names.reduce((into, name) => into.addColumn(name, 'text') as Columns<C>, table);
}

function integers<C extends string>(table: Columns<C>, names: readonly string[]): Columns<C> {
  return names.reduce(
    (into, name) => into.addColumn(name, 'integer', (column) => column.notNull()) as Columns<C>,
    table,
  );
}

function tableWithId(db: Kysely<unknown>, name: string): Columns<string> {
  return db.schema
    .createTable(name)
    .addColumn('id', 'text', (column) => column.primaryKey()) as Columns<string>;
}

async function createScenarios(db: Kysely<unknown>): Promise<void> {
  let table = tableWithId(db, 'test_scenarios');
  table = texts(table, ['org_id', 'name', 'category', 'scenario_type', 'created_at', 'updated_at']);
  table = maybe(table, ['pathway_id', 'persona_id', 'description', 'tester_persona_prompt']);
  table = maybe(table, ['tester_persona_name', 'request_data', 'start_node_id', 'input_messages']);
  table = maybe(table, ['advanced_instructions', 'metadata', 'deleted_at']);
  table = integers(table, ['max_turns', 'service_tone_enabled', 'is_required_for_promotion', 'enabled']);
  await table.execute();
  for (const subject of ['pathway_id', 'persona_id'] as const) {
    await db.schema
      .createIndex(`test_scenarios_name_of_${subject}`)
      .on('test_scenarios')
      .columns([subject, 'name'])
      .unique()
      .where(sql.ref('deleted_at'), 'is', null)
      .execute();
    await db.schema
      .createIndex(`test_scenarios_by_${subject}`)
      .on('test_scenarios')
      .columns(['org_id', subject, 'created_at', 'id'])
      .where(sql.ref('deleted_at'), 'is', null)
      .execute();
  }
  await db.schema
    .createIndex('test_scenarios_by_age')
    .on('test_scenarios')
    .columns(['org_id', 'created_at', 'id'])
    .where(sql.ref('deleted_at'), 'is', null)
    .execute();

  let assertions = tableWithId(db, 'test_assertions');
  assertions = texts(assertions, ['scenario_id', 'type', 'config']);
  assertions = maybe(assertions, ['name']);
  assertions = integers(assertions, ['is_required', 'position', 'place']);
  await assertions.addColumn('weight', 'real', (column) => column.notNull()).execute();
  await db.schema
    .createIndex('test_assertions_of_scenario')
    .on('test_assertions')
    .columns(['scenario_id', 'position', 'place'])
    .execute();
}

/** Columns for lists and queues are separate from what only a single run shows. */
async function createRuns(db: Kysely<unknown>): Promise<void> {
  let runs = tableWithId(db, 'test_runs');
  runs = texts(runs, ['org_id', 'scenario_id', 'status', 'trigger_source', 'content_hash', 'transport']);
  runs = texts(runs, ['created_at', 'path_id', 'failed_node_id']);
  runs = maybe(runs, ['pathway_id', 'persona_id', 'batch_id', 'simulation_set_id', 'tornado_session_id']);
  runs = maybe(runs, ['webhook_url', 'phone_number', 'request_data_override', 'worker', 'lease_until']);
  runs = maybe(runs, ['started_at', 'completed_at', 'cancel_requested_at']);
  runs = integers(runs, ['version_number', 'seed', 'attempts', 'turn_count']);
  await runs.addColumn('duration_ms', 'integer').addColumn('overall_score', 'real').execute();

  let records = db.schema
    .createTable('test_run_records')
    .addColumn('run_id', 'text', (column) => column.primaryKey()) as Columns<string>;
  records = texts(records, [
    'scenario',
    'chat_history',
    'variables_extracted',
    'nodes_visited',
    'webhook_calls',
  ]);
  records = texts(records, ['tool_calls', 'log', 'evaluator']);
  records = maybe(records, ['current_node_id', 'ending', 'service_tone_score', 'reasoning', 'error_message']);
  await maybe(records, ['voice', 'analysis', 'checkpoint']).execute();

  let results = db.schema
    .createTable('test_assertion_results')
    .addColumn('run_id', 'text', (column) => column.notNull()) as Columns<string>;
  results = integers(results, ['place', 'passed', 'is_required']);
  results = texts(results, ['assertion_id', 'type', 'status', 'reasoning', 'evidence']);
  results = maybe(results, ['name', 'target', 'expected']);
  await results
    .addColumn('score', 'real', (column) => column.notNull())
    .addColumn('weight', 'real', (column) => column.notNull())
    .addPrimaryKeyConstraint('test_assertion_results_key', ['run_id', 'place'])
    .$call(withoutRowid(db))
    .execute();
}

async function createRunIndexes(db: Kysely<unknown>): Promise<void> {
  const order = ['created_at', 'id'] as const;
  const index = (name: string, columns: readonly string[]) =>
    db.schema
      .createIndex(`test_runs_${name}`)
      .on('test_runs')
      .columns([...columns])
      .execute();
  await index('by_age', ['org_id', ...order]);
  for (const filter of ['scenario_id', 'pathway_id', 'persona_id', 'batch_id', 'status']) {
    await index(`by_${filter}`, ['org_id', filter, ...order]);
  }
  await index('of_simulation_set', ['simulation_set_id', ...order]);
  await index('of_tornado_session', ['tornado_session_id', ...order]);
  await index('of_content', ['scenario_id', 'content_hash', ...order]);
  await index('of_pathway', [
    'pathway_id',
    'created_at',
    'status',
    'scenario_id',
    'path_id',
    'failed_node_id',
    'overall_score',
  ]);
  await db.schema
    .createIndex('test_runs_waiting')
    .on('test_runs')
    .columns(['status', 'org_id', ...order])
    .where(
      sql.ref('status'),
      'in',
      ['PENDING', 'RUNNING'].map((status) => sql.lit(status)),
    )
    .execute();
}

/** Distinct paths through a pathway, results of ended runs per UTC day, and in detail per day and month. */
async function createAnalytics(db: Kysely<unknown>): Promise<void> {
  await texts(db.schema.createTable('test_paths') as Columns<string>, ['pathway_id', 'id', 'nodes'])
    .addPrimaryKeyConstraint('test_paths_key', ['pathway_id', 'id'])
    .$call(withoutRowid(db))
    .execute();
  await createCounts(db, 'test_run_days', ['pathway_id', 'day', 'status']);
  await createCounts(db, 'test_run_periods', [
    'pathway_id',
    'period',
    'scenario_id',
    'path_id',
    'failed_node_id',
    'status',
  ]);
}

async function createCounts(db: Kysely<unknown>, name: string, key: readonly string[]): Promise<void> {
  await integers(texts(db.schema.createTable(name) as Columns<string>, key), ['runs', 'scored'])
    .addColumn('score_sum', 'real', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${name}_key`, [...key])
    .$call(withoutRowid(db))
    .execute();
}

async function createGroups(db: Kysely<unknown>): Promise<void> {
  let batches = tableWithId(db, 'test_batches');
  batches = texts(batches, ['org_id', 'status', 'trigger_source', 'created_at']);
  batches = maybe(batches, ['pathway_id', 'persona_id', 'content_hash', 'webhook_url', 'completed_at']);
  batches = integers(batches, ['total_scenarios', 'publish_on_pass', 'published']);
  await batches.addColumn('version_number', 'integer').execute();
  await db.schema
    .createIndex('test_batches_by_age')
    .on('test_batches')
    .columns(['org_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('test_batches_of_content')
    .on('test_batches')
    .columns(['org_id', 'content_hash', 'trigger_source', 'status'])
    .execute();

  await db.schema.createIndex('test_batches_by_end').on('test_batches').columns(['completed_at']).execute();

  let sets = tableWithId(db, 'test_simulation_sets');
  sets = texts(sets, ['org_id', 'status', 'scenario_ids', 'created_at']);
  sets = maybe(sets, ['pathway_id', 'persona_id', 'webhook_url', 'completed_at']);
  sets = integers(sets, ['simulations_per_scenario']);
  await sets
    .addColumn('version_number', 'integer')
    .addColumn('pass_threshold', 'real', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('test_simulation_sets_by_age')
    .on('test_simulation_sets')
    .columns(['org_id', 'created_at', 'id'])
    .execute();
}

async function createTornado(db: Kysely<unknown>): Promise<void> {
  let sessions = tableWithId(db, 'test_tornado_sessions');
  sessions = texts(sessions, [
    'org_id',
    'pathway_id',
    'status',
    'scenario_ids',
    'unfixable_ids',
    'created_at',
  ]);
  sessions = maybe(sessions, [
    'persona_id',
    'webhook_url',
    'error_message',
    'state',
    'worker',
    'lease_until',
  ]);
  sessions = maybe(sessions, ['completed_at', 'cancel_requested_at']);
  sessions = integers(sessions, [
    'base_version',
    'current_iteration',
    'max_iterations',
    'timeout_ms',
    'seed',
  ]);
  sessions = integers(sessions, ['passed_scenarios', 'failed_scenarios']);
  await sessions.addColumn('forked_version', 'integer').execute();
  await db.schema
    .createIndex('test_tornado_active')
    .on('test_tornado_sessions')
    .columns(['pathway_id'])
    .unique()
    .where(sql.ref('status'), '=', sql.lit('RUNNING'))
    .execute();
  await db.schema
    .createIndex('test_tornado_by_age')
    .on('test_tornado_sessions')
    .columns(['org_id', 'created_at', 'id'])
    .execute();

  let iterations = db.schema
    .createTable('test_tornado_iterations')
    .addColumn('session_id', 'text', (column) => column.notNull()) as Columns<string>;
  iterations = integers(iterations, ['iteration', 'version_number']);
  iterations = texts(iterations, [
    'batch_id',
    'started_at',
    'passed_ids',
    'failed_ids',
    'newly_unfixable_ids',
  ]);
  iterations = maybe(iterations, ['completed_at', 'fix_plan', 'prompt_excerpt', 'diff']);
  await iterations
    .addColumn('avg_score', 'real')
    .addPrimaryKeyConstraint('test_tornado_iterations_key', ['session_id', 'iteration'])
    .execute();
}
