/**
 * How long analytics take over 200,000 runs of one pathway in a year: 20 scenarios, 12 ways through its nodes, and a
 * status and a failing node for each run. Answers are made as the routes make them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basicAnalytics, enhancedAnalytics } from '../../control/agent-testing/analytics.ts';
import { listScenarios } from '../../control/agent-testing/store.ts';
import { openDatabase } from '../../control/db/open.ts';
import type { PathwayRow } from '../../control/db/tables.ts';

interface AnalyticsResult {
  readonly runs: number;
  /** Rows of counted months and days. */
  readonly periodRows: number;
  /** ms of CPU, since a busy machine says nothing of ours: median and worst of 20. */
  readonly basic365: readonly [median: number, worst: number];
  readonly enhanced365: readonly [median: number, worst: number];
  readonly enhanced30: readonly [median: number, worst: number];
  readonly scenarioList: readonly [median: number, worst: number];
}

const dayMs = 24 * 60 * 60 * 1000;
const now = Date.UTC(2030, 11, 31, 12);
const scenarios = 20;

export async function runAnalyticsBench(options: { readonly runs?: number } = {}): Promise<AnalyticsResult> {
  const runs = options.runs ?? 200_000;
  const folder = mkdtempSync(join(tmpdir(), 'analytics-'));
  const database = await openDatabase(join(folder, 'control.db'));
  const { db } = database;
  try {
    await fill(database, runs);
    const { count } = await db
      .selectFrom('test_run_periods')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return {
      runs,
      periodRows: count,
      basic365: await timed(() => basicAnalytics(db, pathway, now, 365)),
      enhanced365: await timed(() => enhancedAnalytics(db, pathway, now, 365)),
      enhanced30: await timed(() => enhancedAnalytics(db, pathway, now, 30)),
      scenarioList: await timed(() => listScenarios(db, 'org', { pathway_id: pathway.id })),
    };
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

const pathway: PathwayRow = {
  id: 'pathway',
  org_id: 'org',
  name: 'Bench',
  description: null,
  nodes: JSON.stringify(
    Array.from({ length: 12 }, (_, index) => ({
      id: `n${index}`,
      type: 'Default',
      data: { name: `Node ${index}` },
    })),
  ),
  edges: '[]',
  last_version: 0,
  production_version: null,
  staging_version: null,
  publications: 0,
  created_at: '2030-01-01T00:00:00.000Z',
  updated_at: '2030-01-01T00:00:00.000Z',
};

/** Rows as finishRun leaves them, written in bulk. */
async function fill(database: Awaited<ReturnType<typeof openDatabase>>, runs: number): Promise<void> {
  await database.exclusive((connection) => {
    connection.exec('begin');
    const scenario = connection.prepare(`insert into test_scenarios (id, org_id, pathway_id, name, category,
      scenario_type, max_turns, service_tone_enabled, is_required_for_promotion, enabled, created_at, updated_at)
      values (?, 'org', 'pathway', ?, 'CUSTOM', 'AGENT', 20, 0, 0, 1, '2030-01-01', '2030-01-01')`);
    for (let index = 0; index < scenarios; index++) scenario.run(`s${index}`, `Scenario ${index}`);
    const path = connection.prepare('insert into test_paths (pathway_id, id, nodes) values (?, ?, ?)');
    for (let index = 0; index < 12; index++) {
      const nodes = Array.from({ length: index + 1 }, (_, step) => `n${step}`);
      path.run('pathway', `way${index}`, JSON.stringify(nodes));
    }
    const run = connection.prepare(`insert into test_runs (id, org_id, scenario_id, pathway_id, status,
      trigger_source, content_hash, transport, created_at, path_id, failed_node_id, version_number, seed, attempts,
      turn_count, overall_score) values (?, 'org', ?, 'pathway', ?, 'api', 'hash', 'text', ?, ?, ?, 0, 1, 1, 5, ?)`);
    for (let index = 0; index < runs; index++) {
      // Fixed, and spread: neighbours differ in everything.
      const mixed = (index * 2_654_435_761) % 4_294_967_296;
      const failed = mixed % 10 < 3;
      const status = mixed % 100 === 0 ? 'ERROR' : failed ? 'FAILED' : 'PASSED';
      const way = Math.floor(mixed / 1000) % 12;
      const created = new Date(now - 365 * dayMs + (index * 365 * dayMs) / runs).toISOString();
      const node = status === 'FAILED' ? `n${way}` : '';
      const id = String(index).padStart(12, '0');
      const score = status === 'ERROR' ? null : (mixed % 1000) / 1000;
      run.run(id, `s${Math.floor(mixed / 7) % scenarios}`, status, created, `way${way}`, node, score);
    }
    const sums = 'count(*), count(overall_score), coalesce(sum(overall_score), 0) from test_runs';
    connection.exec(`insert into test_run_days (pathway_id, day, status, runs, scored, score_sum)
      select pathway_id, substr(created_at, 1, 10), status, ${sums} group by 1, 2, 3`);
    for (const length of [7, 10]) {
      connection.exec(`insert into test_run_periods (pathway_id, period, scenario_id, path_id, failed_node_id, status,
        runs, scored, score_sum) select pathway_id, substr(created_at, 1, ${length}), scenario_id, path_id,
        failed_node_id, status, ${sums} group by 1, 2, 3, 4, 5, 6`);
    }
    connection.exec('commit');
  });
}

async function timed(work: () => Promise<unknown>): Promise<[number, number]> {
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const begun = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(begun);
    times.push((user + system) / 1000);
  }
  times.sort((a, b) => a - b);
  return [times[10] ?? 0, times.at(-1) ?? 0];
}

if (import.meta.main) console.log(await runAnalyticsBench());
