/** A media worker is killed during all kinds of calls: the messages to peers, and the records. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { type Caller, callAndTalk, pickUp } from '../kit/programs/caller.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { family } from '../kit/programs/processes.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';

const number = '+14155550186';
const withFallback = '+14155550187';
const joinedTarget = '+14155550190';
const ringingTarget = '+14155550191';
const fallbackTarget = '+14155550192';
const ringingCallee = '+14155550193';
const answeredCallee = '+14155550194';
const silence = Buffer.alloc(160, 0xff);

let system: TestSystem;
let trunk: TestTrunk;
let pathway: string;
let callers: Caller[] = [];
let media: SrtpPeer[] = [];

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600', MEDIA_WORKERS: '1' });
  trunk = await TestTrunk.listen(await trunkPair(system));
  for (const one of [number, withFallback]) await attachTrunk(system, one, trunk.port, 'enable_all');
  const ask = { name: 'Ask', text: 'How can I help?', isStart: true };
  pathway = await system.api.pathway('desk', [{ id: 'ask', type: 'Default', data: ask }], []);
  await system.api.answerWith(number, { pathway_id: pathway });
  await system.api.answerWith(withFallback, {
    stream_url: 'wss://127.0.0.1:9/',
    fallback_number: fallbackTarget,
  });
  for (const one of [number, withFallback]) await system.api.applied(one);
});

afterEach(() =>
  releaseAll(
    () => media.splice(0).forEach((one) => void one.close()),
    () => Promise.all(callers.splice(0).map((caller) => caller.close())),
  ),
);

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
  ),
);

async function caller(): Promise<Caller> {
  const made = await callAndTalk(system, number);
  callers = [...callers, made];
  await made.media.play([silence, silence, silence, silence, silence]);
  return made;
}

async function answer(call: TrunkCall): Promise<void> {
  const peer = await SrtpPeer.open();
  media = [...media, peer];
  peer.connect(call.invite.body);
  call.answer('200 OK', peer.sdp());
  await call.expect('ACK');
}

/** The trunk's next call. @param to expected callee */
async function called(to: string): Promise<TrunkCall> {
  const call = await trunk.call();
  expect(call.invite.startLine).toContain(`sip:${to}@`);
  return call;
}

const idOf = async ({ callId }: Caller) =>
  (await system.api.loggedCall(callId, ({ answered_at }) => answered_at !== null)).id;

const transfer = (id: string, transfer_number: string) =>
  system.api.ok('POST', '/v1/calls/active/transfer', { call_id: id, transfer_number });

async function place(to: string): Promise<string> {
  const order = { phone_number: to, from: number, pathway_id: pathway, voicemail: { action: 'ignore' } };
  return (await system.api.read(CallQueued, 'POST', '/v1/calls', order)).call_id;
}

const legOf = (id: string) =>
  eventually(`the leg of ${id}`, async () =>
    (await system.api.calls()).find(({ parent_id }) => parent_id === id),
  );

function workerPids(): number[] {
  const { pid } = system.edge;
  return family(saw(pid) ?? 0).filter((one) => nameOf(one).startsWith('mediasoup-work'));
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8');
  } catch {
    return '';
  }
}

test('each peer is notified, and each record says that the edge failed', async () => {
  const answered = await caller();
  const answeredId = await idOf(answered);

  const joined = await caller();
  const joinedId = await idOf(joined);
  await transfer(joinedId, joinedTarget);
  const joinedPeer = await called(joinedTarget);
  await answer(joinedPeer);
  await eventually(
    'the legs to be joined',
    async () =>
      (await system.api.detail(joinedId)).transcripts.some(
        ({ text }) => text === `Transferred the call to ${joinedTarget}.`,
      ) || null,
  );

  const transferring = await caller();
  const transferringId = await idOf(transferring);
  await transfer(transferringId, ringingTarget);
  const ringingPeer = await called(ringingTarget);
  ringingPeer.answer('180 Ringing');

  const placedId = await place(answeredCallee);
  const placedPeer = await called(answeredCallee);
  await answer(placedPeer);
  await system.api.loggedCall(placedId, ({ answered_at }) => answered_at !== null);

  const dialledId = await place(ringingCallee);
  const dialledPeer = await called(ringingCallee);
  dialledPeer.answer('180 Ringing');

  const waiting = await pickUp(system);
  callers = [...callers, waiting];
  const refused = waiting.phone.invite(withFallback, waiting.media.sdp());
  const fallbackPeer = await called(fallbackTarget);
  fallbackPeer.answer('180 Ringing');
  const waitingId = (await system.api.loggedCall(waiting.callId, () => true)).id;

  const killed = workerPids();
  expect(killed).toHaveLength(1);
  for (const pid of killed) process.kill(pid, 'SIGKILL');

  for (const { phone } of [answered, joined, transferring]) await phone.expect('BYE');
  for (const peer of [joinedPeer, placedPeer]) await peer.expect('BYE');
  for (const peer of [ringingPeer, dialledPeer, fallbackPeer]) await peer.expect('CANCEL');
  expect((await refused).status).toBe(503);

  // An answered call is always `completed` (contract 3.4); other fields have who ended it and why.
  const cut = { outcome: 'completed', sip_code: 200 };
  const failed = { outcome: 'failed' };
  const expected: readonly (readonly [string, string, Partial<CallLogEntry>])[] = [
    ['answered', answeredId, cut],
    ['joined', joinedId, cut],
    ['target of the joined', (await legOf(joinedId)).id, cut],
    ['transferring', transferringId, cut],
    ['target that rang', (await legOf(transferringId)).id, { ...failed, sip_code: null }],
    ['our answered call', placedId, cut],
    ['our ringing call', dialledId, { ...failed, sip_code: null }],
    ['waiting for its fallback', waitingId, { ...failed, sip_code: 503 }],
    ['fallback target', (await legOf(waitingId)).id, { ...failed, sip_code: null }],
  ];
  for (const [what, id, ending] of expected) {
    expect(await system.api.endedCall(id), what).toMatchObject({
      ...ending,
      hangup_by: 'error',
      termination: 'media_lost',
      termination_detail: expect.stringContaining('the media worker died'),
    });
    expect(await system.api.detail(id), what).toMatchObject({
      call_ended_by: 'ERROR',
      error_message: expect.stringContaining('the media worker died'),
    });
  }
  expect(await system.busyRtpPorts()).toEqual([]);
});

test('the next calls use the new worker', async () => {
  await eventually('another media worker', () => saw(workerPids()).length === 1 || null);
  const made = await eventually('a call to be answered', () => caller().catch(() => null));
  await made.hangup();
});
