import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EdgeRecordingState, RecordingList, RecordingOne, RecordingPeaks } from '#shared/api/recordings.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import {
  agent,
  beginRecording,
  completeRecording,
  type OfEdge,
  peer,
  putPart,
  recordingOf,
  sendRecording,
} from '../../test/kit/control/recording-of-edge.ts';
import { currentRecordingKey, rotateRecordingKey } from '../recording-keys/index.ts';
import { pruneOld } from '../retention.ts';
import { findRecording } from './store.ts';
import { UnfinishedRecordings } from './unfinished.ts';

const folder = mkdtempSync(join(tmpdir(), 'recordings-'));
let test: TestControl;
beforeAll(async () => {
  // Longer than what a test lets keys age: control itself deletes what is older, too, whenever the clock is advanced.
  test = await startControl({ TRUNKLINE_DATA: folder, RETENTION_DAYS: 'recordings=400' });
});
afterAll(async () => {
  await test.close();
  rmSync(folder, { recursive: true });
});

let callNumber = 0;
let callId: string;
beforeEach(() => {
  callId = `call-${callNumber++}`;
});

const dayMs = 24 * 60 * 60 * 1000;

const recordingOfEdge = (orgId = test.orgId, more = 30, end = true) =>
  recordingOf(test, callId, { orgId, more, end });

const begin = (recording: OfEdge, key?: string) => beginRecording(test, recording, key);
const put = (id: string, at: number, bytes: Buffer) => putPart(test, id, at, bytes);
const complete = (id: string) => completeRecording(test, id);
const send = (recording: OfEdge) => sendRecording(test, recording);

const wav = (headers: Record<string, string> = {}, key = test.key) =>
  test.call('GET', `/v1/calls/${callId}/recording`, { headers, key });
const details = async () =>
  (await test.call('GET', `/v1/calls/${callId}/recording/details`)).read(RecordingOne).data.recording;

