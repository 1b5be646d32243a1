import type { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Analytics, EnhancedAnalytics } from '#shared/api/agent-testing/analytics.ts';
import { storeFinishedRun } from '../../../test/kit/control/agent-testing.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { openApiOf } from '../../../test/kit/control/openapi.ts';
import { planOf } from '../../../test/kit/db/driver.ts';
import { toJson } from '../../db/index.ts';
import type { Db } from '../../db/tables.ts';
import type { FinalStatus } from '../records/write.ts';
import { listedScenario, pageOfScenarios } from '../scenarios/store.ts';
import { type DayCount, trendOf } from './rules.ts';
import { dayCounts, newestRuns, runGroups, spanOf, statusCounts, weekCounts } from './store.ts';

const base = '/v1/agent-testing';
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

let test: TestControl;
let db: Db;
let pathwayId: string;
let first: string;
let second: string;
let now: number;

beforeEach(async () => {
  test = await startControl();
  db = test.control.services.database.db;
  // 2030-02-15T12:00Z, so that windows begin in the middle of a day
  test.clock.advance(45 * dayMs + 12 * hourMs);
  now = test.clock.now();
  pathwayId = String(
    (await test.call('POST', '/v1/pathway/create', { body: { name: 'P' } })).body.pathway_id,
  );
  const nodes = ['n1', 'n2', 'n3'].map((id, index) => ({
    id,
    type: index === 2 ? 'End Call' : 'Default',
    data: { name: ['Greet', 'Ask', 'Bye'][index], text: 'x', ...(index === 0 && { isStart: true }) },
  }));
  const edges = [
    { source: 'n1', target: 'n2', data: { label: 'on' } },
    { source: 'n2', target: 'n3', data: { label: 'on' } },
  ];
  const updated = await test.call('POST', `/v1/pathway/${pathwayId}`, { body: { nodes, edges } });
  expect(updated.codes).toEqual([]);
  first = await scenario('First');
  second = await scenario('Second');
});
afterEach(() => test.close());

async function scenario(name: string): Promise<string> {
  const answer = await test.call('POST', `${base}/scenarios`, { body: { pathway_id: pathwayId, name } });
  return String(answer.body.id);
}

/** A run created this many ms ago. */
function ran(
  agoMs: number,
  status: FinalStatus,
  score: number | null = null,
  nodesVisited: string[] = ['n1', 'n2', 'n3'],
  more: { scenarioId?: string; failedNodeId?: string } = {},
): Promise<string> {
  return storeFinishedRun(db, {
    orgId: test.orgId,
    pathwayId,
    scenarioId: more.scenarioId ?? first,
    createdAt: new Date(now - agoMs).toISOString(),
    status,
    score,
    nodesVisited,
    failedNodeId: more.failedNodeId ?? nodesVisited.at(-1) ?? null,
  });
}

const get = (path: string, key = test.key) => test.call('GET', `${base}/analytics/${path}`, { key });

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
      pass_rate_interval: { low: 0.2077, high: 0.9385 },
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

