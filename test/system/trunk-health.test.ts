/** OPTIONS probes of a real edge determine a trunk's status in the API and its active endpoint. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import {
  attachTrunk,
  health,
  setFailover,
  startTrunkSystem,
  type TrunkHealth,
  trunkPair,
} from '../kit/programs/trunk-system.ts';

const number = '+14155550142';
let system: TestSystem;
let trunk: TestTrunk;
let pair: TestKeyPair;

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '1' });
  pair = await trunkPair(system);
  trunk = await TestTrunk.listen(pair);
  await attachTrunk(system, number, trunk.port);
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
  ),
);

test('follows the probes: healthy while the peer answers, unreachable once it is gone', async () => {
  const good = await health(system, number, ({ status }) => status === 'healthy');
  expect(good.response_time_ms).toBeGreaterThanOrEqual(0);
  expect(good.endpoints).toMatchObject([{ port: trunk.port, priority: 0, status: 'healthy', active: true }]);
  await eventually('the second probe', () => trunk.probes >= 2 || null);

  await trunk.close();
  const bad = await health(system, number, ({ status }) => status === 'unreachable');
  expect(bad.endpoints).toMatchObject([{ port: trunk.port, status: 'unreachable' }]);
  expect(bad.endpoints[0]?.consecutive_failures).toBeGreaterThanOrEqual(1);

  trunk = await TestTrunk.listen(pair, trunk.port);
  await health(system, number, ({ status }) => status === 'healthy');
});

test('sets the active endpoint: the next while the primary is down, then the primary again', async () => {
  const second = await TestTrunk.listen(pair);
  try {
    const endpoint = { host: '127.0.0.1', port: second.port, priority: 1 };
    await setFailover(system, number, { enabled: true, endpoints: [endpoint], failback: 'auto' });
    await health(system, number, isActive(0));
    await trunk.close();
    await health(system, number, isActive(1));
    trunk = await TestTrunk.listen(pair, trunk.port);
    const back = await health(system, number, isActive(0));
    expect(back.status).toBe('healthy');
    expect(trunk.probes).toBeGreaterThanOrEqual(3);
  } finally {
    await second.close();
  }
});

/** Whether only the endpoint of that priority is the active one, of two. */
function isActive(priority: number): (status: TrunkHealth) => boolean {
  return ({ endpoints }) =>
    endpoints.length === 2 && endpoints.every((one) => one.active === (one.priority === priority));
}
