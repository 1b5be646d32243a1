/** Storages that are refused, slow or silent, and rows that are older than the bucket: what is sent, kept and deleted. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RecordingStorageAnswer } from '#shared/api/recording-storage.ts';
import type { TestControl } from '../../../test/kit/control/harness.ts';
import { recordingOf, sendRecording } from '../../../test/kit/control/recording-of-edge.ts';
import { useStorageScene } from '../../../test/kit/control/storage-scene.ts';
import { onceIsEnough } from '../../../test/kit/db/test-database.ts';
import { ServerSockets } from '../../../test/kit/fakes/server-sockets.ts';
import { deleteParts, findRecording } from '../store.ts';
import { findObject } from './objects-store.ts';
import { saveStorage } from './storages-store.ts';

const path = '/v1/admin/recording-storage';
let test: TestControl;
const server = useStorageScene((control) => {
  test = control;
});

let calls = 0;
let callId: string;
const ends: (() => Promise<void>)[] = [];
beforeEach(async () => {
  callId = `outage-${calls++}`;
  server.away = null;
  server.asked.length = 0;
  expect((await set()).status).toBe(200);
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const set = (change: object = {}) =>
  test.call('PUT', path, { key: test.operatorKey, body: { ...server.settings, ...change } });
const db = () => test.control.services.database.db;
const placed = async (id: string) => (await findObject(db(), id))?.state ?? null;
const attempts = async (id: string) => (await findObject(db(), id))?.attempts;
const keyOf = (id: string) => `${test.orgId}/${id}`;
const wav = () => test.call('GET', `/v1/calls/${callId}/recording`);

/** A recording that waits while the storage is away, and is not here any more. */
async function lost() {
  server.away = 500;
  const recording = await recordingOf(test, callId);
  await sendRecording(test, recording);
  await expect.poll(() => attempts(recording.id)).toBe(1);
  await test.control.services.recordingContents.delete(recording.id);
  await deleteParts(db(), recording.id);
  server.away = null;
  return recording;
}

