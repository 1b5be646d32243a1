/** Recorded calls through all programs: from the caller's SRTP to the WAV file of the API, also after a kill of the edge. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RecordingDetails, RecordingOne } from '#shared/api/recordings.ts';
import { frequencyOf, share } from '../kit/fakes/audio.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const peerHz = 700;
const announcementHz = 1_400;

let system: TestSystem;
beforeAll(async () => {
  system = await TestSystem.start();
  const path = `/v1/inbound/${encodeURIComponent(system.tone.number)}`;
  await system.api.ok('POST', path, { recording: { mode: 'audio', announcement: 'tone' } });
  await system.api.applied(system.tone.number);
});
afterAll(() => system?.stop());

/** The call's id, once its answer is in the log. */
async function answered({ callId }: Caller): Promise<string> {
  return (await system.api.loggedCall(callId, ({ answered_at }) => answered_at !== null)).id;
}

const path = (id: string, rest = '') => `/v1/calls/${id}/recording${rest}`;

function ready(id: string): Promise<RecordingDetails> {
  return eventually('the recording in control', async () => {
    const answer = await system.api.request('GET', path(id, '/details'));
    if (answer.status !== 200) return null;
    const { recording } = answer.read(RecordingOne).data;
    return recording.state === 'ready' ? recording : null;
  });
}

/** One channel of the WAV file. */
async function channel(id: string, which: 0 | 1): Promise<Int16Array> {
  const { bytes } = await system.api.ok('GET', path(id));
  return Int16Array.from({ length: (bytes.length - 44) / 4 }, (_, i) =>
    bytes.readInt16LE(44 + 4 * i + 2 * which),
  );
}

/** Whether a tenth of a second is nearly only this tone: a busy machine may leave gaps elsewhere. */
function hasTone(samples: Int16Array, hz: number): boolean {
  for (let at = 0; at + 800 <= samples.length; at += 160) {
    const part = samples.subarray(at, at + 800);
    if (share(part, hz) > 0.9 && Math.abs(frequencyOf(part) - hz) < hz * 0.02) return true;
  }
  return false;
}

test('a call is recorded on two channels, with announcement and pause, and leaves the edge', async () => {
  const caller = await callAndTalk(system, system.tone.number);
  const id = await answered(caller);
  await caller.media.play(caller.media.toneFrames(peerHz, 60));
  await system.api.ok('POST', path(id, '/pause'));
  await caller.media.play(caller.media.toneFrames(peerHz, 30));
  await system.api.ok('POST', path(id, '/resume'));
  await caller.media.play(caller.media.toneFrames(peerHz, 30));
  await caller.hangup();
  await caller.close();
  const recording = await ready(id);
  expect(recording).toMatchObject({ call_id: id, ended: 'call_ended' });
  expect(recording.pauses).toHaveLength(1);
  const [peer, agent] = [await channel(id, 0), await channel(id, 1)];
  expect(hasTone(peer, peerHz)).toBe(true);
  expect(hasTone(agent.subarray(0, 8_000), announcementHz)).toBe(true);
  expect(hasTone(agent.subarray(8_000), system.tone.hz)).toBe(true);
  const { from_ms = 0, to_ms = 0 } = recording.pauses[0] ?? {};
  expect(to_ms - from_ms).toBeGreaterThanOrEqual(500);
  expect(peer.subarray(from_ms * 8, to_ms * 8).every((sample) => sample === 0)).toBe(true);
  await eventually('no file on the edge', () => edgeFiles().length === 0 || null);
  expect((await system.api.request('POST', path(id, '/pause'))).codes).toEqual(['CALL_NOT_ACTIVE']);
});

test('what a party of a conference says while its recording is paused is in no recording of the others', async () => {
  const [secretHz, otherHz] = [1_900, 500];
  const callers = [
    await callAndTalk(system, system.tone.number),
    await callAndTalk(system, system.tone.number),
  ] as const;
  const [speaker, listener] = callers;
  const [speakerId, listenerId] = [await answered(speaker), await answered(listener)];
  for (const call_id of [speakerId, listenerId])
    await system.api.ok('POST', '/v1/calls/active/transfer', { call_id, transfer_number: 'conference:desk' });
  const says = async (hz: number) => {
    await Promise.all([
      speaker.media.play(speaker.media.toneFrames(hz, 40)),
      listener.media.play(listener.media.toneFrames(otherHz, 40)),
    ]);
  };
  await says(peerHz);
  await system.api.ok('POST', path(speakerId, '/pause'));
  await says(secretHz);
  // What is still under way belongs to the pause.
  await says(peerHz);
  await system.api.ok('POST', path(speakerId, '/resume'));
  await says(peerHz);
  for (const caller of callers) {
    await caller.hangup();
    await caller.close();
  }
  for (const [id, which] of [
    [speakerId, 0],
    [listenerId, 1],
  ] as const) {
    expect((await ready(id)).pauses).toHaveLength(1);
    expect(hasTone(await channel(id, which), secretHz)).toBe(false);
  }
});

test('what was recorded until a kill of the edge is there, but for a second; control was away meanwhile', async () => {
  const caller = await callAndTalk(system, system.tone.number);
  const id = await answered(caller);
  await caller.media.play(caller.media.toneFrames(peerHz, 100));
  await eventually('the beginning of the recording in control, while the call goes on', async () => {
    const answer = await system.api.request('GET', path(id, '/details'));
    return answer.status === 200 && answer.read(RecordingOne).data.recording.state === 'uploading'
      ? true
      : null;
  });
  await system.control.end('SIGKILL');
  await system.crashEdge();
  await caller.close();
  expect(edgeFiles()).toHaveLength(1);
  await system.startControl();
  await system.startEdge();
  const recording = await ready(id);
  expect(recording.ended).toBe('edge_restarted');
  expect(recording.duration_ms).toBeGreaterThanOrEqual(1_000);
  expect(hasTone(await channel(id, 0), peerHz)).toBe(true);
});

/** Of recordings that are still on the edge. */
function edgeFiles(): string[] {
  return readdirSync(join(system.folder, 'recordings-waiting'));
}
