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
import { fillTestRuns } from './test-run-rows.ts';

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

const now = Date.UTC(2030, 11, 31, 12);

export async function runAnalyticsBench(options: { readonly runs?: number } = {}): Promise<AnalyticsResult> {
  const runs = options.runs ?? 200_000;
  const folder = mkdtempSync(join(tmpdir(), 'analytics-'));
  const database = await openDatabase(join(folder, 'control.db'));
  const { db } = database;
  try {
    await database.exclusive((connection) =>
      fillTestRuns(connection, { orgId: 'org', pathwayId: pathway.id, runs, endsAt: now }),
    );
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