describe('a recording that an edge has sent', () => {
  it('is a WAV file of both sides, with silence where it was paused', async () => {
    await send(await recordingOfEdge());
    const { status, headers, bytes } = await wav();
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('audio/wav');
    expect(bytes.length).toBe(44 + 180 * 640);
    expect(bytes.subarray(0, 4).toString()).toBe('RIFF');
    expect(bytes.readUInt32LE(40)).toBe(180 * 640);
    const sample = (frame: number, channel: number) => bytes.readInt16LE(44 + frame * 640 + 2 * channel);
    for (const frame of [0, 99, 150, 179]) {
      expect(Math.abs(sample(frame, 0) - peer)).toBeLessThan(300);
      expect(Math.abs(sample(frame, 1) - agent)).toBeLessThan(200);
    }
    for (const frame of [100, 149]) expect([sample(frame, 0), sample(frame, 1)]).toEqual([0, 0]);
    expect(await details()).toMatchObject({
      call_id: callId,
      state: 'ready',
      ended: 'call_ended',
      duration_ms: 3_600,
      size: 44 + 180 * 640,
      pauses: [{ from_ms: 2_000, to_ms: 3_000 }],
    });
  });

  it('is read in any part that a Range header names', async () => {
    await send(await recordingOfEdge());
    const { bytes: whole, headers: all } = await wav();
    expect(all['accept-ranges']).toBe('bytes');
    const size = whole.length;
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=10-99', 10, 100],
      ['bytes=43-44', 43, 45],
      [`bytes=${44 + 99 * 640 + 3}-${44 + 151 * 640 + 5}`, 44 + 99 * 640 + 3, 44 + 151 * 640 + 6],
      ['bytes=20000-', 20_000, size],
      ['bytes=-1001', size - 1_001, size],
      [`bytes=5-${size + 10}`, 5, size],
    ] as const) {
      const { status, headers, bytes } = await wav({ range });
      expect([range, status, headers['content-range']]).toEqual([
        range,
        206,
        `bytes ${from}-${to - 1}/${size}`,
      ]);
      expect(bytes.equals(whole.subarray(from, to))).toBe(true);
    }
    for (const range of ['bytes=1-2,4-5', 'lines=1-2', 'bytes=9-3', 'bytes=-'])
      expect((await wav({ range })).status).toBe(200);
    const beyond = await wav({ range: `bytes=${size}-` });
    expect([beyond.status, beyond.codes, beyond.headers['content-range']]).toEqual([
      416,
      ['RANGE_NOT_SATISFIABLE'],
      `bytes */${size}`,
    ]);
  });

  it('is Opus in Ogg when that is asked for, by format or by Accept', async () => {
    await send(await recordingOfEdge());
    for (const [query, accept] of [
      ['?format=opus', '*/*'],
      ['', 'audio/ogg'],
    ] as const) {
      const path = `/v1/calls/${callId}/recording${query}`;
      const { status, headers, bytes } = await test.call('GET', path, { headers: { accept } });
      expect([status, headers['content-type'], headers.vary]).toEqual([
        200,
        'audio/ogg; codecs=opus',
        'accept',
      ]);
      expect(headers['content-disposition']).toBe(`attachment; filename="${callId}.opus"`);
      expect(bytes.toString('latin1', 0, 4)).toBe('OggS');
      const last = bytes.lastIndexOf('OggS');
      const preSkip = bytes.readUInt16LE(38);
      expect(Number(bytes.readBigUInt64LE(last + 6)) - preSkip).toBe(180 * 960);
    }
    const path = `/v1/calls/${callId}/recording?format=wav`;
    const { headers } = await test.call('GET', path, { headers: { accept: 'audio/ogg' } });
    expect(headers['content-type']).toBe('audio/wav');
    expect((await test.call('GET', `/v1/calls/${callId}/recording?format=mp3`)).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
  });

  it('is not read for HEAD, whose answer would have nothing of it', async () => {
    await send(await recordingOfEdge());
    const path = `${await test.url()}/v1/calls/${callId}/recording`;
    const answer = await fetch(path, { method: 'HEAD', headers: { authorization: test.key } });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('DELETE, GET');
  });

  it('is not found where its file is missing, as after a restore without recordings', async () => {
    const recording = await recordingOfEdge();
    await send(recording);
    if (!filesOfFolder().includes(recording.id)) return;
    rmSync(join(folder, 'recordings', recording.id));
    expect((await wav()).codes).toEqual(['RECORDING_NOT_FOUND']);
    expect((await details()).state).toBe('ready');
  });

  it.each([0, 0.5])('is not found where octets are missing, from this share of it on: %d', async (share) => {
    const recording = await recordingOfEdge(test.orgId, 2_000);
    await send(recording);
    const at = Math.floor(share * recording.bytes.length);
    if (filesOfFolder().includes(recording.id)) truncateSync(join(folder, 'recordings', recording.id), at);
    else
      await test.control.services.database.db
        .deleteFrom('recording_parts')
        .where('recording_id', '=', recording.id)
        .where('at', '>=', at)
        .execute();
    expect((await wav()).codes).toEqual(['RECORDING_NOT_FOUND']);
    expect((await wav({ range: 'bytes=0-99' })).codes).toEqual(['RECORDING_NOT_FOUND']);
  });

  it('has its peaks, at most 1000 for each side', async () => {
    await send(await recordingOfEdge(test.orgId, 2_000));
    const answer = await test.call('GET', `/v1/calls/${callId}/recording/peaks`);
    const { duration_ms, peaks } = answer.read(RecordingPeaks).data;
    expect(duration_ms).toBe(2_150 * 20);
    expect([peaks.peer.length, peaks.agent.length]).toEqual([1_000, 1_000]);
    expect(Math.abs((peaks.peer[0] ?? 0) - peer)).toBeLessThan(300);
    expect(Math.abs((peaks.agent[999] ?? 0) + agent)).toBeLessThan(200);
    expect(peaks.peer[58]).toBe(0);
  });

  it('goes on where it was cut off, and takes no octet twice', async () => {
    const recording = await recordingOfEdge();
    await begin(recording);
    const received = async (answer: Promise<{ read: TestAnswer }>) =>
      (await answer).read(EdgeRecordingState).data.received;
    expect(await received(put(recording.id, 0, recording.bytes.subarray(0, 5_000)))).toBe(5_000);
    expect(await received(put(recording.id, 0, recording.bytes.subarray(0, 5_000)))).toBe(5_000);
    expect(await received(put(recording.id, 9_000, recording.bytes.subarray(9_000)))).toBe(5_000);
    expect(await received(begin(recording))).toBe(5_000);
    expect((await wav()).codes).toEqual(['RECORDING_NOT_READY']);
    expect(await received(put(recording.id, 5_000, recording.bytes.subarray(5_000)))).toBe(
      recording.bytes.length,
    );
    await complete(recording.id);
    expect((await complete(recording.id)).status).toBe(200);
    expect((await details()).duration_ms).toBe(3_600);
  });

  it('is playable up to what arrived when its edge stays away, which may still bring the rest', async () => {
    const recording = await recordingOfEdge();
    const { length } = recording.header;
    const unfinished = new UnfinishedRecordings(test.control.services);
    await begin(recording);
    await put(recording.id, 0, recording.bytes.subarray(0, length + 2 * 8_040));
    await unfinished.open();
    expect((await wav()).codes).toEqual(['RECORDING_NOT_READY']);
    test.clock.advance(13.5 * 60 * 60 * 1000);
    await unfinished.open();
    expect(await details()).toMatchObject({ state: 'uploading', duration_ms: 1_000, ended: null });
    expect((await wav()).bytes.length).toBe(44 + 50 * 640);
    await put(recording.id, length + 2 * 8_040, recording.bytes.subarray(length + 2 * 8_040));
    await complete(recording.id);
    expect(await details()).toMatchObject({ state: 'ready', duration_ms: 3_600, ended: 'call_ended' });
  });

  it('is playable up to a kill of its edge, and up to damage', async () => {
    await send(await recordingOfEdge(test.orgId, 30, false));
    expect(await details()).toMatchObject({ ended: 'edge_restarted', duration_ms: 3_600 });
    callId = `${callId}-damaged`;
    const recording = await recordingOfEdge();
    recording.bytes[recording.header.length + 9_000] = 1;
    recording.bytes[recording.header.length + 9_001] = 1;
    await send(recording);
    expect(await details()).toMatchObject({ ended: 'damaged', duration_ms: 500 });
    expect((await wav()).bytes.length).toBe(44 + 25 * 640);
  });

  it('needs an edge token, and a header that is one', async () => {
    const recording = await recordingOfEdge();
    expect((await begin(recording, test.key)).status).toBe(401);
    const header = Buffer.from('nothing').toString('base64');
    const answer = await test.call('POST', '/v1/edge/recordings', { key: test.edgeToken, body: { header } });
    expect(answer.codes).toEqual(['INVALID_PARAMETER']);
    expect((await put(recording.id, 0, recording.bytes)).codes).toEqual(['RECORDING_NOT_FOUND']);
  });
});