describe('enhanced analytics', () => {
  it('weighs health and reliability by the formulas', async () => {
    for (let i = 0; i < 5; i++) await ran(hourMs, 'PASSED', 0.8);
    await ran(hourMs, 'FAILED', 0.2);
    for (let i = 0; i < 4; i++) await ran(hourMs, 'PASSED', 0.9, ['n1'], { scenarioId: second });
    await ran(hourMs, 'ERROR');
    const body = (await get(`${pathwayId}/enhanced`)).read(EnhancedAnalytics);
    // 9 of 10 pass: Wilson low .595850…; scores (4 + .2 + 3.6) / 10 = .78; reliability (.5 + 1) / 2
    expect(body).toMatchObject({
      total_runs: 10,
      errored: 1,
      health_components: { pass_rate_lower: 0.5958, avg_score: 0.78, reliability: 0.75 },
      health_score: 0.6973,
      reliability_score: 0.75,
    });
    expect(new Map(body.reliability_components.map((one) => [one.scenario_id, one]))).toEqual(
      new Map([
        [first, { scenario_id: first, n: 6, c: 5, value: 0.5 }],
        [second, { scenario_id: second, n: 4, c: 4, value: 1 }],
      ]),
    );
    expect(body).not.toHaveProperty('runs');
  });

  it('of many paths through the largest graphs is cut where runs were fewest, and counts every run', async () => {
    const long = Array.from({ length: 1500 }, (_, index) => `node-${index}`.padEnd(60, 'x'));
    await ran(hourMs, 'PASSED', 1, ['n1']);
    const day = '2030-02-14';
    const kind = { scenario_id: first, failed_node_id: '', scored: 0, score_sum: 0, pathway_id: pathwayId };
    for (let way = 0; way < 10_500; way += 100) {
      const ways = Array.from({ length: 100 }, (_, index) => `way ${way + index}`);
      const counted = ways.map((path_id) => ({
        ...kind,
        path_id,
        period: '2030-02',
        status: 'PASSED' as const,
        runs: 1,
      }));
      await db.insertInto('test_run_periods').values(counted).execute();
      const nodes = toJson(way < 300 ? long : ['n1', 'n2']);
      const paths = ways.map((id) => ({ id, pathway_id: pathwayId, nodes }));
      await db.insertInto('test_paths').values(paths).execute();
    }
    const counts = { pathway_id: pathwayId, day, status: 'PASSED' as const, scored: 0, score_sum: 0 };
    await db
      .insertInto('test_run_days')
      .values({ ...counts, runs: 10_500 })
      .execute();
    const { body, bytes } = await get(`${pathwayId}/enhanced`);
    expect(body).toMatchObject({
      total_runs: 10_501,
      reliability_components: [{ scenario_id: first, n: 10_501, c: 10_501 }],
      omitted: ['node_failure_heatmap', 'sankey_data'],
    });
    expect(bytes.length).toBeLessThan(7 * 1_048_576);
  });

  it('is null without runs', async () => {
    expect((await get(`${pathwayId}/enhanced`)).body.data).toEqual({
      total_runs: 0,
      passed: 0,
      failed: 0,
      errored: 0,
      cancelled: 0,
      pass_rate: null,
      pass_rate_interval: null,
      failure_rate: null,
      avg_score: null,
      health_score: null,
      health_components: { pass_rate_lower: null, avg_score: null, reliability: null },
      reliability_score: null,
      reliability_components: [],
      trend: {
        weekly: 'stable',
        recent: { rate: null, count: 0 },
        prior: { rate: null, count: 0 },
        delta: null,
        interval: null,
        daily_pass_rates: [],
      },
      node_failure_heatmap: [],
      weakest_link: null,
      sankey_data: { nodes: [], links: [] },
    });
  });

  it('shows at which node runs fail, and how they flow', async () => {
    for (let i = 0; i < 4; i++) await ran(hourMs, 'PASSED', 1, ['n1', 'n2', 'n1', 'n3']);
    await ran(hourMs, 'FAILED', 0, ['n1', 'n2'], { failedNodeId: 'n2' });
    await ran(hourMs, 'FAILED', 0, ['n1', 'n2'], { failedNodeId: 'gone' });
    await ran(hourMs, 'ERROR', null, ['n1']);
    await ran(hourMs, 'FAILED', 0, [], { scenarioId: second });
    const body = (await get(`${pathwayId}/enhanced`)).read(EnhancedAnalytics);
    expect(body.node_failure_heatmap).toEqual([
      { node_id: 'gone', node_name: 'gone', failure_count: 1, total_traversals: 1, failure_rate: 1 },
      { node_id: 'n2', node_name: 'Ask', failure_count: 1, total_traversals: 6, failure_rate: 0.1667 },
      { node_id: 'n1', node_name: 'Greet', failure_count: 0, total_traversals: 6, failure_rate: 0 },
      { node_id: 'n3', node_name: 'Bye', failure_count: 0, total_traversals: 4, failure_rate: 0 },
    ]);
    expect(body.weakest_link).toEqual({ node_id: 'n2', node_name: 'Ask', failure_rate: 0.1667 });
    const { nodes, links } = body.sankey_data;
    expect(new Map(nodes.map(({ id, ...node }) => [id, node]))).toEqual(
      new Map([
        [`scenario:${first}`, { name: 'First', type: 'scenario', category: 'scenario' }],
        [`scenario:${second}`, { name: 'Second', type: 'scenario', category: 'scenario' }],
        ['node:n1', { name: 'Greet', type: 'Default', category: 'start' }],
        ['node:n2', { name: 'Ask', type: 'Default', category: 'middle' }],
        ['node:n3', { name: 'Bye', type: 'End Call', category: 'end' }],
        ['outcome:passed', { name: 'Passed', type: 'outcome', category: 'outcome' }],
        ['outcome:failed', { name: 'Failed', type: 'outcome', category: 'outcome' }],
      ]),
    );
    const link = (source: string, target: string) => {
      const found = links.find((one) => one.source === source && one.target === target);
      return found && [found.value, found.pass_count, found.fail_count];
    };
    expect(links).toHaveLength(6);
    expect(link(`scenario:${first}`, 'node:n1')).toEqual([6, 4, 2]);
    expect(link('node:n1', 'node:n2')).toEqual([6, 4, 2]);
    expect(link('node:n2', 'node:n3')).toEqual([4, 4, 0]);
    expect(link('node:n3', 'outcome:passed')).toEqual([4, 4, 0]);
    expect(link('node:n2', 'outcome:failed')).toEqual([2, 0, 2]);
    expect(link(`scenario:${second}`, 'outcome:failed')).toEqual([1, 0, 1]);
  });

  it('compares this week with the one before, for any window, and lists the days with runs', async () => {
    for (let i = 0; i < 10; i++) await ran(dayMs, 'PASSED');
    for (let i = 0; i < 10; i++) await ran(8 * dayMs, i < 3 ? 'PASSED' : 'FAILED');
    await ran(8 * dayMs, 'ERROR');
    await ran(20 * dayMs, 'CANCELLED');
    const { body } = await get(`${pathwayId}/enhanced?days=1`);
    expect(body.trend).toEqual({
      weekly: 'improving',
      recent: { rate: 1, count: 10 },
      prior: { rate: 0.3, count: 10 },
      delta: 0.7,
      interval: { low: 0.2889, high: 0.8922 },
      daily_pass_rates: [{ date: '2030-02-14', rate: 1, count: 10 }],
    });
    expect((await get(`${pathwayId}/enhanced`)).body.trend?.daily_pass_rates).toEqual([
      { date: '2030-02-07', rate: 0.3, count: 10 },
      { date: '2030-02-14', rate: 1, count: 10 },
    ]);
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

describe('the weekly trend', () => {
  const weekly = (recent: [number, number], prior: [number, number], days: DayCount[] = []) =>
    trendOf(
      { recent: { passed: recent[0], count: recent[1] }, prior: { passed: prior[0], count: prior[1] } },
      days,
    ).weekly;

  it.each([
    ['too few runs', [4, 4], [0, 40], 'stable'],
    ['an interval that holds 0', [8, 10], [6, 10], 'stable'],
    ['a clear gain', [19, 20], [5, 20], 'improving'],
    ['a clear loss', [5, 20], [19, 20], 'declining'],
    ['a sure but small gain', [96_000, 100_000], [92_000, 100_000], 'stable'],
    ['a sure gain of just 0.05', [95_000, 100_000], [90_000, 100_000], 'improving'],
  ] as const)('with %s', (_what, recent, prior, expected) => {
    expect(weekly([...recent], [...prior])).toBe(expected);
  });
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

  it('use indexes only', async () => {
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
