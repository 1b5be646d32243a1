import { expect, test } from 'vitest';
import { healthScene, ok } from '../../test/kit/edge/health.ts';
import { route, settle, target } from '../../test/kit/edge/trunks.ts';
import { HealthProbes, healthSettings } from './health.ts';

const scene = healthScene();
const { probes, resolve, advance } = scene;

test('probes at once, then every minute, and reports each', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a']]);
  await scene.asked[0]?.answer(ok);
  await advance(60_000);
  await scene.asked[1]?.answer({ sipCode: 503, responseTimeMs: 12 });
  await advance(60_000);
  expect(scene.asked.map(({ address, at }) => `${address} ${at}`)).toEqual(['a 0', 'a 60000', 'a 120000']);
  expect(scene.reports).toEqual([
    {
      trunk_id: 't',
      endpoint: { host: 'a', port: 5061, priority: 0 },
      at: '2030-01-01T00:00:00.000Z',
      healthy: true,
      response_time_ms: 42,
      sip_code: 200,
      error: null,
      consecutive_failures: 0,
      active: true,
    },
    {
      trunk_id: 't',
      endpoint: { host: 'a', port: 5061, priority: 0 },
      at: '2030-01-01T00:01:00.000Z',
      healthy: false,
      response_time_ms: null,
      sip_code: 503,
      error: 'answered 503',
      consecutive_failures: 1,
      active: true,
    },
  ]);
  health.stop();
});

test.each([
  [0, 54_000],
  [0.5, 60_000],
  [1, 66_000],
])('is early or late by up to a tenth (%d)', async (random, after) => {
  const { configure, health } = probes({}, random);
  await configure(['t', ['a']]);
  await scene.asked[0]?.answer(ok);
  await advance(after - 1);
  expect(scene.asked).toHaveLength(1);
  await advance(1);
  expect(scene.asked).toHaveLength(2);
  health.stop();
});

test('an endpoint without a response within five seconds is unreachable, and the next one becomes active', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b']]);
  await scene.asked[1]?.answer(ok);
  await advance(4999);
  expect(scene.reports).toHaveLength(1);
  await advance(1);
  expect(scene.reports[1]).toMatchObject({ healthy: false, error: 'timeout', active: false });
  expect(scene.failover.activePriority('t')).toBe(1);
  health.stop();
});

test('returns to the primary after three successful probes', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b']]);
  await scene.asked[1]?.answer(ok);
  await scene.asked[0]?.answer({ error: 'connection refused' });
  for (let round = 0; round < 3; round++) {
    await advance(60_000);
    for (const one of scene.asked.slice(-2)) await one.answer(ok);
  }
  const primary = scene.reports.filter(({ endpoint }) => endpoint.host === 'a');
  expect(primary.map(({ healthy, active }) => [healthy, active])).toEqual([
    [false, false],
    [true, false],
    [true, false],
    [true, true],
  ]);
  health.stop();
});

test('trunks with the same host and port share a probe and get a report each', async () => {
  const { configure, health } = probes();
  await configure(['one', ['a']], ['two', ['b', 'a']], ['three', ['A.', 'b']]);
  expect(scene.asked.map(({ address }) => address)).toEqual(['a', 'b']);
  await scene.asked[0]?.answer(ok);
  expect(
    scene.reports.map(({ trunk_id, endpoint, active }) => [trunk_id, endpoint.priority, active]),
  ).toEqual([
    ['one', 0, true],
    ['two', 1, false],
    ['three', 0, true],
  ]);
  health.stop();
});

test('an endpoint is as good as its best address, and bad addresses are remembered', async () => {
  scene.addresses = { a: ['a1', 'a2'] };
  const { configure, health } = probes();
  await configure(['t', ['a']]);
  await scene.asked[0]?.answer({ error: 'refused' });
  expect(scene.reports).toEqual([]);
  await scene.asked[1]?.answer(ok);
  expect(scene.reports).toMatchObject([{ healthy: true, sip_code: 200 }]);
  expect(scene.failover.worthTrying([target('a1'), target('a2')])).toEqual([target('a2')]);
  health.stop();
});

test('a host that cannot be resolved is reported with the reason', async () => {
  scene.addresses = { a: [] };
  const { configure, health } = probes();
  await configure(['t', ['a']]);
  expect(scene.reports).toMatchObject([{ healthy: false, error: 'a has no address' }]);
  health.stop();
});

