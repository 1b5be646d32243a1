/**
 * How long analytics take over 200,000 runs of one pathway in a year: 20 scenarios, 12 paths through its nodes, and a
 * status and a failing node for each run. Results are computed as in the routes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toJson } from '../../control/db/json.ts';
import { openDatabase } from '../../control/db/open.ts';
import type { PathwayRow } from '../../control/db/tables.ts';
import { basicAnalytics, enhancedAnalytics } from '../../control/testing/analytics/analytics.ts';
import { pageOfScenarios } from '../../control/testing/scenarios/store.ts';
import { type Column, grouped, markdownTable } from '../../scripts/bench/table.ts';
import { onDriver } from '../kit/db/driver.ts';
import { fillTestRuns } from './test-run-rows.ts';

interface Question {
  readonly what: string;
  /** CPU time of the process: more reliable than the clock on a shared machine. */
  readonly medianMs: number;
  readonly worstMs: number;
}

interface AnalyticsResult {
  readonly runs: number;
  /** Rows of counted months and days. */
  readonly periodRows: number;
  readonly questions: readonly Question[];
}

const now = Date.UTC(2030, 11, 31, 12);

export async function runAnalyticsBench(options: { readonly runs?: number } = {}): Promise<AnalyticsResult> {
  const runs = options.runs ?? 200_000;
  const folder = mkdtempSync(join(tmpdir(), 'analytics-'));
  const database = await openDatabase(join(folder, 'control.db'));
  const { db } = database;
  try {
    await onDriver(db, (connection) =>
      fillTestRuns(connection, { orgId: 'org', pathwayId: pathway.id, runs, endsAt: now }),
    );
    const { count } = await db
      .selectFrom('test_run_periods')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return {
      runs,
      periodRows: count,
      questions: [
        await timed('basic analytics, 365 days', () => basicAnalytics(db, pathway, now, 365)),
        await timed('enhanced analytics, 365 days', () => enhancedAnalytics(db, pathway, now, 365)),
        await timed('enhanced analytics, 30 days', () => enhancedAnalytics(db, pathway, now, 30)),
        await timed('list of scenarios', () =>
          pageOfScenarios(db, 'org', { pathway_id: pathway.id }, { limit: 100, offset: 0 }),
        ),
      ],
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
  nodes: toJson(
    Array.from({ length: 12 }, (_, index) => ({
      id: `n${index}`,
      type: 'Default',
      data: { name: `Node ${index}` },
    })),
  ),
  edges: toJson([]),
  last_version: 0,
  production_version: null,
  staging_version: null,
  publications: 0,
  created_at: '2030-01-01T00:00:00.000Z',
  updated_at: '2030-01-01T00:00:00.000Z',
};

async function timed(what: string, work: () => Promise<unknown>): Promise<Question> {
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  times.sort((one, other) => one - other);
  return { what, medianMs: times[10] ?? 0, worstMs: times.at(-1) ?? 0 };
}

export function formatAnalyticsBench({ runs, periodRows, questions }: AnalyticsResult): string {
  const columns: Column<Question>[] = [
    ['what', ({ what }) => what],
    ['median, ms CPU', ({ medianMs }) => medianMs.toFixed(1)],
    ['worst, ms CPU', ({ worstMs }) => worstMs.toFixed(1)],
  ];
  const what = `${grouped(runs)} runs of a year, counted in ${grouped(periodRows)} rows; 20 times each.`;
  return `${what}\n\n${markdownTable(columns, questions)}`;
}

if (import.meta.main) console.log(formatAnalyticsBench(await runAnalyticsBench()));
