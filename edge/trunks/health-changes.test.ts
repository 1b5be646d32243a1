/** Probes when the configuration, the active endpoint or the engine changes. */
import { expect, test } from 'vitest';
import { healthScene, ok } from '../../test/kit/edge/health.ts';
import { endpoint, route, settle, target } from '../../test/kit/edge/trunks.ts';

const scene = healthScene();
const { probes, advance } = scene;

test('a new configuration probes new endpoints, keeps the schedule of the others, and drops removed ones', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b']]);
  await scene.asked[0]?.answer(ok);
  await scene.asked[1]?.answer(ok);
  await advance(30_000);
  await configure(['t', ['a', 'c']]);
  expect(scene.asked.slice(2).map(({ address }) => address)).toEqual(['c']);
  await scene.asked[2]?.answer(ok);
  await advance(30_000);
  expect(scene.asked.slice(3).map(({ address }) => address)).toEqual(['a']);
  await advance(30_000);
  expect(scene.asked.slice(4).map(({ address }) => address)).toEqual(['c']);
  health.stop();
});

test('a new trunk at a known endpoint is probed at once', async () => {
  const { configure, health } = probes();
  await configure(['one', ['a']]);
  await scene.asked[0]?.answer(ok);
  await advance(10_000);
  await configure(['one', ['a']], ['two', ['a']]);
  await scene.asked[1]?.answer(ok);
  expect(scene.reports.map(({ trunk_id }) => trunk_id)).toEqual(['one', 'one', 'two']);
  health.stop();
});

test('probes failover endpoints that are not enabled, but never activates one', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a'], { standby: [endpoint('b', 1)] }]);
  expect(scene.asked.map(({ address }) => address)).toEqual(['a', 'b']);
  await scene.asked[0]?.answer({});
  await scene.asked[1]?.answer(ok);
  await advance(60_000);
  await scene.asked[2]?.answer({});
  await scene.asked[3]?.answer(ok);
  expect(
    scene.reports.map(({ endpoint, healthy, consecutive_failures: failures, active }) => [
      endpoint.host,
      healthy,
      failures,
      active,
    ]),
  ).toEqual([
    ['a', false, 1, true],
    ['b', true, 0, false],
    ['a', false, 2, true],
    ['b', true, 0, false],
  ]);
  expect(health.metrics()).toMatchObject({
    'trunkline_edge_trunk_endpoints{status="healthy"}': 1,
    'trunkline_edge_trunk_endpoints{status="unreachable"}': 1,
  });
  health.stop();
});

test('probes the endpoint that a trunk fails over to at once, then on schedule', async () => {
  const { configure, health } = probes();
  scene.moved = ({ trunkId, to }) => health.probeSoon(trunkId, to);
  await configure(['t', ['a', 'b']]);
  await scene.asked[0]?.answer(ok);
  await scene.asked[1]?.answer(ok);
  await advance(1000);
  scene.failover.ended(route('t', ['a', 'b']), endpoint('a'), { kind: 'no_response' });
  await settle();
  expect(scene.asked.map(({ address, at }) => `${address} ${at}`)).toEqual(['a 0', 'b 0', 'b 1000']);
  await scene.asked[2]?.answer(ok);
  expect(scene.reports.at(-1)).toMatchObject({ endpoint: { host: 'b' }, active: true });
  scene.failover.failBack('t');
  await settle();
  expect(scene.asked.slice(3).map(({ address, at }) => `${address} ${at}`)).toEqual(['a 1000']);
  await scene.asked[3]?.answer(ok);
  expect(scene.reports.at(-1)).toMatchObject({ endpoint: { host: 'a' }, active: true });
  await advance(60_000);
  expect(scene.asked).toHaveLength(6);
  health.stop();
  await settle();
  expect(scene.clock.pending).toBe(0);
});

test('needs no additional probe when a probe causes the failover', async () => {
  const { configure, health } = probes();
  scene.moved = ({ trunkId, to }) => health.probeSoon(trunkId, to);
  await configure(['t', ['a', 'b']]);
  await scene.asked[1]?.answer(ok);
  await scene.asked[0]?.answer({});
  expect(scene.asked.slice(2).map(({ address }) => address)).toEqual(['b']);
  await scene.asked[2]?.answer(ok);
  for (let round = 0; round < 3; round++) {
    await advance(60_000);
    for (const one of scene.asked.slice(-2)) await one.answer(ok);
  }
  expect(scene.failover.activePriority('t')).toBe(0);
  expect(scene.asked).toHaveLength(9);
  expect(scene.reports.filter(({ endpoint }) => endpoint.host === 'a').at(-1)).toMatchObject({
    active: true,
  });
  health.stop();
  expect(scene.clock.pending).toBe(0);
});

test('skips rounds without an engine, and probes overdue endpoints at once when it is back', async () => {
  const { configure, health } = probes();
  scene.prober.up = false;
  await configure(['t', ['a']]);
  expect(scene.asked).toEqual([]);
  scene.prober.up = true;
  health.proberUp(true);
  await settle();
  await scene.asked[0]?.answer(ok);

  await advance(60_000);
  scene.prober.up = false;
  health.proberUp(false);
  await settle();
  await scene.asked[1]?.answer({ error: 'the SIP engine is not connected' });
  await advance(600_000);
  expect(scene.asked).toHaveLength(2);
  expect(scene.reports).toHaveLength(1);

  scene.prober.up = true;
  health.proberUp(true);
  await settle();
  expect(scene.asked.map(({ at }) => at)).toEqual([0, 60_000, 660_000]);
  await scene.asked[2]?.answer({});
  expect(scene.reports.map(({ consecutive_failures: failures }) => failures)).toEqual([0, 1]);
  health.stop();
  expect(scene.clock.pending).toBe(0);
});

test('does not blame the addresses behind a name for the loss of the engine', async () => {
  const { configure, health } = probes();
  scene.addresses = { a: ['192.0.2.1', '192.0.2.2'] };
  await configure(['t', ['a']]);
  scene.prober.up = false;
  health.proberUp(false);
  await settle();
  expect(health.metrics()).toMatchObject({ trunkline_edge_trunk_probes_running: 0 });
  scene.failover.targetSeen(target('192.0.2.3', 'a'), true);
  const all = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => target(address, 'a'));
  expect(scene.failover.worthTrying(all)).toEqual(all);
  health.stop();
});

test('an endpoint removed before its turn is not probed', async () => {
  const { configure, health } = probes({ concurrency: 1 });
  await configure(['t', ['a', 'b', 'c']]);
  await configure(['t', ['a', 'c']]);
  await scene.asked[0]?.answer(ok);
  expect(scene.asked.map(({ address }) => address)).toEqual(['a', 'c']);
  expect(health.metrics()).toMatchObject({ trunkline_edge_trunk_probes_waiting: 0 });
  health.stop();
});

test('an endpoint probed out of turn keeps one timer', async () => {
  const { configure, health } = probes();
  await configure(['one', ['a']]);
  await scene.asked[0]?.answer(ok);
  await configure(['one', ['a']], ['two', ['a']]);
  await scene.asked[1]?.answer(ok);
  expect(scene.clock.pending).toBe(1);
  health.stop();
});
