import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RecordingStorageAnswer, StorageTrialAnswer } from '#shared/api/recording-storage.ts';
import { RecordingOne, RecordingPeaks } from '#shared/api/recordings.ts';
import { FakeClock } from '#shared/clock.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { recordingOf, sendRecording } from '../../../test/kit/control/recording-of-edge.ts';
import { S3Server } from '../../../test/kit/fakes/s3-server.ts';
import { rotateRecordingKey } from '../../recording-keys/index.ts';
import { pruneOld } from '../../retention.ts';
import { withBucketInHost } from '../s3/client.ts';
import { findRecording } from '../store.ts';
import { dueObjects, findObject } from './objects-store.ts';
import { failingStorages, saveStorage } from './storages-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'recording-storage-'));
const path = '/v1/admin/recording-storage';
let test: TestControl;
let clock: FakeClock | null = null;
const server = new S3Server(() => clock?.now() ?? 0);
beforeAll(async () => {
  await server.start();
  test = await startControl({ TRUNKLINE_DATA: folder, ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
  clock = test.clock;
});
afterAll(async () => {
  await test.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

let callNumber = 0;
let callId: string;
beforeEach(async () => {
  callId = `call-${callNumber++}`;
  server.away = null;
  server.asked.length = 0;
  expect((await set()).status).toBe(200);
});

const asOperator = (method: 'GET' | 'PUT' | 'DELETE' | 'POST', url: string, body?: object) =>
  test.call(method, url, { key: test.operatorKey, ...(body && { body }) });
const set = (change: object = {}) => asOperator('PUT', path, { ...server.settings, prefix: 'a/', ...change });
const state = async () => (await asOperator('GET', path)).read(RecordingStorageAnswer).data.storage;
const db = () => test.control.services.database.db;
const wav = (headers: Record<string, string> = {}) =>
  test.call('GET', `/v1/calls/${callId}/recording`, { headers });
const keyOf = (id: string, prefix = 'a/') => `${prefix}${test.orgId}/${id}`;
const placed = async (id: string) => (await findObject(db(), id))?.state ?? null;
const isGone = async (id: string) => expect.poll(() => placed(id)).toBe(null);

/** Somebody who reads a recording. */
function reader() {
  const ending = new AbortController();
  return { signal: ending.signal, lost: () => undefined, close: () => ending.abort() };
}

/** After the pause of a storage that was away. */
const passes = async (id: string) => {
  expect(await placed(id)).toBe('deleting');
  test.clock.advance(10_000);
  await isGone(id);
};

/** A recording that is complete, and in the storage. */
async function stored(more = 30) {
  const recording = await recordingOf(test, callId, { more });
  await sendRecording(test, recording, 1_000_000);
  await expect.poll(() => placed(recording.id)).toBe('stored');
  return recording;
}

describe('a recording in a storage', () => {
  it('is there as the edge sealed it, and no longer here', async () => {
    const { id, bytes } = await stored();
    expect(server.objects.get(keyOf(id))?.equals(bytes)).toBe(true);
    expect(await findRecording(db(), id)).toMatchObject({ place: 'storage', state: 'ready' });
    expect(readdirSync(folder).includes('recordings') ? readdirSync(join(folder, 'recordings')) : []).toEqual(
      [],
    );
    const parts = db().selectFrom('recording_parts').selectAll().where('recording_id', '=', id);
    expect(await parts.execute()).toEqual([]);
    expect(await state()).toMatchObject({ waiting: 0, last_error: null });
  });

  it('is brought in parts when it is long, and played in blocks', async () => {
    const { id, bytes } = await stored(30_000);
    expect(bytes.length).toBeGreaterThan(8 * 1_048_576);
    expect(server.asked.filter((what) => what.startsWith('PUT'))).toEqual(['PUT part 1', 'PUT part 2']);
    expect(server.objects.get(keyOf(id))?.equals(bytes)).toBe(true);
    expect(server.uploads.size).toBe(0);
    server.asked.length = 0;
    const { status, bytes: whole } = await wav();
    expect([status, whole.length]).toEqual([200, 44 + 30_150 * 640]);
    // One that it is there, then blocks of 1/4, 1/2, 1, 2, 4 and 4 MiB.
    expect(server.asked).toHaveLength(7);
    const part = await wav({ range: 'bytes=19000001-19000100' });
    expect([part.status, part.bytes.equals(whole.subarray(19_000_001, 19_000_101))]).toEqual([206, true]);
  });

  it('is WAV, Opus and peaks as before', async () => {
    await stored();
    const whole = await wav();
    expect([whole.status, whole.bytes.length]).toEqual([200, 44 + 180 * 640]);
    const opus = await test.call('GET', `/v1/calls/${callId}/recording?format=opus`);
    expect([opus.status, opus.bytes.toString('latin1', 0, 4)]).toEqual([200, 'OggS']);
    const peaks = await test.call('GET', `/v1/calls/${callId}/recording/peaks`);
    expect(peaks.read(RecordingPeaks).data.duration_ms).toBe(3_600);
    const details = await test.call('GET', `/v1/calls/${callId}/recording/details`);
    expect(details.read(RecordingOne).data.recording).toMatchObject({ state: 'ready', size: 44 + 180 * 640 });
  });

  it('is opened by a new key without being written again', async () => {
    await stored();
    server.asked.length = 0;
    const { clock, secrets } = test.control.services;
    expect((await rotateRecordingKey(db(), clock, secrets)).sealed).toBeGreaterThan(0);
    expect((await wav()).status).toBe(200);
    expect(server.asked.filter((what) => !what.startsWith('GET'))).toEqual([]);
  });

  it('is deleted there on request, with an entry in the log of changes', async () => {
    const { id } = await stored();
    expect((await test.call('DELETE', `/v1/calls/${callId}/recording`)).status).toBe(200);
    await isGone(id);
    expect(server.objects.has(keyOf(id))).toBe(false);
    const log = db().selectFrom('audit_entries').select('action').where('subject_id', '=', callId);
    expect(await log.execute()).toEqual([{ action: 'delete' }]);
  });

  it('is deleted there when its time is over', async () => {
    const { id } = await stored();
    const { clock, config, recordingContents, recordingStorage } = test.control.services;
    const later = new FakeClock(clock.now() + 91 * 24 * 3_600_000);
    await pruneOld(db(), later, config, (one) => recordingContents.delete(one));
    recordingStorage.wake();
    await isGone(id);
    expect(server.objects.has(keyOf(id))).toBe(false);
    expect(await findRecording(db(), id)).toBeUndefined();
  });

  it('is 503 while the storage is away, which its owner is told, and 404 when its object is gone', async () => {
    const { id } = await stored();
    server.away = 503;
    const { status, headers, codes, text } = await wav();
    expect([status, codes, headers['retry-after']]).toEqual([503, ['SERVICE_UNAVAILABLE'], '30']);
    // The operator's storage is nothing that a customer is told about.
    expect(text).toContain('its storage cannot be reached');
    expect((await state())?.last_error).toContain('the storage answered 503 ServiceUnavailable');
    server.away = null;
    expect((await wav()).status).toBe(200);
    expect((await state())?.last_error).toBe(null);
    server.objects.delete(keyOf(id));
    expect((await wav()).codes).toEqual(['RECORDING_NOT_FOUND']);
  });

  it('is read on when it is brought there meanwhile', async () => {
    server.away = 500;
    const { id, bytes } = await recordingOf(test, callId).then(async (recording) => {
      await sendRecording(test, recording);
      return recording;
    });
    await expect.poll(async () => (await findObject(db(), id))?.attempts).toBe(1);
    const row = await findRecording(db(), id);
    if (!row) throw new Error('there is no recording');
    const reading = reader();
    const { read } = await test.control.services.recordingStorage.open(row, reading);
    const before = await read(0, 1_000);
    server.away = null;
    test.clock.advance(10_000);
    await expect.poll(() => placed(id)).toBe('stored');
    const after = await read(1_000, bytes.length);
    reading.close();
    expect(Buffer.concat([before, after]).equals(bytes)).toBe(true);
  });

  it("goes to the organization's own, and to the operator's when it has none", async () => {
    const { bucket, region, accessKeyId, secretAccessKey, url } = server;
    const settings = {
      url,
      bucket,
      region,
      prefix: 'own/',
      path_style: 1,
      access_key_id: accessKeyId,
    } as const;
    const { secrets } = test.control.services;
    const now = new Date(test.clock.now()).toISOString();
    await saveStorage(db(), test.orgId, settings, secretAccessKey, { secrets, now });
    const { id } = await stored();
    const foreign = await recordingOf(test, `${callId}-f`, { orgId: test.foreignOrgId });
    await sendRecording(test, foreign);
    await expect.poll(() => placed(foreign.id)).toBe('stored');
    expect(server.objects.has(keyOf(id, 'own/'))).toBe(true);
    expect(server.objects.has(`a/${test.foreignOrgId}/${foreign.id}`)).toBe(true);
    expect((await wav()).status).toBe(200);
    expect((await test.call('DELETE', '/v1/org/recording-storage')).status).toBe(200);
    expect((await wav()).status).toBe(200);
  });

  it('is read by few at once of one organization', async () => {
    const { id } = await stored();
    const row = await findRecording(db(), id);
    if (!row) throw new Error('there is no recording');
    const { recordingStorage } = test.control.services;
    const readers = Array.from({ length: 4 }, reader);
    for (const one of readers) await recordingStorage.open(row, one);
    expect((await wav()).codes).toEqual(['RATE_LIMITED']);
    readers[0]?.close();
    readers[0]?.close();
    expect((await wav()).status).toBe(200);
    for (const { close } of readers) close();
  });

  it('stays readable in the storage before, until the last one of it is deleted', async () => {
    const { id } = await stored();
    await set({ prefix: 'b/' });
    expect((await wav()).status).toBe(200);
    const first = callId;
    callId = `${first}-b`;
    const second = await stored();
    expect(server.objects.has(keyOf(second.id, 'b/'))).toBe(true);
    await set();
    for (const call of [first, callId]) await test.call('DELETE', `/v1/calls/${call}/recording`);
    await isGone(id);
    await isGone(second.id);
    const rows = db().selectFrom('recording_storages').select('prefix').where('prefix', '=', 'b/');
    await expect.poll(() => rows.execute()).toEqual([]);
  });
});

describe('a storage that is away', () => {
  it('gets the recording later; meanwhile it is played from here, and the error is shown', async () => {
    server.away = 500;
    const recording = await recordingOf(test, callId);
    await sendRecording(test, recording);
    // The attempt's last change: its error and the pause of the storage come before.
    await expect.poll(async () => (await findObject(db(), recording.id))?.attempts).toBe(1);
    const { waiting, last_error } = (await state()) ?? {};
    expect([waiting, last_error]).toEqual([1, expect.stringContaining('the storage answered 500')]);
    expect((await wav()).status).toBe(200);
    const { text } = await asOperator('GET', '/metrics');
    expect(text).toContain('trunkline_control_recording_storage_waiting{work="move"} 1');
    const isFailing = async () =>
      (await failingStorages(db(), test.clock.now())).get('storage of recordings');
    expect(await isFailing()).toBe(false);
    test.clock.jump(6 * 60_000);
    expect(await isFailing()).toBe(true);
    server.away = null;
    test.clock.advance(10_000);
    await expect.poll(() => placed(recording.id)).toBe('stored');
    expect(await state()).toMatchObject({ waiting: 0, last_error: null });
    expect(await isFailing()).toBe(false);
    expect((await wav()).status).toBe(200);
  });

  it('is left alone for a while, with all that waits for it', async () => {
    server.away = 503;
    const first = await recordingOf(test, callId);
    await sendRecording(test, first);
    await expect.poll(async () => (await findObject(db(), first.id))?.attempts).toBe(1);
    const rows = db()
      .selectFrom('recording_storages')
      .select('paused_until')
      .where('paused_until', 'is not', null);
    await expect.poll(async () => (await rows.execute()).length).toBe(1);
    callId += '-b';
    const second = await recordingOf(test, callId);
    await sendRecording(test, second);
    const now = new Date(test.clock.now()).toISOString();
    const without = { ids: [], organizations: [], storages: [], own: false };
    expect(await dueObjects(db(), now, without, 10)).toEqual([]);
    server.away = null;
    test.clock.advance(10_000);
    await expect.poll(() => placed(second.id)).toBe('stored');
    await expect.poll(() => placed(first.id)).toBe('stored');
    expect(await rows.execute()).toEqual([]);
  });

  it('gets nothing of a recording that is deleted meanwhile', async () => {
    server.away = 500;
    const recording = await recordingOf(test, callId);
    await sendRecording(test, recording);
    await expect.poll(async () => (await findObject(db(), recording.id))?.attempts).toBe(1);
    server.away = null;
    await test.call('DELETE', `/v1/calls/${callId}/recording`);
    await passes(recording.id);
    expect(server.objects.has(keyOf(recording.id))).toBe(false);
  });

  it('keeps its waiting recordings here when it is removed', async () => {
    server.away = 500;
    const recording = await recordingOf(test, callId);
    await sendRecording(test, recording);
    await expect.poll(async () => (await findObject(db(), recording.id))?.attempts).toBe(1);
    server.away = null;
    expect((await asOperator('DELETE', path)).read(RecordingStorageAnswer).data.storage).toBe(null);
    await passes(recording.id);
    expect((await findRecording(db(), recording.id))?.place).not.toBe('storage');
    expect((await wav()).status).toBe(200);
  });
});

describe('the settings of a storage', () => {
  it('are shown without the secret, which is sealed and kept for the same host only', async () => {
    const shown = await asOperator('GET', path);
    expect(shown.read(RecordingStorageAnswer).data.storage).toMatchObject({
      bucket: 'calls',
      region: 'eu-test-1',
      path_style: true,
      access_key_id: 'TESTKEYID',
    });
    expect(shown.text).not.toContain(server.secretAccessKey);
    const rows = await db().selectFrom('recording_storages').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(server.secretAccessKey);
    const { secret_access_key: _, ...others } = server.settings;
    expect((await asOperator('PUT', path, others)).status).toBe(200);
    const elsewhere = { ...others, url: 'https://s3.example.com' };
    expect((await asOperator('PUT', path, elsewhere)).text).toContain('/secret_access_key');
  });

  it('have the bucket in the path when the host is an address', async () => {
    const body = { ...server.settings, url: 'https://127.0.0.1:1', path_style: false };
    const { codes, text } = await test.call('PUT', '/v1/org/recording-storage', { body });
    expect([codes, text.includes('/path_style')]).toEqual([['INVALID_PARAMETER'], true]);
    expect(withBucketInHost('https://s3.example.com/x', 'calls')?.href).toBe(
      'https://calls.s3.example.com/x',
    );
    expect(withBucketInHost('https://192.0.2.1', 'calls')).toBe(null);
  });

  it('of an organization name a public https target, and are its own', async () => {
    const own = '/v1/org/recording-storage';
    const put = (url: string, key = test.key) =>
      test.call('PUT', own, { key, body: { ...server.settings, url } });
    expect((await put('http://s3.example.com')).codes).toEqual(['INVALID_PARAMETER']);
    expect((await put('https://10.0.0.1')).codes).toEqual(['TARGET_NOT_ALLOWED']);
    expect((await put('https://s3.example.com')).status).toBe(200);
    const shownTo = async (key: string) =>
      (await test.call('GET', own, { key })).read(RecordingStorageAnswer).data.storage?.url;
    expect([await shownTo(test.key), await shownTo(test.foreignKey)]).toEqual([
      'https://s3.example.com',
      undefined,
    ]);
    expect((await test.call('DELETE', own)).status).toBe(200);
    expect(await shownTo(test.key)).toBe(undefined);
  });
});

describe('the trial of a storage', () => {
  const trial = async (change: object) =>
    (await asOperator('POST', `${path}/test`, { ...server.settings, ...change })).read(StorageTrialAnswer)
      .data;

  it('writes, reads and deletes, and leaves nothing', async () => {
    const before = server.objects.size;
    expect(await trial({})).toEqual({ ok: true, failed: null, message: null });
    expect([server.objects.size, server.uploads.size]).toEqual([before, 0]);
    expect(server.asked.filter((what) => !what.startsWith('GET'))).toEqual([
      'PUT',
      'POST uploads',
      'PUT part 1',
      'DELETE upload',
      'DELETE',
    ]);
  });

  it.each([
    [{ secret_access_key: 'wrong' }, 'SignatureDoesNotMatch', 'check secret_access_key'],
    [{ access_key_id: 'wrong' }, 'InvalidAccessKeyId', 'check access_key_id'],
    [{ region: 'elsewhere' }, 'AuthorizationHeaderMalformed', 'check region'],
    [{ bucket: 'missing' }, 'NoSuchBucket', 'create the bucket'],
    [{ url: 'http://127.0.0.1:1' }, 'ECONNREFUSED', '127.0.0.1'],
  ])('says what is wrong: %o', async (change, code, advice) => {
    const { ok, failed, message } = await trial(change);
    expect([ok, failed]).toEqual([false, 'write']);
    expect(message).toContain(code);
    expect(message).toContain(advice);
  });
});
