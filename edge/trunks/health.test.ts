import { beforeEach, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { endpoint, route, settle, target } from '../../test/kit/edge/trunks.ts';
import { Failover, type Move } from './failover.ts';
import { openFailoverStore } from './failover-store.ts';
import { HealthProbes, healthSettings, type ProbeOutcome } from './health.ts';
import type { Resolution, Target } from './resolve.ts';

interface Asked {
  readonly address: string;
  readonly at: number;
  answer(outcome: Partial<ProbeOutcome>): Promise<void>;
}

let clock: FakeClock;
let failover: Failover;
let asked: Asked[];
let reports: HealthProbe[];
let addresses: Record<string, readonly string[]>;
let moved: (move: Move) => void;
let start: number;
let prober: { up: boolean; probe: typeof probe };

beforeEach(() => {
  clock = new FakeClock();
  start = clock.now();
  asked = [];
  reports = [];
  moved = () => {};
  addresses = {};
  prober = { up: true, probe };
  failover = new Failover({
    clock,
    store: openFailoverStore(':memory:'),
    moved: (move) => moved(move),
    failbackAfter: 3,
    failoverAfter: 1,
    forgetAfterMs: 600_000,
  });
});

function probes(settings: Partial<typeof healthSettings> = {}, random = 0.5) {
  const health = new HealthProbes({
    clock,
    random: () => random,
    failover,
    resolve,
    prober,
    report: (one) => reports.push(one),
    settings: { ...healthSettings, ...settings },
  });
  return {
    health,
    configure: (...routes: Parameters<typeof route>[]) => {
      const configured = routes.map((args) => route(...args));
      failover.configure(configured);
      health.configure(configured);
      return settle();
    },
  };
}

async function resolve({ host, port }: { host: string; port: number }): Promise<Resolution> {
  const found = addresses[host] ?? [host];
  if (found.length === 0) return { ok: false, code: 'dns_failure', message: `${host} has no address` };
  return { ok: true, targets: found.map((address) => target(address, host, port)) };
}

function probe({ address }: Target): Promise<ProbeOutcome> {
  const { promise, resolve: settled } = Promise.withResolvers<ProbeOutcome>();
  asked.push({
    address,
    at: clock.now() - start,
    answer: (outcome) => {
      settled({ sipCode: null, responseTimeMs: null, error: null, ...outcome });
      return settle();
    },
  });
  return promise;
}

async function advance(ms: number): Promise<void> {
  clock.advance(ms);
  await settle();
}

const ok = { sipCode: 200, responseTimeMs: 41.6 };

test('probes at once, then every minute, and reports each', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a']]);
  await asked[0]?.answer(ok);
  await advance(60_000);
  await asked[1]?.answer({ sipCode: 503, responseTimeMs: 12 });
  await advance(60_000);
  expect(asked.map(({ address, at }) => `${address} ${at}`)).toEqual(['a 0', 'a 60000', 'a 120000']);
  expect(reports).toEqual([
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
  await asked[0]?.answer(ok);
  await advance(after - 1);
  expect(asked).toHaveLength(1);
  await advance(1);
  expect(asked).toHaveLength(2);
  health.stop();
});

test('an endpoint without a response within five seconds is unreachable, and the next one becomes active', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b']]);
  await asked[1]?.answer(ok);
  await advance(4999);
  expect(reports).toHaveLength(1);
  await advance(1);
  expect(reports[1]).toMatchObject({ healthy: false, error: 'timeout', active: false });
  expect(failover.activePriority('t')).toBe(1);
  health.stop();
});

test('returns to the primary after three successful probes', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b']]);
  await asked[1]?.answer(ok);
  await asked[0]?.answer({ error: 'connection refused' });
  for (let round = 0; round < 3; round++) {
    await advance(60_000);
    for (const one of asked.slice(-2)) await one.answer(ok);
  }
  const primary = reports.filter(({ endpoint }) => endpoint.host === 'a');
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
  expect(asked.map(({ address }) => address)).toEqual(['a', 'b']);
  await asked[0]?.answer(ok);
  expect(reports.map(({ trunk_id, endpoint, active }) => [trunk_id, endpoint.priority, active])).toEqual([
    ['one', 0, true],
    ['two', 1, false],
    ['three', 0, true],
  ]);
  health.stop();
});

