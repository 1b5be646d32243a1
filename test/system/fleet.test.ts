/** Two real edges at one control plane share probes, registrations, failover and call limits. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { Attached, NumberConfigurations } from '#shared/api/sip.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { FurtherEdge } from '../kit/programs/further-edge.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import {
  attachTrunk,
  byePathway,
  health,
  setFailover,
  startTrunkSystem,
  type TrunkHealth,
  trunkPair,
} from '../kit/programs/trunk-system.ts';
import { copiedFiles } from '../peers/copied.ts';
import { Kamailio } from '../peers/kamailio.ts';

const number = '+14155550142';
const username = 'acme-trunk';
const edge = { limits: { registration: { keepaliveMs: 1_000, retryMs: 1_000, retryMaxMs: 2_000 } } };
let system: TestSystem;
let second: FurtherEdge;
let pair: TestKeyPair;
let primary: TestTrunk;
let secondary: TestTrunk;
let pbx: Kamailio;

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '1' }, { edge });
  pair = await trunkPair(system);
  primary = await TestTrunk.listen(pair);
  secondary = await TestTrunk.listen(pair);
  await attachTrunk(system, number, primary.port);
  const port = await freeTcpPort();
  const { data } = await system.api.read(Attached, 'POST', '/v1/sip/attach', {
    phone_number: system.tone.number,
    directions: [
      {
        type: 'inbound',
        auth_mode: 'register',
        sip_endpoint: `127.0.0.1:${port}`,
        register_auth: { username, password: 'the customer chose this' },
      },
    ],
  });
  const password = data.register_password_for_pbx ?? '';
  const files = await copiedFiles(system.api, 'kamailio', system.tone.number, password);
  pbx = await Kamailio.start({ port, pair, trusted: system.ca, files });
  await registered();
});

afterAll(() =>
  releaseAll(
    () => second?.stop(),
    () => system?.stop(),
    () => pbx?.kill(),
    () => secondary?.close(),
    () => primary?.close(),
  ),
);

async function registered(): Promise<void> {
  await eventually('the registration', async () => {
    const path = `/v1/sip?phone_number=${encodeURIComponent(system.tone.number)}`;
    const { data } = await system.api.read(NumberConfigurations, 'GET', path);
    return data.configurations.some(({ registration }) => registration?.state === 'registered') || null;
  });
}

/** Ports of the edges whose Contact the PBX has. */
function bindings(): number[] {
  const bound = new Set<number>();
  for (const [, expires, port] of pbx.output.matchAll(/expires (\d+) contact <sip:[^>]*?:(\d+);/g)) {
    if (expires === '0') bound.delete(Number(port));
    else bound.add(Number(port));
  }
  return [...bound];
}

const isActive =
  (priority: number) =>
  ({ endpoints }: TrunkHealth): boolean =>
    endpoints.every((one) => one.active === (one.priority === priority));

/** The edge that probes the primary, as the API says. */
async function prober(): Promise<string | null> {
  const { endpoints } = await health(system, number, () => true);
  return endpoints.find(({ priority }) => priority === 0)?.edge_id ?? null;
}

/** The members of the fleet, once there are that many. */
function members(count: number): Promise<string[]> {
  return eventually(`a fleet of ${count}`, async () => {
    const response = await fetch(`http://127.0.0.1:${system.controlPort}/health`);
    const { edge: state } = (await response.json()) as { edge: { fleet: { members: string[] } } };
    return state.fleet.members.length === count ? state.fleet.members : null;
  });
}

test('one of two edges probes an endpoint, and the PBX has one binding', async () => {
  second = await FurtherEdge.start(system, { TRUNK_PROBE_INTERVAL_S: '1' }, edge);
  expect(await members(2)).toContain(await prober());
  await eventually('one binding', () => bindings().length === 1 || null);
});

