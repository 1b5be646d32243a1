/** A trunk that requires a client certificate (mTLS). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import {
  attachTrunk,
  byePathway,
  health,
  startTrunkSystem,
  trunkPair,
} from '../kit/programs/trunk-system.ts';

const from = '+14155550180';
const authority = createAuthority('Carrier');
let system: TestSystem;
let trunk: TestTrunk;
let pathway: string;

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '1' });
  trunk = await TestTrunk.listen(await trunkPair(system), 0, {
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  pathway = await byePathway(system);
  await attachTrunk(system, from, trunk.port);
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
  ),
);

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
