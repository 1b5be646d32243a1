/** Call limits of a real system: set through the API, they apply to the next call. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import { attachTrunk, byePathway, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';

const from = '+14155550170';
let system: TestSystem;
let trunk: TestTrunk;
let pathway: string;

beforeAll(async () => {
  // Longer than fifty orders and their rejections take, also on a busy machine.
  const calls = { ringTimeoutMs: 20_000 };
  system = await startTrunkSystem(
    { TRUNK_PROBE_INTERVAL_S: '3600', METRICS_PUBLIC: 'true' },
    { edge: { limits: { calls } } },
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

async function place(to: string): Promise<string> {
  const order = { phone_number: to, from, pathway_id: pathway };
  return (await system.api.read(CallQueued, 'POST', '/v1/calls', order)).call_id;
}

const limitOrganization = (call_limits: object | null) =>
  system.api.ok('PATCH', '/v1/org/settings', { call_limits });

test('a call beyond the limits of its organization fails before the INVITE, one within them is placed', async () => {
  await limitOrganization({ concurrent: 1, blocked_prefixes: ['+1900'] });
  const blocked = await system.api.endedCall(await place('+19005550100'));
  expect(blocked).toMatchObject({
    status: 'failed',
    direction: 'outbound',
    termination: 'destination_blocked',
    sip_code: null,
  });

  const first = await place('+14155550171');
  const call = await trunk.call();
  const second = await system.api.endedCall(await place('+14155550172'));
  expect(second).toMatchObject({ status: 'failed', termination: 'call_limit', hangup_by: 'error' });
  expect(trunk.waiting).toBe(0);

  call.answer('486 Busy Here');
  expect(await system.api.endedCall(first)).toMatchObject({ sip_code: 486 });
  await place('+14155550173');
  (await trunk.call()).answer('486 Busy Here');
  expect(system.edge.output).toContain('call rejected by a call limit');
});

test('a number has its own limits', async () => {
  await limitOrganization(null);
  await system.api.answerWith(from, { call_limits: { allowed_prefixes: ['+44'] } });
  await system.api.applied(from);
  expect(await system.api.endedCall(await place('+14155550174'))).toMatchObject({
    termination: 'destination_blocked',
  });
  await place('+442079460123');
  (await trunk.call()).answer('486 Busy Here');
});

async function limitNumber(concurrent: number): Promise<void> {
  await system.api.answerWith(from, { call_limits: { concurrent } });
  await system.api.applied(from);
}

test('of fifty simultaneous orders five are placed, and they free the limit after the ring time-out', async () => {
  await limitNumber(5);
  const ids = await Promise.all(
    Array.from({ length: 50 }, (_, index) => place(`+1415556${String(1000 + index)}`)),
  );
  const over = async () =>
    (await system.api.calls()).filter(({ id, ended_at }) => ids.includes(id) && ended_at !== null);
  const refused = await eventually('45 refusals', async () => {
    const found = await over();
    return found.length >= 45 ? found : null;
  });
  for (const call of refused) expect(call).toMatchObject({ termination: 'call_limit', sip_code: null });
  const rang: TrunkCall[] = [];
  for (let call = 0; call < 5; call++) rang.push(await trunk.call());
  expect(await over()).toHaveLength(45);
  expect(trunk.waiting).toBe(0);

  for (const call of rang) call.answer('180 Ringing');
  for (const call of rang) await call.expect('CANCEL');
  const ends = await Promise.all(ids.map((id) => system.api.endedCall(id)));
  expect(ends.filter(({ outcome }) => outcome === 'no_answer')).toHaveLength(5);
  const next = await place('+14155562000');
  (await trunk.call()).answer('486 Busy Here');
  expect(await system.api.endedCall(next)).toMatchObject({ sip_code: 486 });
});

test('rejected calls are counted by reason', async () => {
  const counted = (reason: string) =>
    new RegExp(`^trunkline_edge_outbound_refused_total\\{[^}]*reason="${reason}"\\} [1-9]`, 'm');
  await eventually('both reasons in /metrics', async () => {
    const metrics = await (await fetch(`${system.api.url}/metrics`)).text();
    return (counted('prefix').test(metrics) && counted('concurrent').test(metrics)) || null;
  });
});

test('killing the edge frees the limit of a ringing call', async () => {
  await limitNumber(1);
  const cut = await place('+14155562001');
  (await trunk.call()).answer('180 Ringing');
  await system.api.loggedCall(cut, ({ sip_code, outcome }) => sip_code === null && outcome === 'in_progress');
  await system.crashEdge();
  await system.startEdge();
  expect(await system.api.endedCall(cut)).toMatchObject({ hangup_by: 'error', answered_at: null });
  const next = await place('+14155562002');
  (await trunk.call()).answer('486 Busy Here');
  expect(await system.api.endedCall(next)).toMatchObject({ sip_code: 486 });
});
