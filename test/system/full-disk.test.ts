/**
 * The disk of an edge is full: its files may not grow (RLIMIT_FSIZE, which needs no root). Calls continue, and all of
 * them are in the log when there is room again.
 */
import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Health } from '#shared/api/deployment.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

let system: TestSystem;
const callers: Caller[] = [];

beforeAll(async () => {
  system = await TestSystem.start();
});

afterEach(async () => {
  await Promise.all(callers.splice(0).map((caller) => caller.close()));
});

afterAll(() => system?.stop());

const limit = (pid: number, bytes: string) =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);

async function failing(): Promise<boolean> {
  const { edge } = (await system.api.request('GET', '/health')).read(Health);
  return edge.storage.failing.length > 0;
}

async function finished(): Promise<Caller> {
  const caller = await callAndTalk(system, system.tone.number);
  callers.push(caller);
  await caller.hangup();
  return caller;
}

test('an edge on a full disk loses no record, reports the full disk, and recovers without a restart', async () => {
  const before = await finished();
  await system.api.endedCall(before.callId);
  limit(system.edge.pid, '1');
  const during = [await finished(), await finished(), await finished()];
  await eventually('/health to name the edge', async () => (await failing()) || null);
  const logged = await system.api.calls();
  for (const { callId } of during) {
    expect(logged.filter((call) => call.call_id === callId && call.ended_at !== null)).toEqual([]);
  }
  limit(system.edge.pid, 'unlimited');
  const after = await finished();
  for (const { callId } of [...during, after]) {
    expect(await system.api.endedCall(callId)).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
  }
  const all = (await system.api.calls()).map((call) => call.call_id);
  const order = [after, ...during.toReversed(), before].map(({ callId }) => callId);
  expect(all.filter((id) => order.includes(id ?? ''))).toEqual(order);
  await eventually('/health to be well', async () => !(await failing()) || null);
});

test('a control plane on a full disk answers 503, and stores the kept reports when there is room', async () => {
  limit(system.control.pid, '1');
  const during = [await finished(), await finished()];
  await eventually('/health to be 503', async () => {
    const { status } = await system.api.request('GET', '/health');
    return status === 503 || null;
  });
  const refused = await system.api.request('POST', '/v1/pathway/create', { name: 'no room' });
  expect(refused.status).toBe(503);
  limit(system.control.pid, 'unlimited');
  await system.ready();
  for (const { callId } of during) {
    expect(await system.api.endedCall(callId)).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
    expect((await system.api.calls()).filter((call) => call.call_id === callId)).toHaveLength(1);
  }
});
