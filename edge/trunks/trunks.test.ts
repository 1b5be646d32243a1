import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { endpoint, FakeDns, route, settle, srv } from '../../test/kit/edge/trunks.ts';
import type { Move } from './failover.ts';
import { failoverMemory } from './failover-store.ts';
import type { ProbeOutcome } from './health.ts';
import { Trunks } from './trunks.ts';

const number = '+14155550100';
const to = '+14155550123';
let clock: FakeClock;
let reports: HealthProbe[];
let moves: Move[];
let trunks: Trunks;
/** Addresses that do not answer. */
let dead: Set<string>;

const dns = new FakeDns({
  a: { 'one.example.com': ['8.8.8.1'], 'two.example.com': ['8.8.8.2'], 'edge.example.com': ['8.8.8.3'] },
  srv: { '_sips._tcp.two.example.com': [srv('edge.example.com', 5081)] },
});
/** Twelve addresses: four of each of three hosts. */
const wide = new FakeDns({
  a: Object.fromEntries(
    [1, 2, 3].map((n) => [`edge${n}.example.com`, [1, 2, 3, 4].map((at) => `8.8.${n}.${at}`)]),
  ),
  srv: { '_sips._tcp.wide.example.com': [1, 2, 3].map((n) => srv(`edge${n}.example.com`, 5061, n)) },
});

beforeEach(() => {
  dead = new Set();
  clock = new FakeClock();
  reports = [];
  moves = [];
  trunks = trunksWith(dns);
});

function trunksWith(dns: FakeDns): Trunks {
  const none = parseNetworks([]);
  return new Trunks({
    clock,
    random: () => 0.5,
    store: failoverMemory(),
    dns,
    allowed: () => none,
    ca: [],
    prober: {
      probe: async ({ address }): Promise<ProbeOutcome> =>
        dead.has(address)
          ? { sipCode: null, responseTimeMs: null, error: 'refused' }
          : { sipCode: 200, responseTimeMs: 5, error: null },
    },
    report: (probe) => reports.push(probe),
    moved: (move) => moves.push(move),
  });
}

afterEach(() => trunks.close());

/** One number with one trunk over both hosts; `one` has a custom port. */
async function configure(): Promise<void> {
  const both = { endpoints: [endpoint('one.example.com', 0, 5071), endpoint('two.example.com', 1)] };
  trunks.configure([{ number, outbound: [route('t', [], both)] }]);
  await settle();
}

test('a custom port is used as it is; with the default port SRV decides', async () => {
  await configure();
  const hunt = trunks.hunt(number, to);
  expect((await hunt?.next())?.target).toMatchObject({ address: '8.8.8.1', port: 5071 });
  hunt?.ended({ kind: 'no_response' });
  expect((await hunt?.next())?.target).toEqual({
    host: 'edge.example.com',
    address: '8.8.8.3',
    port: 5081,
    serverName: 'two.example.com',
  });
});

test('probes and calls share their observations', async () => {
  dead.add('8.8.8.1');
  await configure();
  expect(reports.map((probe) => [probe.endpoint.host, probe.healthy])).toEqual([
    ['one.example.com', false],
    ['two.example.com', true],
  ]);
  const hunt = trunks.hunt(number, to);
  expect((await hunt?.next())?.endpoint.host).toBe('two.example.com');
  expect([trunks.activePriority('t'), moves]).toEqual([0, []]);
  clock.advance(70_000);
  await settle();
  expect(trunks.activePriority('t')).toBe(1);
  expect(moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause: 'probe' }]);
  trunks.failBack('t');
  expect(trunks.activePriority('t')).toBe(0);
  expect(trunks.metrics()).toMatchObject({ 'trunkline_edge_trunk_probes_total{result="failure"}': 2 });
});

test('a hunt over one configuration ignores the others', async () => {
  const outbound = [route('t', ['8.8.8.1']), route('u', ['8.8.8.2'], { priority: 2 })];
  trunks.configure([{ number, outbound }]);
  await settle();
  const hunt = trunks.huntOver(number, 'u');
  expect((await hunt?.next())?.route.trunkId).toBe('u');
  expect(hunt?.ended({ kind: 'no_response' })).toEqual({ movesOn: true });
  expect(await hunt?.next()).toBeNull();
  expect(trunks.huntOver(number, 'v')).toBeNull();
});

test('a number without outbound configuration has no hunt', () => {
  expect(trunks.hunt('+14155550199', to)).toBeNull();
});

test('a discovery checks its target', async () => {
  const result = await trunks.discover({ host: '10.0.0.1', port: null, transport: null });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'TARGET_NOT_ALLOWED' } });
});

test('close ends probing, leaves no timer, and may be called twice', async () => {
  await configure();
  trunks.close();
  trunks.close();
  expect(clock.pending).toBe(0);
});

test('a SIP URI at a host of the number uses its configuration, another one is resolved directly', async () => {
  await configure();
  const own = trunks.hunt(number, 'sip:201@one.example.com');
  expect((await own?.next())?.route.trunkId).toBe('t');
  const foreign = trunks.hunt(number, 'sip:201@edge.example.com:5099');
  expect(await foreign?.next()).toMatchObject({
    route: { trunkId: null, credentials: null },
    target: { address: '8.8.8.3', port: 5099, serverName: 'edge.example.com' },
  });
  expect(trunks.hunt(number, 'sip:root@10.0.0.1')?.forbidden).toContain('private');
  expect(trunks.hunt(number, 'sip:201@edge.example.com;transport=udp')).toBeNull();
});

test('a transferred call stays on the configuration that it used', async () => {
  const [one, two] = [route('one', ['one.example.com']), route('two', ['two.example.com'], { priority: 2 })];
  trunks.configure([{ number, outbound: [one, two] }]);
  await settle();
  expect((await trunks.hunt(number, to, 'two')?.next())?.route.trunkId).toBe('two');
  expect((await trunks.hunt(number, to, 'inbound')?.next())?.route.trunkId).toBe('one');
  expect(trunks.referTarget(number, '201', 'two')?.uri).toBe('sip:201@two.example.com:5061;transport=tls');
  expect(trunks.followable(number, 'two', 'sip:201@one.example.com', null, false).allowed).toBe(false);
});

test('a configuration after close changes nothing', () => {
  trunks.close();
  expect(() => trunks.configure([])).not.toThrow();
});

test('a name of twelve addresses, the last of which answers, is healthy, and calls use that one at once', async () => {
  await trunks.close();
  trunks = trunksWith(wide);
  for (const n of [1, 2, 3]) for (const at of [1, 2, 3, 4]) dead.add(`8.8.${n}.${at}`);
  dead.delete('8.8.3.4');
  trunks.configure([{ number, outbound: [route('t', ['wide.example.com'])] }]);
  await settle();
  expect(reports).toMatchObject([{ healthy: true }]);
  expect(await trunks.hunt(number, to)?.next()).toMatchObject({ target: { address: '8.8.3.4' } });
});

test.each(['a trunk', 'a SIP URI'])(
  'a call over %s tries eight addresses of a name that is down',
  async (what) => {
    await trunks.close();
    trunks = trunksWith(wide);
    const over = what === 'a trunk' ? to : 'sip:desk@wide.example.com';
    if (what === 'a trunk') trunks.configure([{ number, outbound: [route('t', ['wide.example.com'])] }]);
    const hunt = trunks.hunt(number, over);
    let tried = 0;
    for (let hop = await hunt?.next(); hop; hop = await hunt?.next()) {
      tried += 1;
      hunt?.ended({ kind: 'no_response' });
    }
    expect(tried).toBe(8);
  },
);