test('the failover that a call of one edge causes is used by the other', async () => {
  const endpoint = { host: '127.0.0.1', port: secondary.port, priority: 1 };
  await setFailover(system, number, { enabled: true, endpoints: [endpoint], failback: 'manual' });
  await health(system, number, (status) => isActive(0)(status) && status.status === 'healthy');
  await primary.close();
  await health(system, number, isActive(1));
  // What control shows is of the edge that probes; the other one is told a moment later.
  for (const program of [system.edge, second.program])
    await eventually('the move of each edge', () => program.output.includes('"msg":"trunk moves"') || null);
  primary = await TestTrunk.listen(pair, primary.port);
  await eventually('a probe of the primary', () => primary.probes > 0 || null);
  // Both edges go on with the secondary, though the primary is back.
  const pathway = await byePathway(system);
  for (let turn = 0; turn < 4; turn++) {
    const order = { phone_number: `+1415555020${turn}`, from: number, pathway_id: pathway };
    const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
    (await secondary.call()).answer('486 Busy Here');
    await system.api.endedCall(call_id);
  }
  expect(primary.waiting).toBe(0);
  await setFailover(system, number, { failback_now: true });
  await health(system, number, isActive(0));
});

test('a call limit holds for the calls of both edges together', async () => {
  await system.api.ok('POST', `/v1/inbound/${number}`, { call_limits: { concurrent: 3 } });
  await system.api.applied(number);
  const pathway = await byePathway(system);
  const ids: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const order = { phone_number: `+1415555030${turn}`, from: number, pathway_id: pathway };
    ids.push((await system.api.read(CallQueued, 'POST', '/v1/calls', order)).call_id);
  }
  const ringing = [await primary.call(), await primary.call(), await primary.call()];
  const rejected = await eventually('three rejected calls', async () => {
    const ended = (await system.api.calls()).filter(
      ({ id, ended_at }) => ids.includes(id) && ended_at !== null,
    );
    return ended.length === 3 ? ended : null;
  });
  expect(rejected.map(({ termination }) => termination)).toEqual(['call_limit', 'call_limit', 'call_limit']);
  expect(primary.waiting).toBe(0);
  for (const call of ringing) call.answer('486 Busy Here');
  for (const id of ids) await system.api.endedCall(id);
  await system.api.ok('POST', `/v1/inbound/${number}`, { call_limits: null });
});

test('an edge that is killed is replaced: the other one registers and probes', async () => {
  const [bound] = bindings();
  const holdsBinding = bound === second.sipPort;
  if (holdsBinding) await second.crash();
  else await system.crashEdge();
  const heir = holdsBinding ? system.sipPort : second.sipPort;
  await members(1);
  await eventually('the binding of the other edge', () => bindings().includes(heir) || null);
  const probes = primary.probes;
  await eventually('a probe of the other edge', () => primary.probes > probes || null);
  await registered();

  // It comes back, takes over its part again, and the PBX is never without a binding; it keeps the one that it makes.
  const before = pbx.output.length;
  if (holdsBinding) await second.start(system);
  else await system.startEdge();
  await members(2);
  await eventually('the binding of the returned edge alone', () => {
    const all = bindings();
    return (all.length === 1 && all[0] === bound) || null;
  });
  const ports = [...pbx.output.slice(before).matchAll(/expires 0 contact <sip:[^>]*?:(\d+);/g)];
  expect(ports.map(([, port]) => Number(port))).toEqual([heir]);
});

test('an edge that stops hands its registration over before it removes it', async () => {
  const isFirst = await eventually('one binding', () => {
    const [only, ...others] = bindings();
    return others.length === 0 && only !== undefined ? only : null;
  });
  const stopping = isFirst === second.sipPort ? second.program : system.edge;
  const heir = isFirst === second.sipPort ? system.sipPort : second.sipPort;
  await stopping.end('SIGTERM');
  expect(bindings()).toEqual([heir]);
  const registers = [...pbx.output.matchAll(/expires (\d+) contact <sip:[^>]*?:(\d+);/g)];
  const removed = registers.findLastIndex(([, expires, port]) => expires === '0' && Number(port) === isFirst);
  const taken = registers.findIndex(
    ([, expires, port], index) => index < removed && expires !== '0' && Number(port) === heir,
  );
  expect(taken).toBeGreaterThanOrEqual(0);
});
