/**
 * kill -9 of either side at bad moments: every ended call is in the log exactly once, and the restarted edge closes
 * those that were up.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { longTest } from '../kit/long-test.ts';
import { type Caller, callAndTalk, pickUp } from '../kit/programs/caller.ts';
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