test('an endpoint is as good as its best address, and bad addresses are remembered', async () => {
  addresses = { a: ['a1', 'a2'] };
  const { configure, health } = probes();
  await configure(['t', ['a']]);
  await asked[0]?.answer({ error: 'refused' });
  expect(reports).toEqual([]);
  await asked[1]?.answer(ok);
  expect(reports).toMatchObject([{ healthy: true, sip_code: 200 }]);
  expect(failover.worthTrying([target('a1'), target('a2')])).toEqual([target('a2')]);
  health.stop();
});

test('a host that cannot be resolved is reported with the reason', async () => {
  addresses = { a: [] };
  const { configure, health } = probes();
  await configure(['t', ['a']]);
  expect(reports).toMatchObject([{ healthy: false, error: 'a has no address' }]);
  health.stop();
});

test('a prober that throws counts as a failed probe', async () => {
  const health = new HealthProbes({
    clock,
    random: () => 0.5,
    failover,
    resolve,
    prober: { probe: () => Promise.reject(new Error('no engine')) },
    report: (one) => reports.push(one),
    settings: healthSettings,
  });
  health.configure([route('t', ['a'])]);
  await settle();
  expect(reports).toMatchObject([{ healthy: false, error: 'Error: no engine' }]);
  health.stop();
});

test('does not probe more endpoints in parallel than allowed; the others wait', async () => {
  const { configure, health } = probes({ concurrency: 2 });
  await configure(['t', ['a', 'b', 'c']]);
  expect(asked.map(({ address }) => address)).toEqual(['a', 'b']);
  expect(health.metrics()).toMatchObject({
    trunkline_edge_trunk_probes_running: 2,
    trunkline_edge_trunk_probes_waiting: 1,
  });
  await asked[0]?.answer(ok);
  expect(asked.map(({ address }) => address)).toEqual(['a', 'b', 'c']);
  health.stop();
});

test('a new configuration probes new endpoints, keeps the schedule of the others, and drops removed ones', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b']]);
  await asked[0]?.answer(ok);
  await asked[1]?.answer(ok);
  await advance(30_000);
  await configure(['t', ['a', 'c']]);
  expect(asked.slice(2).map(({ address }) => address)).toEqual(['c']);
  await asked[2]?.answer(ok);
  await advance(30_000);
  expect(asked.slice(3).map(({ address }) => address)).toEqual(['a']);
  await advance(30_000);
  expect(asked.slice(4).map(({ address }) => address)).toEqual(['c']);
  health.stop();
});

test('a new trunk at a known endpoint is probed at once', async () => {
  const { configure, health } = probes();
  await configure(['one', ['a']]);
  await asked[0]?.answer(ok);
  await advance(10_000);
  await configure(['one', ['a']], ['two', ['a']]);
  await asked[1]?.answer(ok);
  expect(reports.map(({ trunk_id }) => trunk_id)).toEqual(['one', 'one', 'two']);
  health.stop();
});

test('counts endpoints by status and probes by result', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a', 'b', 'c']]);
  await asked[0]?.answer(ok);
  await asked[1]?.answer({ error: 'refused' });
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
  await asked[0]?.answer(ok);
  health.stop();
  await settle();
  expect(clock.pending).toBe(0);
  await asked[1]?.answer(ok);
  await asked[2]?.answer(ok);
  expect(reports).toHaveLength(1);
  expect(asked).toHaveLength(3);
});

