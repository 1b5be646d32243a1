/** An edge that hangs: requests that the API answered with 503 are not carried out later. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import { attachTrunk, byePathway, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';

const from = '+14155550160';
let system: TestSystem;
let trunk: TestTrunk;
let pathway: string;

beforeAll(async () => {
  system = await startTrunkSystem(
    { TRUNK_PROBE_INTERVAL_S: '3600' },
    { control: { limits: { edgeLink: { commandTimeoutMs: 2_000 } } } },
  );
  trunk = await TestTrunk.listen(await trunkPair(system));
  pathway = await byePathway(system);
  await attachTrunk(system, from, trunk.port);
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
  ),
);

const place = (phone_number: string) =>
  system.api.request('POST', '/v1/calls', { phone_number, from, pathway_id: pathway });

test('a call rejected because the edge hung is not placed, nor is one that was stopped', async () => {
  const { pid } = system.edge;
  process.kill(pid, 'SIGSTOP');
  try {
    expect((await place('+14155550161')).status).toBe(503);
    const [refused] = await system.api.calls();
    expect(refused).toMatchObject({ outcome: 'failed', termination: 'edge_unavailable' });
    expect((await system.api.request('POST', `/v1/calls/${refused?.id}/stop`)).status).toBe(503);
    const test_call = { phone_number: from, to: '1001' };
    expect((await system.api.request('POST', '/v1/sip/test-call', test_call)).status).toBe(503);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await eventually(
    'the edge to reject both orders',
    () => system.edge.output.split('a command had expired').length > 2 || null,
  );

  // The only call at the trunk.
  const answer = await eventually('a call that is accepted', async () => {
    const taken = await place('+14155550162');
    return taken.status === 200 ? taken : null;
  });
  expect(answer.status).toBe(200);
  const call = await trunk.call();
  expect(call.invite.startLine).toContain('+14155550162');
  call.answer('486 Busy Here');
  await call.expect('ACK');
  expect(trunk.waiting).toBe(0);
  const log = await system.api.calls();
  expect(log.filter(({ to }) => to === '+14155550161')).toMatchObject([
    { outcome: 'failed', termination: 'edge_unavailable' },
  ]);
});
