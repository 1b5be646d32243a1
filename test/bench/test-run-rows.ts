/**
 * Ended test runs of a year, written in bulk as finishRun stores them: 20 scenarios, 12 paths through 12 nodes, each with
 * three results. Adjacent runs differ in everything.
 */
import type SqliteFile from 'better-sqlite3';

const dayMs = 24 * 60 * 60 * 1000;
const scenarios = 20;
const ways = 12;

export interface TestRunRows {
  readonly orgId: string;
  readonly pathwayId: string;
  readonly runs: number;
  /** ms; the first run is a year earlier. */
  readonly endsAt: number;
}

export function fillTestRuns(connection: SqliteFile.Database, rows: TestRunRows): void {
  connection.transaction(() => {
    fillScenarios(connection, rows);
    fillRuns(connection, rows);
    countRuns(connection);
  })();
}

function fillScenarios(connection: SqliteFile.Database, { orgId, pathwayId }: TestRunRows): void {
  const scenario = connection.prepare(`insert into test_scenarios (id, org_id, pathway_id, name, category,
    scenario_type, max_turns, service_tone_enabled, is_required_for_promotion, enabled, created_at, updated_at)
    values (?, ?, ?, ?, 'CUSTOM', 'AGENT', 20, 0, 0, 1, '2030-01-01', '2030-01-01')`);
  for (let index = 0; index < scenarios; index++) {
    scenario.run(scenarioId(index), orgId, pathwayId, `Scenario ${index}`);
  }
  const path = connection.prepare('insert into test_paths (pathway_id, id, nodes) values (?, ?, ?)');
  for (let index = 0; index < ways; index++) {
    const nodes = Array.from({ length: index + 1 }, (_, step) => `n${step}`);
    path.run(pathwayId, `way${index}`, JSON.stringify(nodes));
  }
}

function scenarioId(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

function fillRuns(connection: SqliteFile.Database, { orgId, pathwayId, runs, endsAt }: TestRunRows): void {
  const run = connection.prepare(`insert into test_runs (id, org_id, scenario_id, pathway_id, status,
    trigger_source, content_hash, transport, created_at, path_id, failed_node_id, version_number, seed, attempts,
    turn_count, overall_score) values (?, ?, ?, ?, ?, 'api', 'hash', 'text', ?, ?, ?, 0, 1, 1, 5, ?)`);
  const result =
    connection.prepare(`insert into test_assertion_results (run_id, place, assertion_id, type, name,
    status, passed, score, weight, is_required, reasoning, evidence) values (?, ?, ?, 'NODE_REACHED', 'Gets there',
    'PASSED', 1, 1.0, 1.0, 1, 'The node was visited.', '[{"turn":3,"quote":"You are booked. Goodbye."}]')`);
  for (let index = 0; index < runs; index++) {
    const mixed = (index * 2_654_435_761) % 4_294_967_296;
    const failed = mixed % 10 < 3;
    const status = mixed % 100 === 0 ? 'ERROR' : failed ? 'FAILED' : 'PASSED';
    const way = Math.floor(mixed / 1000) % ways;
    const created = new Date(endsAt - 365 * dayMs + (index * 365 * dayMs) / runs).toISOString();
    const node = status === 'FAILED' ? `n${way}` : '';
    const id = `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`;
    const score = status === 'ERROR' ? null : (mixed % 1000) / 1000;
    const scenario = scenarioId(Math.floor(mixed / 7) % scenarios);
    run.run(id, orgId, scenario, pathwayId, status, created, `way${way}`, node, score);
    for (let place = 0; place < 3; place++) result.run(id, place, `assertion${place}`);
  }
}

function countRuns(connection: SqliteFile.Database): void {
  const sums = 'count(*), count(overall_score), coalesce(sum(overall_score), 0) from test_runs';
  connection.exec(`insert into test_run_days (pathway_id, day, status, runs, scored, score_sum)
    select pathway_id, substr(created_at, 1, 10), status, ${sums} group by 1, 2, 3`);
  for (const length of [7, 10]) {
    connection.exec(`insert into test_run_periods (pathway_id, period, scenario_id, path_id, failed_node_id, status,
      runs, scored, score_sum) select pathway_id, substr(created_at, 1, ${length}), scenario_id, path_id,
      failed_node_id, status, ${sums} group by 1, 2, 3, 4, 5, 6`);
  }
}
