/** OPTIONS probes of a real edge determine a trunk's status in the API and its active endpoint. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { createAuthority, type TestKeyPair } from '../kit/fakes/certificates.ts';
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

let system: TestSystem;
let pair: TestKeyPair;

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '1' });
  pair = await trunkPair(system);
});

afterAll(() => system?.stop());

describe('the status of a trunk', () => {
  const number = '+14155550142';
  let trunk: TestTrunk;

  beforeAll(async () => {
    trunk = await TestTrunk.listen(pair);
    await attachTrunk(system, number, trunk.port);
  });

  afterAll(() => trunk?.close());

  test('follows the probes: healthy while the peer answers, unreachable once it is gone', async () => {
    const good = await health(system, number, ({ status }) => status === 'healthy');
    expect(good.response_time_ms).toBeGreaterThanOrEqual(0);
    expect(good.endpoints).toMatchObject([
      { port: trunk.port, priority: 0, status: 'healthy', active: true },
    ]);
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
});

describe('a trunk that requires a client certificate (mTLS)', () => {
  const from = '+14155550180';
  const authority = createAuthority('Carrier');
  let trunk: TestTrunk;
  let pathway: string;

  beforeAll(async () => {
    trunk = await TestTrunk.listen(pair, 0, {
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    pathway = await byePathway(system);
    await attachTrunk(system, from, trunk.port);
  });

  afterAll(() => trunk?.close());

  async function place(to: string): Promise<string> {
    const order = { phone_number: to, from, pathway_id: pathway };
    return (await system.api.read(CallQueued, 'POST', '/v1/calls', order)).call_id;
  }

  function writePair(cert: string, key: string): void {
    const folder = join(system.folder, 'tls', 'clients');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '127.0.0.1.crt'), cert);
    writeFileSync(join(folder, '127.0.0.1.key'), key);
  }

  test('is unreachable without one, and the call log says why', async () => {
    await health(system, from, ({ status }) => status === 'unreachable');
    expect(await system.api.endedCall(await place('+14155550181'))).toMatchObject({
      status: 'failed',
      termination: 'route_unreachable',
      termination_detail: expect.stringContaining('requires a client certificate (mTLS);'),
    });
    expect(trunk.probes).toBe(0);
  });

  test('is reachable after SIGHUP has loaded one', async () => {
    const { cert, key } = authority.issue({ commonName: 'edge-7' });
    writePair(cert, key);
    process.kill(system.edge.pid, 'SIGHUP');
    await health(system, from, ({ status }) => status === 'healthy');
    const id = await place('+14155550182');
    (await trunk.call()).answer('486 Busy Here');
    expect(await system.api.endedCall(id)).toMatchObject({ sip_code: 486 });
  });

  test('stays reachable when a later pair is unusable: the log says so, and the old pair stays', async () => {
    const [{ cert }, { key }] = [authority.issue({}), authority.issue({})];
    writePair(cert, key);
    process.kill(system.edge.pid, 'SIGHUP');
    await eventually('the reason in the log', () =>
      system.edge.output.includes('127.0.0.1.key is not the key of 127.0.0.1.crt') ? true : null,
    );
    const id = await place('+14155550183');
    (await trunk.call()).answer('486 Busy Here');
    expect(await system.api.endedCall(id)).toMatchObject({ sip_code: 486 });
  });
});
