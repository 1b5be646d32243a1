/** Places of those who read recordings in storages come back, whenever and however a reader goes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RecordingStorageAnswer, StorageTrialAnswer } from '#shared/api/recording-storage.ts';
import { FakeClock } from '#shared/clock.ts';
import type { TestControl } from '../../../test/kit/control/harness.ts';
import { type OfEdge, recordingOf, sendRecording } from '../../../test/kit/control/recording-of-edge.ts';
import { useStorageScene } from '../../../test/kit/control/storage-scene.ts';
import { ServerSockets } from '../../../test/kit/fakes/server-sockets.ts';
import { findRecording } from '../store.ts';
import { findObject } from './objects-store.ts';
import { Readers } from './reading.ts';

const path = '/v1/admin/recording-storage';
let test: TestControl;
const server = useStorageScene((control) => {
  test = control;
});
beforeAll(async () => {
  expect((await asOperator('PUT', path, server.settings)).status).toBe(200);
});

const asOperator = (method: 'PUT' | 'POST', url: string, body: object) =>
  test.call(method, url, { key: test.operatorKey, body });
const db = () => test.control.services.database.db;
const placed = async (id: string) => (await findObject(db(), id))?.state ?? null;

let calls = 0;
let callId: string;
beforeEach(() => {
  callId = `read-${calls++}`;
});

/** From now on the storage does not answer, until the returned function is called. */
function hold(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.held = promise;
  return () => {
    server.held = null;
    resolve();
  };
}

async function stored(): Promise<OfEdge> {
  const recording = await recordingOf(test, callId);
  await sendRecording(test, recording);
  await expect.poll(() => placed(recording.id)).toBe('stored');
  return recording;
}

const get = (query = '') => test.call('GET', `/v1/calls/${callId}/recording${query}`);
const getUntil = async (signal: AbortSignal, query: string) =>
  fetch(`${await test.url()}/v1/calls/${callId}/recording${query}`, {
    headers: { authorization: test.key },
    signal,
  });

