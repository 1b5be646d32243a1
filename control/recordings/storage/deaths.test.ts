/**
 * A control plane that dies at any step of its work on a storage: no recording is lost, no object and no upload is left.
 * Each step is a request that the storage never answers, done or not; the next control plane goes on with what is stored.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { recordingRow } from '../../../test/kit/control/recordings.ts';
import { killReplica, testReplica } from '../../../test/kit/db/replicas.ts';
import { S3Server } from '../../../test/kit/fakes/s3-server.ts';
import type { BackgroundWork } from '../../db/background-work.ts';
import { RecordingContents } from '../contents.ts';
import { emptyRecording, findRecording } from '../store.ts';
import { findObject } from './objects-store.ts';
import { saveStorage } from './storages-store.ts';
import { startStorageWork } from './work.ts';

const folder = mkdtempSync(join(tmpdir(), 'recording-storage-kill-'));
/** Small, because the steps are the same; storage.test.ts and kill.test.ts have parts of the product's size. */
const partBytes = 65_536;
/** Two parts. */
const bytes = randomBytes(1.25 * partBytes);
let test: TestControl;
let server: S3Server;
const ended: (() => Promise<void>)[] = [];

beforeAll(async () => {
  // Without its own background work: that is what dies here.
  test = await startControl({ TRUNKLINE_DATA: folder }, {}, {}, { begin: false });
});
afterAll(async () => {
  for (const end of ended) await end();
  await test.close();
  rmSync(folder, { recursive: true });
});

const services = () => test.control.services;
const db = () => services().database.db;
const log = { warn: () => undefined, error: () => undefined };

/** A control plane that works on storages. */
function program(recordingContents = services().recordingContents) {
  const { database, clock, secrets, allowedTargets, recordingStorage } = services();
  const replica = testReplica(database);
  const parts = {
    database,
    clock,
    secrets,
    allowedTargets,
    recordingStorage,
    recordingContents,
    replica,
    partBytes,
  };
  const work: BackgroundWork = startStorageWork(parts, log, new Registry());
  const close = async () => {
    await work.close();
    await replica.close();
  };
  ended.push(close);
  return {
    kill: async () => {
      work.hold();
      await killReplica(database, replica);
    },
    close,
  };
}

let recordings = 0;

/** A complete recording of two parts with a storage of its own, that is to be brought there. */
async function complete(): Promise<string> {
  server = new S3Server(() => test.clock.now(), partBytes);
  await server.start();
  const own = server;
  ended.push(() => own.close());
  const { bucket, region, url, accessKeyId } = server;
  const settings = { url, bucket, region, prefix: '', path_style: 1, access_key_id: accessKeyId } as const;
  const { secrets, recordingContents, recordingStorage, clock } = services();
  test.clock.advance(1_000);
  const now = new Date(clock.now()).toISOString();
  await saveStorage(db(), null, settings, server.secretAccessKey, { secrets, now });
  const id = `01234567-89ab-7def-8123-${String(recordings++).padStart(12, '0')}`;
  const row = { ...recordingRow(test.orgId, `call-${id}`), id, place: recordingContents.place };
  await db()
    .insertInto('recordings')
    .values({ ...row, state: 'uploading' })
    .execute();
  await recordingContents.append(row, 0, bytes);
  await db().updateTable('recordings').set({ state: 'ready' }).where('id', '=', id).execute();
  await recordingStorage.add(db(), { ...row, received: bytes.length });
  return id;
}

const stateOf = async (id: string) => (await findObject(db(), id))?.state ?? null;
const isClaimed = async (id: string) => {
  const rows = await db().selectFrom('work_under_way').select('owner').where('id', '=', id).execute();
  return rows.some(({ owner }) => owner !== null);
};

/** The next control plane, after what died counts as an attempt. */
async function goesOn(id: string) {
  const next = program();
  await expect.poll(() => isClaimed(id)).toBe(false);
  await expect.poll(async () => (await findObject(db(), id))?.attempts ?? 0).toBeGreaterThan(0);
  test.clock.advance(5_000);
  return next;
}

async function isWhole(id: string) {
  await expect.poll(() => stateOf(id)).toBe('stored');
  expect([...server.objects.values()].map((object) => object.equals(bytes))).toEqual([true]);
  expect(server.uploads.size).toBe(0);
  expect(await findRecording(db(), id)).toMatchObject({ place: 'storage', state: 'ready' });
  const parts = db().selectFrom('recording_parts').select('at').where('recording_id', '=', id);
  expect(await parts.execute()).toEqual([]);
  const { recordingContents } = services();
  if (recordingContents.place === 'folder')
    expect(await recordingContents.has({ id, place: 'folder', received: 0 })).toBe(false);
}

const moves = [
  'GET uploads',
  'POST uploads',
  'PUT part 1',
  'PUT part 2',
  'GET upload',
  'POST upload',
  'GET',
] as const;
const deletions = ['GET uploads', 'DELETE upload', 'DELETE'] as const;
const whens = ['before', 'after'] as const;
const cases = (steps: readonly string[]) =>
  steps.flatMap((step, index) => whens.map((when) => [when, step, index + 1] as const));

describe('a control plane that is killed', () => {
  it.each(cases(moves))(
    '%s the storage does %s (%i) brings the recording after it',
    async (when, step, at) => {
      const id = await complete();
      server.hang = { at, when };
      const first = program();
      await server.hung.promise;
      expect(server.asked.at(-1)).toBe(step);
      await first.kill();
      // Nothing of ours is touched before all is there.
      const { recordingContents } = services();
      const place = recordingContents.place;
      expect((await recordingContents.read({ id, place }, 0, bytes.length)).equals(bytes)).toBe(true);
      const next = await goesOn(id);
      await isWhole(id);
      await next.close();
    },
  );

  it('when the recording is in the storage deletes its own copy after it', async () => {
    const id = await complete();
    const reached = Promise.withResolvers<void>();
    class Dying extends RecordingContents {
      override async delete(): Promise<void> {
        reached.resolve();
        await new Promise(() => undefined);
      }
    }
    const { database, replica } = services();
    const first = program(new Dying(database.db, folder, replica));
    ended.pop();
    await reached.promise;
    expect(await stateOf(id)).toBe('clearing');
    await first.kill();
    const next = await goesOn(id);
    await isWhole(id);
    await next.close();
  });

  it.each(cases(deletions))(
    '%s the storage does %s (%i) deletes everything after it',
    async (when, step, at) => {
      const id = await complete();
      // It died while it brought the recording, which is deleted then: there is an upload and an object.
      server.hang = { at: 4, when: 'after' };
      const first = program();
      await server.hung.promise;
      await first.kill();
      server.objects.set(`${test.orgId}/${id}`, bytes);
      await emptyRecording(db(), id);
      server.renew({ at, when });
      const second = program();
      await expect.poll(() => isClaimed(id)).toBe(false);
      test.clock.advance(5_000);
      await server.hung.promise;
      expect(server.asked.at(-1)).toBe(step);
      await second.kill();
      const next = await goesOn(id);
      await expect.poll(() => stateOf(id)).toBe(null);
      expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
      await next.close();
    },
  );
});
