/** Recordings as edges make and send them. */
import { expect } from 'vitest';
import { currentRecordingKey } from '../../../control/recording-keys/index.ts';
import { EdgeRecordingState } from '../../../shared/api/recordings.ts';
import { g711 } from '../../../shared/g711.ts';
import { newTimedId } from '../../../shared/ids.ts';
import { ChunkSealer, encodeHeader, frameBytes, framesPerChunk } from '../../../shared/recording/format.ts';
import { type RecordingPublicKey, wrapKey } from '../../../shared/recording/keys.ts';
import type { Answer } from '../http/answer.ts';
import type { TestControl } from './harness.ts';

/** Levels of both channels. */
export const peer = 8_000;
export const agent = -4_000;

/** Frames with a constant level on each channel. */
function audio(frames: number): Buffer {
  const both = [peer, agent].map((level) => g711.PCMU.fromLinear[level & 0xffff] ?? 0);
  return Buffer.alloc(frames * frameBytes, Buffer.from(both));
}

export interface OfEdge {
  readonly id: string;
  readonly header: Buffer;
  readonly bytes: Buffer;
}

/** What an edge has of a call: two seconds, a pause of one, and `more` frames. */
export async function recordingOf(
  test: TestControl,
  callId: string,
  { orgId = test.orgId, more = 30, end = true }: { orgId?: string; more?: number; end?: boolean } = {},
): Promise<OfEdge> {
  const key = await currentRecordingKey(test.control.services.database.db);
  if (!key) throw new Error('there is no recording key');
  test.clock.advance(1000);
  return sealedFor(key, test.clock.now(), callId, { orgId, more, end });
}

interface Sealed {
  readonly orgId: string;
  readonly more: number;
  readonly end?: boolean;
  /** Both channels of so many frames from a place of the recording on; default: constant levels. */
  readonly sound?: (at: number, frames: number) => Buffer;
}

/** @param now ms, when it began */
export function sealedFor(
  key: RecordingPublicKey,
  now: number,
  callId: string,
  { orgId, more, end = true, sound = (_, frames) => audio(frames) }: Sealed,
): OfEdge {
  const id = newTimedId(now);
  const dataKey = Buffer.alloc(32, 3);
  const header = encodeHeader({
    version: 1,
    id,
    call_id: callId,
    org_id: orgId,
    started_at: new Date(now).toISOString(),
    key: wrapKey(dataKey, key, id),
  });
  const sealer = new ChunkSealer(dataKey, id);
  const chunks: Buffer[] = [];
  for (let at = 0; at < 100; at += framesPerChunk) chunks.push(sealer.audio(at, sound(at, framesPerChunk)));
  chunks.push(sealer.mark(100, { what: 'paused' }), sealer.mark(150, { what: 'resumed' }));
  for (let at = 0; at < more; at += framesPerChunk)
    chunks.push(sealer.audio(150 + at, sound(150 + at, Math.min(framesPerChunk, more - at))));
  if (end) chunks.push(sealer.mark(150 + more, { what: 'ended' }));
  return { id, header, bytes: Buffer.concat([header, ...chunks]) };
}

export function beginRecording(test: TestControl, { header }: OfEdge, key = test.edgeToken): Promise<Answer> {
  return test.call('POST', '/v1/edge/recordings', { key, body: { header: header.toString('base64') } });
}

export function putPart(test: TestControl, id: string, at: number, bytes: Buffer): Promise<Answer> {
  return test.call('PUT', `/v1/edge/recordings/${id}?at=${at}`, {
    key: test.edgeToken,
    body: bytes,
    headers: { 'content-type': 'application/octet-stream' },
  });
}

export function completeRecording(test: TestControl, id: string): Promise<Answer> {
  return test.call('POST', `/v1/edge/recordings/${id}/complete`, { key: test.edgeToken });
}

/** Sends all of it in parts. */
export async function sendRecording(test: TestControl, recording: OfEdge, partBytes = 10_000): Promise<void> {
  expect((await beginRecording(test, recording)).status).toBe(200);
  for (let at = 0; at < recording.bytes.length; at += partBytes)
    expect((await putPart(test, recording.id, at, recording.bytes.subarray(at, at + partBytes))).status).toBe(
      200,
    );
  expect((await completeRecording(test, recording.id)).read(EdgeRecordingState).data.state).toBe('ready');
}

/** As {@link sendRecording}, to a program. */
export async function sendRecordingTo(
  url: string,
  edgeToken: string,
  { id, header, bytes }: OfEdge,
): Promise<void> {
  const ask = async (
    method: string,
    path: string,
    type?: string,
    body?: string | Uint8Array<ArrayBuffer>,
  ) => {
    const headers = { authorization: `Bearer ${edgeToken}`, ...(type && { 'content-type': type }) };
    const answer = await fetch(`${url}/v1/edge/recordings${path}`, {
      method,
      headers,
      ...(body && { body }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };
  await ask('POST', '', 'application/json', JSON.stringify({ header: header.toString('base64') }));
  await ask('PUT', `/${id}?at=0`, 'application/octet-stream', new Uint8Array(bytes));
  await ask('POST', `/${id}/complete`);
}