describe('a client that goes while the storage is slow to answer', () => {
  it.each([
    ['WAV', '', 4],
    ['Opus', '?format=opus', 2],
  ])('ends the request to it, and leaves no place taken: %s', async (_, query, places) => {
    await stored();
    for (let round = 0; round < 2; round++) {
      const release = hold();
      const gone = new AbortController();
      const asked = Array.from({ length: places }, () => getUntil(gone.signal, query).catch(() => null));
      await expect.poll(() => server.holds).toBe(places);
      gone.abort();
      expect(await Promise.all(asked)).toEqual(Array(places).fill(null));
      await expect.poll(() => server.holds).toBe(0);
      release();
    }
    const again = await Promise.all(Array.from({ length: places }, () => get(query)));
    expect(again.map(({ status }) => status)).toEqual(Array(places).fill(200));
    // Nor is it a failure of the storage.
    const shown = await test.call('GET', path, { key: test.operatorKey });
    expect(shown.read(RecordingStorageAnswer).data.storage?.last_error).toBe(null);
  });

  it('leaves none when the recording is brought there while it is read', async () => {
    server.away = 500;
    const recording = await recordingOf(test, callId);
    await sendRecording(test, recording);
    await expect.poll(async () => (await findObject(db(), recording.id))?.attempts).toBe(1);
    const row = await findRecording(db(), recording.id);
    if (!row) throw new Error('there is no recording');
    const { recordingStorage } = test.control.services;
    const readers = Array.from({ length: 8 }, () => new AbortController());
    const opened = await Promise.all(
      readers.map(({ signal }) => recordingStorage.open(row, { signal, lost: () => undefined })),
    );
    server.away = null;
    test.clock.advance(10_000);
    await expect.poll(() => placed(recording.id)).toBe('stored');
    const release = hold();
    // Some go before they notice that it was moved, others while the storage is asked.
    for (const reader of readers.slice(0, 4)) reader.abort();
    const reads = opened.map(({ read }) =>
      read(0, 100).then(
        () => 'read',
        () => 'ended',
      ),
    );
    await expect.poll(() => server.holds).toBe(4);
    for (const reader of readers.slice(4)) reader.abort();
    expect(await Promise.all(reads)).toEqual(Array(8).fill('ended'));
    release();
    const again = await Promise.all([get(), get(), get(), get()]);
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('a place of a reader', () => {
  const clock = new FakeClock();
  let readers: Readers;
  const lost: string[] = [];
  beforeEach(() => {
    readers = new Readers(clock);
    lost.length = 0;
  });
  const enter = (name: string, orgId: string, isOwn = false, signal = new AbortController().signal) =>
    readers.enter({ orgId, isOwn }, { signal, lost: () => lost.push(name) });

  it('is given to somebody who needs it once nothing was read for half a minute', async () => {
    const one = enter('one', 'a');
    const others = ['two', 'three', 'four'].map((name) => enter(name, 'a'));
    const ending = Promise.withResolvers<void>();
    const used = others[0]?.use(() => ending.promise);
    clock.advance(29_999);
    expect(() => enter('five', 'a')).toThrow('retry after');
    await others[1]?.use(async () => undefined);
    clock.advance(1);
    const five = enter('five', 'a');
    expect(lost).toEqual(['one']);
    await expect(one.use(async () => undefined)).rejects.toThrow('no place');
    const six = enter('six', 'a');
    expect(lost).toEqual(['one', 'four']);
    expect(() => enter('seven', 'a')).toThrow('retry after');
    ending.resolve();
    await used;
    five.leave();
    six.leave();
    for (const _ of [five, six]) enter('next', 'a');
    expect(() => enter('eight', 'a')).toThrow('retry after');
  });

  it('in storages of organizations is left for the one of the operator, and nobody idle is disturbed without need', () => {
    for (let i = 0; i < 24; i++) enter('own', `own-${i}`, true);
    expect(() => enter('own', 'own-24', true)).toThrow('try again');
    for (let i = 0; i < 8; i++) enter('operator', `org-${i}`);
    expect(() => enter('operator', 'org-9')).toThrow('try again');
    clock.advance(3_600_000);
    expect(lost).toEqual([]);
    enter('own', 'own-25', true);
    expect(lost).toEqual(['own']);
  });

  it('is not taken by somebody who has gone', () => {
    const gone = new AbortController();
    gone.abort(new Error('gone'));
    for (let n = 0; n < 40; n++) expect(() => enter('gone', 'g', false, gone.signal)).toThrow('gone');
    for (let n = 0; n < 40; n++) {
      const going = new AbortController();
      enter('going', 'g', false, going.signal);
      going.abort();
    }
    enter('stays', 'g').leave();
  });
});

/** A server whose answers each take a while: the clock moves on with every request. */
async function slowServer(
  answer: (request: IncomingMessage, url: URL, response: ServerResponse) => void,
  ms: number,
) {
  const asked: string[] = [];
  const http = createServer((request, response) => {
    request.resume().once('end', () => {
      const url = new URL(request.url ?? '', 'http://x');
      asked.push(`${request.method}`);
      test.clock.advance(ms);
      answer(request, url, response);
    });
  });
  const sockets = new ServerSockets(http);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { asked, close: () => sockets.close(), settings: { ...server.settings, url } };
}

describe('the trial of a storage', () => {
  const trial = (body: object) => asOperator('POST', `${path}/test`, body);

  it('has an end, however many uploads a server invents and however fast its single answers are', async () => {
    let key = '';
    const slow = await slowServer((request, url, response) => {
      if (request.method === 'PUT') key = url.pathname.replace('/calls/', '');
      if (request.method === 'POST') response.end('<UploadId>1</UploadId>');
      else if (url.searchParams.has('uploads'))
        response.end(`<Upload><Key>${key}</Key><UploadId>1</UploadId></Upload>`.repeat(5_000));
      else if (url.searchParams.has('uploadId'))
        response.end('<Part><PartNumber>1</PartNumber><Size>74</Size></Part>');
      else if (request.method === 'GET') {
        response.writeHead(206);
        response.end('runkline wrote this to try the storage of recordings. It can be deleted.\n');
      } else response.end();
    }, 3_000);
    const { ok, failed, message } = (await trial(slow.settings)).read(StorageTrialAnswer).data;
    expect([ok, failed, message]).toEqual([
      false,
      'multipart',
      'the storage was too slow: not done after 20 s',
    ]);
    // Of 3 s each: 20 s of the trial, 10 s of what is left of it.
    expect(slow.asked.length).toBeLessThanOrEqual(11);
    await slow.close();
  });

  it('ends with the client, and leaves nothing', async () => {
    const release = hold();
    const gone = new AbortController();
    const asked = fetch(`${await test.url()}${path}/test`, {
      method: 'POST',
      headers: { authorization: test.operatorKey, 'content-type': 'application/json' },
      body: JSON.stringify(server.settings),
      signal: gone.signal,
    }).catch(() => null);
    await expect.poll(() => server.holds).toBe(1);
    server.asked.length = 0;
    gone.abort();
    await asked;
    // The step has ended; what is left is deleted.
    await expect.poll(() => server.holds).toBe(1);
    release();
    await expect.poll(() => server.asked.at(-1)).toBe('DELETE');
  });
});
