import type { CompiledQuery } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { Analytics, EnhancedAnalytics } from '#shared/api/agent-testing/analytics.ts';
import { storeFinishedRun } from '../../../test/kit/control/agent-testing.ts';
import { dayMs, hourMs, startAnalytics } from '../../../test/kit/control/analytics.ts';
import { startRoutes } from '../../../test/kit/control/harness.ts';
import { openApiOf } from '../../../test/kit/control/openapi.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { planOf } from '../../../test/kit/db/driver.ts';
import { onSqlite } from '../../../test/kit/db/test-database.ts';
import { listedScenario, pageOfScenarios } from '../scenarios/store.ts';
import {
  dayCounts,
  newestRuns,
  runGroups,
  scenarioNames,
  spanOf,
  statusCounts,
  weekCounts,
} from './store.ts';
import { contentCounts, knownScenarios } from './versions-store.ts';

const base = '/v1/agent-testing';

type Started = Awaited<ReturnType<typeof startAnalytics>>;
const test = emptiedForEach(startRoutes);
let db: Started['db'];
let pathwayId: Started['pathwayId'];
let first: Started['first'];
let second: Started['second'];
let now: Started['now'];
let ran: Started['ran'];
let get: Started['get'];
beforeEach(async () => {
  ({ db, pathwayId, first, second, now, ran, get } = await startAnalytics(test));
});

describe('basic analytics', () => {
  it('counts passed and failed runs in the window, and lists the newest runs', async () => {
    const newest = await ran(hourMs, 'PASSED', 1);
    await ran(2 * hourMs, 'FAILED', 0.5);
    await ran(3 * dayMs, 'PASSED', 0.85, ['n1'], { scenarioId: second });
    await ran(3 * dayMs, 'ERROR');
    await ran(4 * dayMs, 'CANCELLED');
    await ran(31 * dayMs, 'PASSED', 1);
    await storeFinishedRun(db, {
      orgId: test.orgId,
      pathwayId,
      scenarioId: first,
      createdAt: new Date(now).toISOString(),
    });
    const { data, errors, runs, ...totals } = (await get(pathwayId)).read(Analytics);
    expect(errors).toBeNull();
    expect(data).toEqual({ ...totals, runs });
    expect(totals).toEqual({
      total_runs: 3,
      passed: 2,
      failed: 1,
      errored: 1,
      cancelled: 1,
      pass_rate: 0.6667,
      distinct_conversations: 3,
      pass_rate_interval: { low: 0.2077, high: 0.9385 },
      pass_rate_note: null,
      failure_rate: 0.3333,
      avg_score: 0.7833,
    });
    expect(runs.map(({ status, scenario_name }) => [status, scenario_name])).toEqual([
      ['passed', 'First'],
      ['failed', 'First'],
      ...[...runs.slice(2, 4)].map(({ status, scenario_name }) => [status, scenario_name]),
      ['cancelled', 'First'],
    ]);
    expect(new Set(runs.slice(2, 4).map(({ status }) => status))).toEqual(new Set(['passed', 'error']));
    expect(runs[0]).toEqual({
      id: newest,
      scenario_id: first,
      scenario_name: 'First',
      status: 'passed',
      score: 1,
      created_at: '2030-02-15T11:00:00.000Z',
    });
  });

  it.each([
    [1, 1],
    [2, 2],
    [30, 3],
    [365, 4],
  ])('of %i days count the runs of exactly that many times 24 hours', async (days, count) => {
    await ran(dayMs, 'PASSED');
    await ran(2 * dayMs, 'PASSED');
    await ran(30 * dayMs, 'PASSED');
    await ran(30 * dayMs + 1, 'FAILED');
    expect((await get(`${pathwayId}?days=${days}`)).body.total_runs).toBe(count);
  });

  it('counts equal conversations as one sample', async () => {
    for (let i = 0; i < 3; i++) await ran(hourMs, 'PASSED', 1, ['n1'], { said: 'Hello.' });
    expect((await get(pathwayId)).body).toMatchObject({
      total_runs: 3,
      distinct_conversations: 1,
      pass_rate: 1,
      pass_rate_interval: null,
      pass_rate_note: expect.stringContaining('one and the same conversation'),
    });
    await ran(hourMs, 'FAILED', 0, ['n1'], { said: 'Who is it?' });
    // By hand: p = 3/4 of d = 2 samples, (.75 + .9604 ± 1.96 √(.09375 + .2401)) / 2.9208
    expect((await get(pathwayId)).body).toMatchObject({
      total_runs: 4,
      distinct_conversations: 2,
      pass_rate_interval: { low: 0.1979, high: 0.9733 },
      pass_rate_note: null,
    });
  });

  it('has no rates without runs', async () => {
    expect((await get(pathwayId)).body).toMatchObject({
      total_runs: 0,
      pass_rate: null,
      pass_rate_interval: null,
      failure_rate: null,
      avg_score: null,
      runs: [],
    });
  });

  it('keeps the runs and the name of a deleted scenario', async () => {
    await ran(hourMs, 'PASSED', 1, ['n1'], { scenarioId: second });
    await test.call('DELETE', `${base}/scenarios/${second}`);
    const { body } = await get(pathwayId);
    expect(body.total_runs).toBe(1);
    expect(body.runs).toMatchObject([{ scenario_name: 'Second' }]);
  });

  it('is rejected for an invalid window or pathway', async () => {
    expect((await get(`${pathwayId}?days=366`)).status).toBe(400);
    expect((await get(`${pathwayId}?days=0`)).status).toBe(400);
    for (const path of ['', '/enhanced']) {
      expect((await get(`${pathwayId}${path}`, test.foreignKey)).codes).toEqual(['PATHWAY_NOT_FOUND']);
      expect((await get(`nonsense${path}`)).codes).toEqual(['PATHWAY_NOT_FOUND']);
    }
  });
});