test('a prober that throws counts as a failed probe', async () => {
  const health = new HealthProbes({
    clock: scene.clock,
    random: () => 0.5,
    failover: scene.failover,
    resolve,
    prober: { probe: () => Promise.reject(new Error('no engine')) },
    report: (one) => scene.reports.push(one),
    settings: healthSettings,
  });
  health.configure([route('t', ['a'])]);
  await settle();
  expect(scene.reports).toMatchObject([{ healthy: false, error: 'Error: no engine' }]);
  health.stop();
});

test('does not probe more endpoints in parallel than allowed; the others wait', async () => {
  const { configure, health } = probes({ concurrency: 2 });
  await configure(['t', ['a', 'b', 'c']]);
  expect(scene.asked.map(({ address }) => address)).toEqual(['a', 'b']);
  expect(health.metrics()).toMatchObject({
    trunkline_edge_trunk_probes_running: 2,
    trunkline_edge_trunk_probes_waiting: 1,
  });
  await scene.asked[0]?.answer(ok);
  expect(scene.asked.map(({ address }) => address)).toEqual(['a', 'b', 'c']);
  health.stop();
});

test('counts endpoints by status and probes by result', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b', 'c']]);
  await scene.asked[0]?.answer(ok);
  await scene.asked[1]?.answer({ error: 'refused' });
  expect(health.metrics()).toEqual({
    'trunkline_edge_trunk_endpoints{status="unchecked"}': 1,
    'trunkline_edge_trunk_endpoints{status="healthy"}': 1,
    'trunkline_edge_trunk_endpoints{status="unreachable"}': 1,
    'trunkline_edge_trunk_probes_total{result="success"}': 1,
    'trunkline_edge_trunk_probes_total{result="failure"}': 1,
    trunkline_edge_trunk_probes_running: 1,
    trunkline_edge_trunk_probes_waiting: 0,
  });
  health.stop();
});

test('stop leaves no timer and sends no more reports', async () => {
  const { configure, health } = probes({ concurrency: 2 });
  await configure(['t', ['a', 'b', 'c']]);
  await scene.asked[0]?.answer(ok);
  health.stop();
  await settle();
  expect(scene.clock.pending).toBe(0);
  await scene.asked[1]?.answer(ok);
  await scene.asked[2]?.answer(ok);
  expect(scene.reports).toHaveLength(1);
  expect(scene.asked).toHaveLength(3);
});

test('probes a few addresses behind a name at a time, and the next ones only when none of them answers', async () => {
  scene.addresses = { a: ['a1', 'a2', 'a3', 'a4', 'a5'] };
  const { configure, health } = probes({ targetsAtATime: 2 });
  const asked = () => scene.asked.map(({ address }) => address);
  await configure(['t', ['a']]);
  expect(asked()).toEqual(['a1', 'a2']);
  await scene.asked[0]?.answer({ error: 'refused' });
  await scene.asked[1]?.answer({ error: 'refused' });
  expect(asked()).toEqual(['a1', 'a2', 'a3', 'a4']);
  await scene.asked[2]?.answer({ error: 'refused' });
  await scene.asked[3]?.answer(ok);
  expect(asked()).toHaveLength(4);
  expect(scene.reports).toMatchObject([{ healthy: true, error: null }]);
  health.stop();
});

test('an endpoint none of whose addresses answers has the error of the first', async () => {
  scene.addresses = { a: ['a1', 'a2', 'a3'] };
  const { configure, health } = probes({ targetsAtATime: 2 });
  await configure(['t', ['a']]);
  await scene.asked[0]?.answer({ error: 'refused' });
  await scene.asked[1]?.answer({ error: 'certificate' });
  await scene.asked[2]?.answer({ error: 'reset' });
  expect(scene.reports).toMatchObject([{ healthy: false, error: 'refused' }]);
  health.stop();
});

test.each(['stop', 'forget', 'lose the engine'] as const)('no further addresses after: %s', async (how) => {
  scene.addresses = { a: ['a1', 'a2', 'a3'] };
  const { configure, health } = probes({ targetsAtATime: 2 });
  await configure(['t', ['a']]);
  if (how === 'stop') health.stop();
  else if (how === 'forget') await configure();
  else health.proberUp(false);
  for (const { answer } of scene.asked.slice(0, 2)) await answer({ error: 'refused' });
  await settle();
  expect(scene.asked.map(({ address }) => address)).not.toContain('a3');
  health.stop();
});