/** Another server, which counts what is sent to it. */
async function other(answer: (() => { status: number; body: string }) | null) {
  const seen = { requests: 0, octets: 0, held: 0 };
  const http = createServer((request, response) => {
    seen.requests += 1;
    request.on('data', (chunk: Buffer) => {
      seen.octets += chunk.length;
    });
    request.once('end', () => {
      if (answer === null) {
        seen.held += 1;
        response.once('close', () => {
          seen.held -= 1;
        });
        return;
      }
      const { status, body } = answer();
      response.writeHead(status).end(body);
    });
  });
  const sockets = new ServerSockets(http);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  ends.push(() => sockets.close());
  return { seen, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
}

describe('rows of a backup that are older than the bucket', () => {
  it('keep a recording that was brought after the backup, and play it', async () => {
    const { id, bytes } = await lost();
    server.objects.set(keyOf(id), bytes);
    test.clock.advance(10_000);
    await expect.poll(() => placed(id)).toBe('stored');
    expect(server.objects.get(keyOf(id))?.equals(bytes)).toBe(true);
    expect(server.asked).toEqual(['GET']);
    expect((await wav()).status).toBe(200);
  });

  it('delete nothing of a recording that is neither here nor there, before it is deleted itself', async () => {
    const { id, bytes } = await lost();
    const upload = { key: keyOf(id), parts: new Map() };
    server.uploads.set('of-another', upload);
    test.clock.advance(10_000);
    await expect.poll(() => attempts(id)).toBe(2);
    expect([await placed(id), server.uploads.size, server.asked]).toEqual(['moving', 1, ['GET']]);
    // Another deployment has brought it meanwhile.
    server.objects.set(keyOf(id), bytes);
    test.clock.advance(6 * 3_600_000);
    await expect.poll(() => placed(id)).toBe('stored');
    expect((await wav()).status).toBe(200);
    await test.call('DELETE', `/v1/calls/${callId}/recording`);
    await expect.poll(() => placed(id)).toBe(null);
    expect([server.objects.has(keyOf(id)), server.uploads.size]).toEqual([false, 0]);
  });
});

describe('a storage that refuses the key', () => {
  // What an answer means is the same on both databases.
  it.each([
    [403, 'InvalidAccessKeyId'] as const,
    ...(onceIsEnough
      ? ([
          [401, ''],
          [404, 'NoSuchBucket'],
          [307, 'TemporaryRedirect'],
        ] as const)
      : []),
  ])('is left alone as a whole, and tried with one recording: %i %s', async (status, code) => {
    const { seen, url } = await other(() => ({ status, body: `<Error><Code>${code}</Code></Error>` }));
    expect((await set({ url })).status).toBe(200);
    const waiting: string[] = [];
    for (let n = 0; n < 5; n++) {
      const recording = await recordingOf(test, `${callId}-${n}`);
      await sendRecording(test, recording);
      waiting.push(recording.id);
    }
    const tried = async () => {
      const rows = await db()
        .selectFrom('recording_objects')
        .select('attempts')
        .where('id', 'in', waiting)
        .execute();
      return rows.reduce((sum, row) => sum + row.attempts, 0);
    };
    await expect.poll(tried).toBeGreaterThan(0);
    const working = db().selectFrom('work_under_way').select('id').where('id', 'in', waiting);
    const isIdle = () => expect.poll(() => working.execute()).toEqual([]);
    await isIdle();
    const row = db().selectFrom('recording_storages').select('paused_until').where('retired_at', 'is', null);
    for (let n = 0; n < 3; n++) {
      const { paused_until } = await row.executeTakeFirstOrThrow();
      const before = await tried();
      test.clock.advance(Math.max(0, Date.parse(paused_until ?? '') - test.clock.now()));
      await expect
        .poll(async () => (await row.executeTakeFirstOrThrow()).paused_until)
        .not.toBe(paused_until);
      await isIdle();
      expect((await tried()) - before).toBe(1);
    }
    // At most two of one organization began before it was known.
    expect(seen.requests).toBeLessThanOrEqual(2 + 3);
    const shown = await test.call('GET', path, { key: test.operatorKey });
    expect(shown.read(RecordingStorageAnswer).data.storage?.last_error).toContain(`${status}`);
    await db().deleteFrom('recording_objects').where('id', 'in', waiting).execute();
  });
});

describe('a storage that is slow', () => {
  it.runIf(onceIsEnough)(
    'fails an attempt that takes longer than its octets need, though each answer comes in time',
    async () => {
      const { url } = await other(() => {
        test.clock.advance(50_000);
        return { status: 200, body: '<UploadId>1</UploadId>' };
      });
      expect((await set({ url })).status).toBe(200);
      const recording = await recordingOf(test, callId, { more: 30_000 });
      await sendRecording(test, recording, 1_000_000);
      await expect.poll(() => attempts(recording.id)).toBe(1);
      const shown = await test.call('GET', path, { key: test.operatorKey });
      expect(shown.read(RecordingStorageAnswer).data.storage?.last_error).toMatch(
        /^the storage was too slow: not done after 1\d\d s$/,
      );
      await db().deleteFrom('recording_objects').where('id', '=', recording.id).execute();
    },
  );

  it("of four organizations does not hold up the operator's", async () => {
    const { seen, url } = await other(null);
    const { secrets } = test.control.services;
    const now = new Date(test.clock.now()).toISOString();
    const settings = {
      url,
      bucket: 'calls',
      region: 'r',
      prefix: '',
      path_style: 1,
      access_key_id: 'a',
    } as const;
    const held: string[] = [];
    for (const orgId of ['h1', 'h2', 'h3', 'h4']) {
      await saveStorage(db(), orgId, settings, 'secret', { secrets, now });
      for (let n = 0; n < 2; n++) {
        const recording = await recordingOf(test, `${orgId}-${n}`, { orgId });
        await sendRecording(test, recording);
        held.push(recording.id);
      }
    }
    await expect.poll(() => seen.held).toBe(6);
    const recording = await recordingOf(test, callId);
    await sendRecording(test, recording);
    await expect.poll(() => placed(recording.id)).toBe('stored');
    expect(await findRecording(db(), recording.id)).toMatchObject({ place: 'storage' });
    expect(seen.held).toBe(6);
    await db().deleteFrom('recording_objects').where('id', 'in', held).execute();
  });
});