describe('a node', () => {
  it('that only a version has is shown by its name there; a deleted one by its id', async () => {
    const node = (id: string, name: string, more: object = {}) => ({
      id,
      type: 'Default',
      data: { name, text: 'x', ...more },
    });
    const nodes = [node('n1', 'Renamed', { isStart: true }), node('n9', 'Only here')];
    const edges = [{ source: 'n1', target: 'n9', data: { label: 'on' } }];
    await test.call('POST', `/v1/pathway/${pathwayId}/version`, { body: { name: 'v', nodes, edges } });
    await ran(hourMs, 'PASSED', 1, ['n1', 'n9', 'gone']);
    const { node_failure_heatmap: named } = (await get(`${pathwayId}/enhanced`)).read(EnhancedAnalytics);
    expect(Object.fromEntries(named.map(({ node_id, node_name }) => [node_id, node_name]))).toEqual({
      n1: 'Greet',
      n9: 'Only here',
      gone: 'gone',
    });
  });
});

describe('counted months and days', () => {
  it('agree with the runs themselves, for any window', async () => {
    const ages = Array.from(
      { length: 80 },
      (_, index) => ((index * 37) % 400) * dayMs + (index % 24) * hourMs,
    );
    for (const [index, age] of ages.entries()) {
      await ran(age, index % 3 === 0 ? 'FAILED' : 'PASSED', 0.5, index % 2 === 0 ? ['n1'] : ['n1', 'n2']);
    }
    for (const days of [1, 2, 15, 16, 31, 46, 47, 180, 365]) {
      const inside = ages.map((age, index) => ({ age, index })).filter(({ age }) => age <= days * dayMs);
      const groups = await runGroups(db, pathwayId, spanOf(now, days));
      const total = groups.reduce((sum, { runs }) => sum + runs, 0);
      const failed = groups.reduce((sum, { runs, status }) => sum + (status === 'FAILED' ? runs : 0), 0);
      expect([days, total, failed]).toEqual([
        days,
        inside.length,
        inside.filter(({ index }) => index % 3 === 0).length,
      ]);
      expect((await get(`${pathwayId}?days=${days}`)).body).toMatchObject({ total_runs: total, failed });
    }
  });
});

