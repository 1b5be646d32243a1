/** A change of the active endpoint is visible at once, not after the next round of probes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
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

const from = '+14155550195';
let system: TestSystem;
let pair: TestKeyPair;
let primary: TestTrunk;
let secondary: TestTrunk;
let pathway: string;

beforeAll(async () => {
  // Only the first probe of each endpoint runs during the test.
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
  pair = await trunkPair(system);
  primary = await TestTrunk.listen(pair);
  secondary = await TestTrunk.listen(pair);
  pathway = await byePathway(system);
  await attachTrunk(system, from, primary.port);
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
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

  primary = await TestTrunk.listen(pair, primary.port);
  await setFailover(system, from, { failback_now: true });
  const back = await health(system, from, (status) => isActive(0)(status) && status.status === 'healthy');
  expect(back.endpoints).toMatchObject([{ status: 'healthy' }, { status: 'healthy' }]);
  // The move is shown with the outcome of the endpoint's last probe; the next one is on its way.
  await eventually('a probe of the primary', () => primary.probes === 1 || null);
});
