/** The endpoints of a trunk, and the targets of its name: which of them gets a call, and what the API shows of that. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import { issue, type TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import {
  attachDirections,
  attachTrunk,
  byePathway,
  health,
  setFailover,
  startTrunkSystem,
  type TrunkHealth,
  trunkAuthority,
  trunkPair,
} from '../kit/programs/trunk-system.ts';
import { Dnsmasq } from '../peers/dnsmasq.ts';

let dns: Dnsmasq;
let system: TestSystem;
let ownPair: TestKeyPair;
let pathway: string;
const ports = { heavy: 0, light: 0, last: 0 };

beforeAll(async () => {
  for (const name of ['heavy', 'light', 'last'] as const) ports[name] = await freeTcpPort();
  dns = await Dnsmasq.start([
    '--host-record=heavy.test,127.0.0.1',
    '--host-record=light.test,127.0.0.1',
    '--host-record=last.test,127.0.0.1',
    `--srv-host=_sips._tcp.carrier.test,last.test,${ports.last},20,100`,
    // RFC 2782: of the same priority, one of weight 0 comes first about once in 65,536 times.
    `--srv-host=_sips._tcp.carrier.test,light.test,${ports.light},10,0`,
    `--srv-host=_sips._tcp.carrier.test,heavy.test,${ports.heavy},10,65535`,
  ]);
  // Only the first probe of each endpoint runs during the tests.
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' }, { edge: { dnsServers: [dns.server] } });
  ownPair = await trunkPair(system);
  pathway = await byePathway(system);
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => dns?.close(),
  ),
);

/** It is visible at once, not after the next round of probes. */
describe('a change of the active endpoint', () => {
  const from = '+14155550195';
  let primary: TestTrunk;
  let secondary: TestTrunk;

  beforeAll(async () => {
    primary = await TestTrunk.listen(ownPair);
    secondary = await TestTrunk.listen(ownPair);
    await attachTrunk(system, from, primary.port);
  });

  afterAll(() =>
    releaseAll(
      () => secondary?.close(),
      () => primary?.close(),
    ),
  );

  const isActive =
    (priority: number) =>
    ({ endpoints }: TrunkHealth): boolean =>
      endpoints.every((one) => one.active === (one.priority === priority));

  test('failover endpoints are also probed while failover is disabled', async () => {
    const endpoint = { host: '127.0.0.1', port: secondary.port, priority: 1 };
    await setFailover(system, from, { enabled: false, endpoints: [endpoint], failback: 'manual' });
    const { endpoints } = await health(system, from, ({ endpoints }) =>
      endpoints.every(({ status }) => status === 'healthy'),
    );
    expect(endpoints).toMatchObject([
      { priority: 0, active: true },
      { priority: 1, active: false },
    ]);
    expect(secondary.probes).toBe(1);
  });

  test('a call that detects a dead primary activates the other endpoint, and failback the primary', async () => {
    await setFailover(system, from, { enabled: true });
    await primary.close();
    const order = { phone_number: '+14155550196', from, pathway_id: pathway };
    const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
    (await secondary.call()).answer('486 Busy Here');
    await system.api.endedCall(call_id);
    await health(system, from, isActive(1));

    primary = await TestTrunk.listen(ownPair, primary.port);
    await setFailover(system, from, { failback_now: true });
    const back = await health(system, from, (status) => isActive(0)(status) && status.status === 'healthy');
    expect(back.endpoints).toMatchObject([{ status: 'healthy' }, { status: 'healthy' }]);
    // The move is shown with the outcome of the endpoint's last probe; the next one is on its way.
    await eventually('a probe of the primary', () => primary.probes === 1 || null);
  });
});

/** A real name server gives its targets and their order (RFC 3263, RFC 2782). */
describe('a trunk configured by name', () => {
  const number = '+14155550186';
  /** The targets of the name in SRV order, and the failover endpoint. */
  let heavy: TestTrunk;
  let light: TestTrunk;
  let last: TestTrunk;
  let secondary: TestTrunk;

  beforeAll(async () => {
    // RFC 5922: the configured name, with any target from DNS.
    const pair = issue(await trunkAuthority(system), { names: ['DNS:carrier.test'] });
    heavy = await TestTrunk.listen(pair, ports.heavy);
    light = await TestTrunk.listen(pair, ports.light);
    last = await TestTrunk.listen(pair, ports.last);
    secondary = await TestTrunk.listen(ownPair);
    await attachDirections(system, number, [{ type: 'outbound', sip_endpoint: 'carrier.test' }]);
    const endpoint = { host: '127.0.0.1', port: secondary.port, priority: 1 };
    await setFailover(system, number, { enabled: true, endpoints: [endpoint], failback: 'manual' });
    await health(system, number, ({ endpoints }) => endpoints.every(({ status }) => status === 'healthy'));
  });

  afterAll(async () => {
    for (const trunk of [heavy, light, last, secondary]) await trunk?.close();
  });

  /** Calls, gets busy from `trunk`, and returns the targets tried before. */
  async function triedBefore(trunk: TestTrunk, to: string): Promise<FailoverAttempt[]> {
    const order = { phone_number: to, from: number, pathway_id: pathway };
    const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
    const call = await trunk.call();
    expect(call.invite.startLine).toContain(trunk === secondary ? '@127.0.0.1' : '@carrier.test');
    call.answer('486 Busy Here');
    const ended = await system.api.endedCall(call_id);
    expect(ended).toMatchObject({ outcome: 'busy', sip_code: 486 });
    return ended.failover_attempts;
  }

  const tried = (name: keyof typeof ports) =>
    expect.objectContaining({
      host: `${name}.test`,
      port: ports[name],
      priority: 0,
      error: expect.stringMatching(/^unreachable: .*(refused|connection lost)/),
    });

  test('the target with the best priority and the highest weight is called first', async () => {
    expect(await triedBefore(heavy, '+14155550187')).toEqual([]);
  });

  test('after a dead target the call tries the other one of its priority, within the endpoint', async () => {
    await heavy.close();
    expect(await triedBefore(light, '+14155550188')).toEqual([tried('heavy')]);
    const { endpoints } = await health(system, number, () => true);
    expect(endpoints).toMatchObject([{ priority: 0, active: true }, { priority: 1 }]);
  });

  test('with both dead, the next priority gets the call; known dead targets cost no time', async () => {
    await light.close();
    expect(await triedBefore(last, '+14155550189')).toEqual([tried('light')]);
    expect(await triedBefore(last, '+14155550190')).toEqual([]);
  });

  test('with all targets dead, the call uses the failover endpoint, and the next call uses it at once', async () => {
    await last.close();
    expect(await triedBefore(secondary, '+14155550191')).toEqual([tried('last')]);
    expect(await triedBefore(secondary, '+14155550192')).toEqual([
      expect.objectContaining({
        host: 'carrier.test',
        priority: 0,
        error: 'unreachable: failed the last probe or call',
      }),
    ]);
  });

  test('a name that does not exist fails with an explanation', async () => {
    const other = '+14155550193';
    await attachDirections(system, other, [{ type: 'outbound', sip_endpoint: 'nowhere.test' }]);
    const order = { phone_number: '+14155550194', from: other, pathway_id: pathway };
    const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
    expect(await system.api.endedCall(call_id)).toMatchObject({
      outcome: 'failed',
      termination: 'route_unreachable',
      failover_attempts: [{ host: 'nowhere.test', error: 'unreachable: nowhere.test has no address' }],
    });
  });
});
