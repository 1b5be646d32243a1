/**
 * Programs that are killed at bad moments, hang, have a full disk or get their data from a backup: every ended call is in
 * the log exactly once, and those that were up go on or are closed.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Health } from '#shared/api/deployment.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { longTest } from '../kit/long-test.ts';
import { builtProgram } from '../kit/programs/built-programs.ts';
import { type Caller, callAndTalk, pickUp } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'crash-'));
let system: TestSystem;
const callers: Caller[] = [];

beforeAll(async () => {
  system = await TestSystem.start();
});

afterEach(async () => {
  await Promise.all(callers.splice(0).map((caller) => caller.close()));
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => rmSync(folder, { recursive: true }),
  ),
);

async function answered(): Promise<Caller> {
  const caller = await callAndTalk(system, system.tone.number);
  callers.push(caller);
  return caller;
}

async function finished(): Promise<Caller> {
  const caller = await answered();
  await caller.hangup();
  return caller;
}

/** Kills the edge with all its children, as a power cut would, and restarts it. */
async function crashEdge(): Promise<void> {
  await system.crashEdge();
  await system.startEdge();
}

async function crashControl(): Promise<void> {
  await system.control.end('SIGKILL');
  await system.startControl();
  await system.ready();
}

/** Checks that the log has exactly one entry for a call, with an end. */
async function onlyEntry(caller: Caller): Promise<CallLogEntry> {
  await system.api.endedCall(caller.callId);
  const entries = (await system.api.calls()).filter(({ call_id }) => call_id === caller.callId);
  expect(entries).toHaveLength(1);
  return entries[0] as CallLogEntry;
}

test('the edge is killed while one call is up and others have just ended', async () => {
  const early = await finished();
  const live = await answered();
  const late = await finished();
  await crashEdge();
  for (const caller of [early, late]) expect(await onlyEntry(caller)).toMatchObject({ outcome: 'completed' });
  const cut = await onlyEntry(live);
  expect(cut).toMatchObject({ outcome: 'completed', sip_code: 200, hangup_by: 'error' });
  expect((await system.api.detail(cut.id)).error_message).toContain('edge');
});

test('the edge is killed at the moment of a BYE', async () => {
  const caller = await answered();
  // The 200 is on the wire a moment before the edge has its record.
  await eventually('the answer in the call log', async () => {
    const entry = (await system.api.calls()).find(({ call_id }) => call_id === caller.callId);
    return entry?.answered_at ?? null;
  });
  const bye = caller.hangup().catch(() => undefined);
  await crashEdge();
  await bye;
  expect(await onlyEntry(caller)).toMatchObject({ outcome: 'completed' });
});

test('the edge is killed between INVITE and answer, and leaves no call that never ends', async () => {
  const caller = await pickUp(system);
  callers.push(caller);
  const invite = caller.phone.invite(system.tone.number, caller.media.sdp()).catch(() => undefined);
  await eventually('a provisional response', () => caller.phone.received[0]);
  await crashEdge();
  await invite;
  const entries = (await system.api.calls()).filter(({ call_id }) => call_id === caller.callId);
  expect(entries.length).toBeLessThanOrEqual(1);
  if (entries.length === 1) await onlyEntry(caller);
});

longTest('the edge is killed twice in a row with calls up', async () => {
  const cut: Caller[] = [];
  for (let round = 0; round < 2; round++) {
    cut.push(await answered(), await answered());
    await crashEdge();
  }
  for (const caller of cut) expect(await onlyEntry(caller)).toMatchObject({ hangup_by: 'error' });
});

test('control is killed while calls are up: they continue, and their end is in the log', async () => {
  const before = await answered();
  await system.control.end('SIGKILL');
  const during = await answered();
  await before.hangup();
  await system.startControl();
  await system.ready();
  await during.hangup();
  for (const caller of [before, during]) {
    expect(await onlyEntry(caller)).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
  }
});

test('control is killed when a report arrives', async () => {
  const done: Caller[] = [];
  for (let round = 0; round < 3; round++) {
    done.push(await finished());
    await crashControl();
  }
  for (const caller of done) expect(await onlyEntry(caller)).toMatchObject({ outcome: 'completed' });
});

longTest('both are killed at once', async () => {
  const done = await finished();
  const live = await answered();
  await Promise.all([system.edge.end('SIGKILL'), system.control.end('SIGKILL')]);
  await system.startControl();
  await system.startEdge();
  expect(await onlyEntry(done)).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
  expect(await onlyEntry(live)).toMatchObject({ hangup_by: 'error' });
});

/** It keeps its connections open and answers nothing. */
test('an engine that hangs is noticed: its calls end, /health is 503, and both recover when it goes on', async () => {
  const caller = await callAndTalk(system, system.tone.number);
  const engine = system.enginePid;
  process.kill(engine, 'SIGSTOP');
  try {
    expect(await system.api.endedCall(caller.callId)).toMatchObject({ termination: 'engine_lost' });
    await eventually('/health to be 503', async () => (await system.health()) === 503 || null);
  } finally {
    process.kill(engine, 'SIGCONT');
    await caller.close();
  }
  await system.ready();
  const next = await callAndTalk(system, system.tone.number);
  await next.media.heard(25);
  await next.hangup();
  expect(await system.api.endedCall(next.callId)).toMatchObject({ outcome: 'completed' });
  await next.close();
});

/** Its files may not grow (RLIMIT_FSIZE, which needs no root). */
const limit = (pid: number, bytes: string) =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);

async function failing(): Promise<boolean> {
  const { edge } = (await system.api.request('GET', '/health')).read(Health);
  return edge.storage.failing.length > 0;
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

/** Answered, also in the log. */
async function inLog(): Promise<Caller> {
  const caller = await answered();
  await system.api.loggedCall(caller.callId, ({ answered_at }) => answered_at !== null);
  return caller;
}

function run(name: 'backup' | 'restore', ...args: readonly string[]) {
  const { file, compiled } = builtProgram(join(import.meta.dirname, '..', '..', 'control', `${name}.ts`));
  const { PATH } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE: compiled, NODE_NO_WARNINGS: '1', TRUNKLINE_DATA: system.folder };
  return promisify(execFile)(process.execPath, [file, ...args], { env });
}

test('a call whose end is not in a backup that is restored ends as lost; one that is up goes on', async () => {
  const [ended, standing] = [await inLog(), await inLog()];
  const backup = join(folder, 'backup');
  await run('backup', backup);
  await ended.hangup();
  expect(await system.api.endedCall(ended.callId)).toMatchObject({ hangup_by: 'peer' });
  await system.control.end('SIGTERM');
  await run('restore', backup, '--force');
  await system.startControl();
  await system.ready();
  expect(await system.api.endedCall(ended.callId)).toMatchObject({
    outcome: 'completed',
    termination: 'end_lost',
    hangup_by: 'error',
  });
  expect(await system.api.loggedCall(standing.callId, () => true)).toMatchObject({ ended_at: null });
  await standing.hangup();
  expect(await system.api.endedCall(standing.callId)).toMatchObject({
    outcome: 'completed',
    hangup_by: 'peer',
  });
});