describe('a deleted run', () => {
  it('stays counted in whole days, and disappears from the first part of a day, the weekly trend and the list', async () => {
    const ids = [await ran(hourMs, 'PASSED', 1), await ran(2 * dayMs + 18 * hourMs, 'FAILED', 0)];
    const counts = async () => {
      const body = (await get(`${pathwayId}/enhanced?days=3`)).read(EnhancedAnalytics);
      const { daily_pass_rates, recent } = body.trend;
      const { runs } = (await get(`${pathwayId}?days=3`)).read(Analytics);
      return {
        total: body.total_runs,
        days: daily_pass_rates.map(({ count }) => count),
        recent: recent.count,
        runs: runs.length,
      };
    };
    expect(await counts()).toEqual({ total: 2, days: [1, 1], recent: 2, runs: 2 });
    for (const id of ids) {
      expect((await test.call('DELETE', `${base}/runs/${id}`)).status).toBe(200);
    }
    expect(await counts()).toEqual({ total: 1, days: [1], recent: 0, runs: 0 });
  });

  it.each(['/runs/{id}', '/batches/{id}', '/simulation-sets/{id}'])(
    'is described by DELETE %s consistently with analytics',
    async (path) => {
      const { paths = {} } = await openApiOf(test);
      const description = paths[`${base}${path}`]?.delete?.description ?? '';
      for (const words of ['whole UTC days', 'the list of runs', 'the part of a day', 'the weekly trend'])
        expect(description).toContain(words);
    },
  );
});

describe('the queries of analytics and lists', () => {
  /** The database's plan for every query of `work`. */
  async function plansOf(work: () => Promise<unknown>): Promise<string> {
    const seen: CompiledQuery[] = [];
    const executor = db.getExecutor();
    const execute = executor.executeQuery.bind(executor);
    executor.executeQuery = (query) => {
      seen.push(query);
      return execute(query);
    };
    try {
      await work();
    } finally {
      executor.executeQuery = execute;
    }
    expect(seen.length).toBeGreaterThan(0);
    const plans = [];
    for (const { sql, parameters } of seen) plans.push(...(await planOf(db, sql, parameters)));
    return plans.join('\n');
  }

  it.runIf(onSqlite)('use indexes only', async () => {
    const span = spanOf(now, 365);
    const groups = await plansOf(() => runGroups(db, pathwayId, span));
    expect(groups).toContain('SEARCH test_run_periods USING PRIMARY KEY (pathway_id=? AND period=?)');
    expect(groups).toContain(
      'SEARCH test_runs USING COVERING INDEX test_runs_of_pathway (pathway_id=? AND created_at>? AND created_at<?)',
    );
    expect(groups).not.toMatch(/SCAN test_/);
    const page = { limit: 10, offset: 0 };
    for (const work of [
      () => statusCounts(db, pathwayId, span),
      () => dayCounts(db, pathwayId, span),
      () => weekCounts(db, pathwayId, now),
      () => newestRuns(db, pathwayId, span.from),
      () => contentCounts(db, pathwayId, span.from),
      () => knownScenarios(db, test.orgId, pathwayId, ['deleted']),
      () => scenarioNames(db, test.orgId, pathwayId),
      () => pageOfScenarios(db, test.orgId, { pathway_id: pathwayId }, page),
      () => pageOfScenarios(db, test.orgId, {}, page),
    ]) {
      const plan = await plansOf(work);
      expect(plan).toContain('SEARCH');
      expect(plan).not.toMatch(/SCAN test_/);
    }
    const [id = ''] = (await pageOfScenarios(db, test.orgId, {}, page)).ids;
    const list = await plansOf(() => listedScenario(db, test.orgId, id, 1000));
    expect(list).toContain('test_runs_by_scenario_id (org_id=? AND scenario_id=?)');
  });
});