test('probes failover endpoints that are not enabled, but never activates one', async () => {
  const { configure, health } = probes();
  await configure(['t', ['a'], { standby: [endpoint('b', 1)] }]);
  expect(asked.map(({ address }) => address)).toEqual(['a', 'b']);
  await asked[0]?.answer({});
  await asked[1]?.answer(ok);
  await advance(60_000);
  await asked[2]?.answer({});
  await asked[3]?.answer(ok);
  expect(
    reports.map(({ endpoint, healthy, consecutive_failures: failures, active }) => [
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
  moved = ({ trunkId, to }) => health.probeSoon(trunkId, to);
  await configure(['t', ['a', 'b']]);
  await asked[0]?.answer(ok);
  await asked[1]?.answer(ok);
  await advance(1000);
  failover.ended(route('t', ['a', 'b']), endpoint('a'), { kind: 'no_response' });
  await settle();
  expect(asked.map(({ address, at }) => `${address} ${at}`)).toEqual(['a 0', 'b 0', 'b 1000']);
  await asked[2]?.answer(ok);
  expect(reports.at(-1)).toMatchObject({ endpoint: { host: 'b' }, active: true });
  failover.failBack('t');
  await settle();
  expect(asked.slice(3).map(({ address, at }) => `${address} ${at}`)).toEqual(['a 1000']);
  await asked[3]?.answer(ok);
  expect(reports.at(-1)).toMatchObject({ endpoint: { host: 'a' }, active: true });
  await advance(60_000);
  expect(asked).toHaveLength(6);
  health.stop();
  await settle();
  expect(clock.pending).toBe(0);
});

test('needs no additional probe when a probe causes the failover', async () => {
  const { configure, health } = probes();
  moved = ({ trunkId, to }) => health.probeSoon(trunkId, to);
  await configure(['t', ['a', 'b']]);
  await asked[1]?.answer(ok);
  await asked[0]?.answer({});
  expect(asked.slice(2).map(({ address }) => address)).toEqual(['b']);
  await asked[2]?.answer(ok);
  for (let round = 0; round < 3; round++) {
    await advance(60_000);
    for (const one of asked.slice(-2)) await one.answer(ok);
  }
  expect(failover.activePriority('t')).toBe(0);
  expect(asked).toHaveLength(9);
  expect(reports.filter(({ endpoint }) => endpoint.host === 'a').at(-1)).toMatchObject({ active: true });
  health.stop();
  expect(clock.pending).toBe(0);
});

test('skips rounds without an engine, and probes overdue endpoints at once when it is back', async () => {
  const { configure, health } = probes();
  prober.up = false;
  await configure(['t', ['a']]);
  expect(asked).toEqual([]);
  prober.up = true;
  health.proberUp(true);
  await settle();
  await asked[0]?.answer(ok);

  await advance(60_000);
  prober.up = false;
  health.proberUp(false);
  await settle();
  await asked[1]?.answer({ error: 'the SIP engine is not connected' });
  await advance(600_000);
  expect(asked).toHaveLength(2);
  expect(reports).toHaveLength(1);

  prober.up = true;
  health.proberUp(true);
  await settle();
  expect(asked.map(({ at }) => at)).toEqual([0, 60_000, 660_000]);
  await asked[2]?.answer({});
  expect(reports.map(({ consecutive_failures: failures }) => failures)).toEqual([0, 1]);
  health.stop();
  expect(clock.pending).toBe(0);
});

test('does not blame the addresses behind a name for the loss of the engine', async () => {
  const { configure, health } = probes();
  addresses = { a: ['192.0.2.1', '192.0.2.2'] };
  await configure(['t', ['a']]);
  prober.up = false;
  health.proberUp(false);
  await settle();
  expect(health.metrics()).toMatchObject({ trunkline_edge_trunk_probes_running: 0 });
  failover.targetSeen(target('192.0.2.3', 'a'), true);
  const all = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => target(address, 'a'));
  expect(failover.worthTrying(all)).toEqual(all);
  health.stop();
});

test('an endpoint removed before its turn is not probed', async () => {
  const { configure, health } = probes({ concurrency: 1 });
  await configure(['t', ['a', 'b', 'c']]);
  await configure(['t', ['a', 'c']]);
  await asked[0]?.answer(ok);
  expect(asked.map(({ address }) => address)).toEqual(['a', 'c']);
  expect(health.metrics()).toMatchObject({ trunkline_edge_trunk_probes_waiting: 0 });
  health.stop();
});

test('an endpoint probed out of turn keeps one timer', async () => {
  const { configure, health } = probes();
  await configure(['one', ['a']]);
  await asked[0]?.answer(ok);
  await configure(['one', ['a']], ['two', ['a']]);
  await asked[1]?.answer(ok);
  expect(clock.pending).toBe(1);
  health.stop();
});

test('probes no more addresses behind a name than the limit', async () => {
  addresses = { a: ['a1', 'a2', 'a3'] };
  const { configure, health } = probes({ maxTargets: 2 });
  await configure(['t', ['a']]);
  expect(asked.map(({ address }) => address)).toEqual(['a1', 'a2']);
  health.stop();
});
