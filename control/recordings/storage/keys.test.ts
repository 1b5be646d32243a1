/** Keys of storages that were removed or replaced: what is in them stays readable, and is deleted there. */
import { describe, expect, it } from 'vitest';
import { RecordingStorageAnswer } from '#shared/api/recording-storage.ts';
import type { TestControl } from '../../../test/kit/control/harness.ts';
import { recordingOf, sendRecording } from '../../../test/kit/control/recording-of-edge.ts';
import { useStorageScene } from '../../../test/kit/control/storage-scene.ts';
import { deleteParts } from '../store.ts';
import { findObject } from './objects-store.ts';
import { failingStorages } from './storages-store.ts';

const path = '/v1/admin/recording-storage';
let test: TestControl;
const server = useStorageScene((control) => {
  test = control;
});

const db = () => test.control.services.database.db;
const asOperator = async (method: 'GET' | 'PUT' | 'DELETE', body?: object) =>
  (await test.call(method, path, { key: test.operatorKey, ...(body && { body }) })).read(
    RecordingStorageAnswer,
  ).data;
const set = (prefix: string) => asOperator('PUT', { ...server.settings, prefix });
const placed = async (id: string) => (await findObject(db(), id))?.state ?? null;
const wav = (callId: string) => test.call('GET', `/v1/calls/${callId}/recording`);
const rows = () => db().selectFrom('recording_storages').select(['prefix', 'retired_at']).execute();

async function stored(callId: string): Promise<string> {
  const { id, ...recording } = await recordingOf(test, callId);
  await sendRecording(test, { id, ...recording });
  await expect.poll(() => placed(id)).toBe('stored');
  return id;
}

let keys = 0;
function rotate() {
  const id = keys++;
  server.accessKeyId = `ROTATED${id}`;
  server.secretAccessKey = `rotated/${id}`;
}

describe('the key of a storage', () => {
  it.each(['removed', 'replaced'])('that was %s is changed by setting it again', async (how) => {
    const prefix = `${how}/`;
    await set(prefix);
    const id = await stored(how);
    if (how === 'removed') await asOperator('DELETE');
    else await set('elsewhere/');
    rotate();
    expect((await wav(how)).status).toBe(503);
    const { former } = await asOperator('GET');
    expect(former).toMatchObject([{ prefix, bucket: 'calls', recordings: 1 }]);
    expect(former[0]?.last_error).toContain('403');
    test.clock.jump(6 * 60_000);
    const failing = [...(await failingStorages(db(), test.clock.now()))].filter(([, is]) => is);
    expect(failing).toEqual([[expect.stringMatching(/^former storage \S+ of recordings$/), true]]);
    expect(await set(prefix)).toMatchObject({ storage: { prefix, last_error: null }, former: [] });
    expect((await rows()).filter((row) => row.prefix === prefix)).toEqual([{ prefix, retired_at: null }]);
    expect((await wav(how)).status).toBe(200);
    await test.call('DELETE', `/v1/calls/${how}/recording`);
    await expect.poll(() => placed(id)).toBe(null);
    expect(server.objects.has(`${prefix}${test.orgId}/${id}`)).toBe(false);
  });

  it('is changed for former places on the same server that have the same key, and for no others', async () => {
    await set('x/');
    await stored('x');
    const { storage } = await set('y/');
    await stored('y');
    rotate();
    await set('y/');
    expect((await wav('x')).status).toBe(200);
    expect((await wav('y')).status).toBe(200);
    expect(storage?.access_key_id).not.toBe(server.accessKeyId);
    // Another place with another key says nothing about the one before.
    const before = server.accessKeyId;
    rotate();
    const { former } = await set('z/');
    expect(former.map(({ prefix, access_key_id }) => [prefix, access_key_id])).toEqual([
      ['y/', before],
      ['x/', before],
    ]);
  });

  it('of a storage that is removed deletes nothing that is a recording only there', async () => {
    await set('w/');
    server.away = 500;
    const { id, ...recording } = await recordingOf(test, 'only');
    await sendRecording(test, { id, ...recording });
    await expect.poll(async () => (await findObject(db(), id))?.attempts).toBe(1);
    // As after a restore of a backup that is older than the move.
    await test.control.services.recordingContents.delete(id);
    await deleteParts(db(), id);
    const key = `w/${test.orgId}/${id}`;
    server.objects.set(key, recording.bytes);
    server.away = null;
    await asOperator('DELETE');
    test.clock.advance(10_000);
    await expect.poll(() => placed(id)).toBe('stored');
    expect(server.objects.has(key)).toBe(true);
    expect((await wav('only')).status).toBe(200);
  });
});