type TestAnswer = Awaited<ReturnType<typeof test.call>>['read'];

describe('recordings of an organization', () => {
  it('are listed newest first, page by page', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      callId = `listed-${i}`;
      const recording = await recordingOfEdge();
      await send(recording);
      ids.unshift(recording.id);
    }
    const page = async (query: string) =>
      (await test.call('GET', `/v1/calls/recordings?${query}`))
        .read(RecordingList)
        .data.recordings.map(({ recording_id }) => recording_id);
    expect(await page('limit=2')).toEqual(ids.slice(0, 2));
    expect((await page(`limit=1&before=${ids[1]}`))[0]).toBe(ids[2]);
  });

  it('are not there for another organization', async () => {
    const recording = await recordingOfEdge();
    await send(recording);
    const foreign = { key: test.foreignKey };
    for (const path of ['', '/details', '/peaks'])
      expect((await test.call('GET', `/v1/calls/${callId}/recording${path}`, foreign)).codes).toEqual([
        'RECORDING_NOT_FOUND',
      ]);
    expect((await test.call('DELETE', `/v1/calls/${callId}/recording`, foreign)).status).toBe(404);
    const list = await test.call('GET', '/v1/calls/recordings', foreign);
    expect(list.read(RecordingList).data.recordings).toEqual([]);
    expect((await wav()).status).toBe(200);
  });

  it('are deleted on request, with an entry in the audit log, and late parts are refused', async () => {
    const recording = await recordingOfEdge();
    await begin(recording);
    await put(recording.id, 0, recording.bytes.subarray(0, 5_000));
    expect((await test.call('DELETE', `/v1/calls/${callId}/recording`)).status).toBe(200);
    expect((await wav()).codes).toEqual(['RECORDING_NOT_FOUND']);
    expect((await test.call('DELETE', `/v1/calls/${callId}/recording`)).status).toBe(404);
    const late = (await put(recording.id, 5_000, recording.bytes.subarray(5_000))).read(EdgeRecordingState);
    expect(late.data).toEqual({ state: 'deleted', received: 5_000 });
    expect((await begin(recording)).read(EdgeRecordingState).data.state).toBe('deleted');
    const { db } = test.control.services.database;
    const stored = await db.selectFrom('recordings').selectAll().where('id', '=', recording.id).execute();
    expect(stored[0]).toMatchObject({ wrapped: '', ephemeral: '' });
    const parts = await db
      .selectFrom('recording_parts')
      .select('at')
      .where('recording_id', '=', recording.id)
      .execute();
    expect(parts).toEqual([]);
    expect(filesOfFolder()).not.toContain(recording.id);
    const entries = await db
      .selectFrom('audit_entries')
      .selectAll()
      .where('area', '=', 'recordings')
      .execute();
    expect(entries.at(-1)).toMatchObject({ org_id: test.orgId, subject_id: callId, action: 'delete' });
  });

  it('leave no file when they are deleted while their first part is written', async () => {
    const { database, recordingContents } = test.control.services;
    const recording = await recordingOfEdge();
    await begin(recording);
    const row = await findRecording(database.db, recording.id);
    if (!row) throw new Error('the recording has no row');
    expect((await test.call('DELETE', `/v1/calls/${callId}/recording`)).status).toBe(200);
    // As a part that had read the row before that.
    expect(await recordingContents.append(row, 0, recording.bytes)).toBe(false);
    expect(filesOfFolder()).not.toContain(recording.id);
    expect(await recordingContents.append(row, 5_000, recording.bytes)).toBe(false);
  });

  it('are deleted when their retention ends', async () => {
    const recording = await recordingOfEdge();
    await send(recording);
    const { database, recordingContents } = test.control.services;
    const forget = () =>
      pruneOld(database.db, test.clock, test.control.services.config, (id) => recordingContents.delete(id));
    await forget();
    expect((await wav()).status).toBe(200);
    test.clock.advance(401 * dayMs);
    // Control may have begun to, as well.
    await forget();
    expect((await wav()).codes).toEqual(['RECORDING_NOT_FOUND']);
    expect(filesOfFolder()).not.toContain(recording.id);
  });

  it('are opened by a new key after a rotation, which old keys no longer do; what edges still send opens too', async () => {
    const { database, clock, secrets } = test.control.services;
    const recording = await recordingOfEdge();
    await send(recording);
    const ofFirst = callId;
    callId = `${ofFirst}-late`;
    const late = await recordingOfEdge();
    callId = ofFirst;
    const before = await currentRecordingKey(database.db);
    const { id, sealed } = await rotateRecordingKey(database.db, clock, secrets);
    expect(sealed).toBeGreaterThan(0);
    expect((await currentRecordingKey(database.db))?.key_id).toBe(id);
    const used = await database.db
      .selectFrom('recordings')
      .select('key_id')
      .where('state', '!=', 'deleted')
      .execute();
    expect(new Set(used.map(({ key_id }) => key_id))).toEqual(new Set([id]));
    expect((await wav()).bytes.length).toBe(44 + 180 * 640);
    await send(late);
    callId = `${ofFirst}-late`;
    expect((await wav()).bytes.length).toBe(44 + 180 * 640);
    await rotateRecordingKey(database.db, clock, secrets);
    test.clock.advance(91 * dayMs);
    await rotateRecordingKey(database.db, clock, secrets);
    const keys = await database.db.selectFrom('recording_keys').select('id').execute();
    expect(keys.map((key) => key.id)).not.toContain(before?.key_id);
    expect((await wav()).bytes.length).toBe(44 + 180 * 640);
  });
});

function filesOfFolder(): string[] {
  try {
    return readdirSync(join(folder, 'recordings'));
  } catch {
    // The files are in the database.
    return [];
  }
}
