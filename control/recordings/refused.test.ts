/** Recordings of an edge that this deployment cannot open or has lost, as after a restore: none is sent for ever. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EdgeRecordingState, RecordingOne } from '#shared/api/recordings.ts';
import { newRecordingKey } from '../../shared/recording/keys.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import {
  beginRecording,
  completeRecording,
  putPart,
  recordingOf,
  sealedFor,
  sendRecording,
} from '../../test/kit/control/recording-of-edge.ts';
import { deleteParts } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'recordings-'));
let test: TestControl;
beforeAll(async () => {
  test = await startControl({ TRUNKLINE_DATA: folder });
});
afterAll(async () => {
  await test.close();
  rmSync(folder, { recursive: true });
});

const db = () => test.control.services.database.db;
const state = async (answer: ReturnType<typeof beginRecording>) =>
  (await answer).read(EdgeRecordingState).data;

/** A data key that no key of the deployment opens. */
const alter = (id: string) =>
  db()
    .updateTable('recordings')
    .set({ wrapped: Buffer.alloc(48).toString('base64url') })
    .where('id', '=', id)
    .execute();

describe('a recording whose key is not here', () => {
  it('is refused for good before its octets are taken', async () => {
    const key = newRecordingKey('of another database');
    const recording = sealedFor(key, test.clock.now(), 'foreign', { orgId: test.orgId, more: 30 });
    const answer = await beginRecording(test, recording);
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    expect(answer.text).toContain('there is no recording key of another database');
    expect((await putPart(test, recording.id, 0, recording.bytes)).codes).toEqual(['RECORDING_NOT_FOUND']);
  });

  it('is refused for good when it is complete', async () => {
    const recording = await recordingOf(test, 'altered');
    await beginRecording(test, recording);
    await putPart(test, recording.id, 0, recording.bytes);
    await alter(recording.id);
    for (const answer of [await completeRecording(test, recording.id), await beginRecording(test, recording)])
      expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
  });

  it('is not found when it is asked for', async () => {
    const recording = await recordingOf(test, 'unheard');
    await sendRecording(test, recording);
    await alter(recording.id);
    const answer = await test.call('GET', '/v1/calls/unheard/recording');
    expect([answer.status, answer.codes]).toEqual([404, ['RECORDING_NOT_FOUND']]);
    expect(answer.text).toContain('The key of the recording is not here.');
  });
});

describe('a recording whose octets are not here', () => {
  it('is taken from the beginning again, as after a restore without recordings', async () => {
    const recording = await recordingOf(test, 'restored');
    await beginRecording(test, recording);
    await putPart(test, recording.id, 0, recording.bytes.subarray(0, 5_000));
    await test.control.services.recordingContents.delete(recording.id);
    await deleteParts(db(), recording.id);
    expect(await state(beginRecording(test, recording))).toEqual({ state: 'uploading', received: 0 });
    await sendRecording(test, recording);
    const details = await test.call('GET', '/v1/calls/restored/recording/details');
    expect(details.read(RecordingOne).data.recording).toMatchObject({
      state: 'ready',
      ended: 'call_ended',
      duration_ms: 3_600,
    });
  });
});
