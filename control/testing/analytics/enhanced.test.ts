/** Enhanced analytics: health, reliability, where runs fail, and the weekly trend. */
import { beforeEach, describe, expect, it } from 'vitest';
import { EnhancedAnalytics } from '#shared/api/agent-testing/analytics.ts';
import { dayMs, hourMs, startAnalytics } from '../../../test/kit/control/analytics.ts';
import { startRoutes } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { toJson } from '../../db/index.ts';
import { trendOf } from './rules.ts';

type Started = Awaited<ReturnType<typeof startAnalytics>>;
const test = emptiedForEach(startRoutes);
let db: Started['db'];
let pathwayId: Started['pathwayId'];
let first: Started['first'];
let second: Started['second'];
let ran: Started['ran'];
let get: Started['get'];
beforeEach(async () => {
  ({ db, pathwayId, first, second, ran, get } = await startAnalytics(test));
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
      distinct_conversations: 0,
      pass_rate_interval: null,
      pass_rate_note: 'No run has passed or failed.',
      failure_rate: null,
      avg_score: null,
      health_score: null,
      health_components: { pass_rate_lower: null, avg_score: null, reliability: null },
      reliability_score: null,
      reliability_components: [],
      trend: {
        weekly: 'stable',
        recent: { rate: null, count: 0, distinct_conversations: 0 },
        prior: { rate: null, count: 0, distinct_conversations: 0 },
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
      recent: { rate: 1, count: 10, distinct_conversations: 10 },
      prior: { rate: 0.3, count: 10, distinct_conversations: 10 },
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

describe('the weekly trend', () => {
  const week = ([passed, count, distinct = count]: [number, number, number?]) => ({
    passed,
    count,
    distinct,
  });
  const weekly = (recent: [number, number, number?], prior: [number, number, number?]) =>
    trendOf({ recent: week(recent), prior: week(prior) }, []).weekly;

  it.each([
    ['too few runs', [4, 4], [0, 40], 'stable'],
    ['an interval that holds 0', [8, 10], [6, 10], 'stable'],
    ['a clear gain', [19, 20], [5, 20], 'improving'],
    ['a clear gain of one conversation', [19, 20, 1], [5, 20, 1], 'stable'],
    ['a clear gain of too few conversations', [19, 20, 4], [5, 20, 4], 'stable'],
    ['a clear gain of five conversations', [19, 20, 5], [5, 20, 5], 'improving'],
    ['a clear loss', [5, 20], [19, 20], 'declining'],
    ['a sure but small gain', [96_000, 100_000], [92_000, 100_000], 'stable'],
    ['a sure gain of just 0.05', [95_000, 100_000], [90_000, 100_000], 'improving'],
  ] as const)('with %s', (_what, recent, prior, expected) => {
    expect(weekly([...recent], [...prior])).toBe(expected);
  });
});
