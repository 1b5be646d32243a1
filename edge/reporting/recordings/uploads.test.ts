/** Sending recordings to a control plane that fails, goes away and comes back: a real HTTP server. */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EdgeRecordingBegin } from '#shared/api/recordings.ts';
import { FakeClock } from '#shared/clock.ts';
import { ChunkSealer, decodeHeader, encodeHeader } from '#shared/recording/format.ts';
import { recordingOrder } from '../../../test/kit/edge/recordings.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { DiskRoom } from '../../media/recording/disk-room.ts';
import { DiskSync } from '../../media/recording/disk-sync.ts';
import { RecordingFile } from '../../media/recording/recording-file.ts';
import { RecordingUploads } from './uploads.ts';

const id = '01234567-89ab-7def-8123-456789abcdef';
let folder: string;
let server: Server;
let clock: FakeClock;
let room: DiskRoom;
let uploads: RecordingUploads;
let outcomes: string[];
/** What control has of each recording. */
let stored: Map<string, Buffer>;
let completed: string[];
/** Answers in the place of control; null: control answers. */
let instead: (method: string, url: string) => number | 'hang up' | null;
let state: 'uploading' | 'deleted';
/** Requests that control answered, or whose answer was lost. */
let answered: number;
/** Whether control's answer is lost. */
let lost: (method: string) => boolean;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'uploads-'));
  clock = new FakeClock();
  room = new DiskRoom(100_000_000);
  [stored, completed, outcomes] = [new Map(), [], []];
  instead = () => null;
  state = 'uploading';
  answered = 0;
  lost = () => false;
  server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray());
    const { method = '', url = '' } = request;
    const other = instead(method, url);
    if (other === 'hang up') return void request.socket.destroy();
    if (other !== null) return void response.writeHead(other).end('{}');
    expect(request.headers.authorization).toBe('Bearer token');
    const [, of = beginning(bytes), at] = /recordings\/([^/?]+)(?:\?at=(\d+))?/.exec(url) ?? [];
    const before = stored.get(of) ?? Buffer.alloc(0);
    if (method === 'PUT' && state === 'uploading' && Number(at) === before.length)
      stored.set(of, Buffer.concat([before, bytes]));
    if (url.endsWith('/complete')) completed.push(of);
    const answer = {
      state: url.endsWith('/complete') ? 'ready' : state,
      received: stored.get(of)?.length ?? 0,
    };
    answered++;
    if (lost(method)) return void request.socket.destroy();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: answer, errors: null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  uploads = new RecordingUploads({
    folder,
    room,
    controlUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    edgeToken: 'token',
    // Pauses pass as the test likes; answers take the time that they take.
    clock: {
      now: () => clock.now(),
      elapsed: () => clock.elapsed(),
      after: (ms, fire) => (ms > 60_000 ? { cancel: () => {} } : clock.after(ms, fire)),
    },
    log: new QuietLog(),
    count: (outcome) => outcomes.push(outcome),
  });
});
afterEach(async () => {
  await uploads.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

/** The id in the header that a recording begins with. */
function beginning(body: Buffer): string {
  const { header } = Value.Parse(EdgeRecordingBegin, JSON.parse(body.toString()));
  return decodeHeader(Buffer.from(header, 'base64'))?.header.id ?? '';
}

/** The file of a recording with so many chunks. */
function file(chunks: number, of = id): Buffer {
  const sealer = new ChunkSealer(Buffer.alloc(32, 9), of);
  const audio = Array.from({ length: chunks }, (_, i) => sealer.audio(i * 25, Buffer.alloc(8_000, i)));
  return Buffer.concat([
    encodeHeader(recordingOrder(of).header),
    ...audio,
    sealer.mark(chunks * 25, { what: 'ended' }),
  ]);
}

/** Lets pauses pass until `done`. */
async function until(done: () => Promise<boolean> | boolean): Promise<void> {
  const passes = () => {
    clock.advance(2_000);
    return done();
  };
  await expect.poll(passes, { interval: 5 }).toBe(true);
}

const files = () => readdir(folder);

/** Lets pauses pass until these outcomes are counted. That is the last thing done for a file: after it is deleted or renamed. */
async function counted(expected: readonly string[]): Promise<void> {
  await until(() => outcomes.length >= expected.length);
  expect(outcomes).toEqual(expected);
}

/** Lets pauses pass until control has given so many more answers. */
async function look(requests: number): Promise<void> {
  const wanted = answered + requests;
  await until(() => answered >= wanted);
  expect(answered).toBe(wanted);
}

describe('recordings of calls that go on', () => {
  const path = () => join(folder, `${id}.part`);

  it('are sent in parts of whole chunks, and the rest after the call', async () => {
    const bytes = file(80);
    await writeFile(path(), bytes.subarray(0, 200_000));
    uploads.start();
    await look(2);
    const first = stored.get(id)?.length ?? 0;
    expect(first).toBeGreaterThan(190_000);
    expect((first - encodeHeader(recordingOrder(id).header).length) % 8_040).toBe(0);
    await writeFile(path(), bytes.subarray(0, 400_000));
    await look(1);
    expect(bytes.subarray(0, stored.get(id)?.length).equals(stored.get(id) ?? Buffer.alloc(0))).toBe(true);
    expect(outcomes).toEqual([]);
    await writeFile(path(), bytes);
    await rename(path(), join(folder, `${id}.rec`));
    await until(() => outcomes.length > 0);
    expect(stored.get(id)?.equals(bytes)).toBe(true);
    expect([completed, outcomes, await files()]).toEqual([[id], ['sent'], []]);
  });

  it('wait for ten seconds of audio, and are not asked about again and again', async () => {
    await writeFile(path(), file(10));
    const later = id.replace('0123', '0124');
    await writeFile(join(folder, `${later}.part`), file(40, later));
    uploads.start();
    await look(2);
    const last = id.replace('0123', '0125');
    await writeFile(join(folder, `${last}.part`), file(40, last));
    await look(2);
    expect([...stored.keys()]).toEqual([later, last]);
  });

  it('go on after an outage with what control lacks', async () => {
    const bytes = file(80);
    await writeFile(path(), bytes.subarray(0, 200_000));
    uploads.start();
    await look(2);
    const first = stored.get(id)?.length ?? 0;
    await writeFile(path(), bytes.subarray(0, 400_000));
    // Control stores the part, and the edge does not hear of it.
    lost = (method) => method === 'PUT';
    await look(1);
    lost = () => false;
    const second = stored.get(id)?.length ?? 0;
    expect(second).toBeGreaterThan(first);
    await expect.poll(() => outcomes).toEqual(['failed']);
    await writeFile(path(), bytes);
    await look(2);
    expect(stored.get(id)?.length).toBe(bytes.length);
    expect(stored.get(id)?.equals(bytes)).toBe(true);
  });

  it('are not sent any more once they were deleted in control, and are deleted here after the call', async () => {
    const bytes = file(80);
    await writeFile(path(), bytes.subarray(0, 200_000));
    uploads.start();
    await look(2);
    state = 'deleted';
    await writeFile(path(), bytes);
    await look(1);
    const later = id.replace('0123', '0124');
    await writeFile(join(folder, `${later}.part`), file(40, later));
    // Only the other one is asked about.
    await look(1);
    await rename(path(), join(folder, `${id}.rec`));
    await until(() => outcomes.length > 0);
    expect([outcomes, completed, await files()]).toEqual([['deleted'], [], [`${later}.part`]]);
  });

  it('are not delayed by one that control cannot take', async () => {
    const later = id.replace('0123', '0124');
    await writeFile(join(folder, `${id}.rec`), file(3));
    await writeFile(join(folder, `${later}.part`), file(40, later));
    instead = (method, url) => (method === 'PUT' && url.includes(id) ? 500 : null);
    uploads.start();
    await until(() => (stored.get(later)?.length ?? 0) > 0);
    expect(outcomes[0]).toBe('failed');
    instead = () => null;
    await until(async () => (await files()).join() === `${later}.part`);
  });

  it('are completed soon when their writer is gone, and counted; others are not touched', async () => {
    const later = id.replace('0123', '0124');
    const bytes = file(40);
    await writeFile(path(), bytes.subarray(0, -1_000));
    await writeFile(join(folder, `${later}.part`), file(10, later));
    uploads.start();
    await look(2);
    expect(room.usedBytes).toBe(0);
    instead = () => 503;
    uploads.complete([id, 'one-that-has-its-final-name']);
    await until(async () => (await files()).includes(`${id}.rec`));
    await expect.poll(() => room.usedBytes).toBeGreaterThan(300_000);
    instead = () => null;
    await until(() => completed.length > 0);
    await until(async () => (await files()).join() === `${later}.part`);
    expect(stored.get(id)?.equals(bytes.subarray(0, stored.get(id)?.length))).toBe(true);
    await expect.poll(() => room.usedBytes).toBe(0);
  });

  it('are counted once when they could not get their final name, and not at all once they are sent', async () => {
    const bytes = file(40);
    // Something stands in the place of the final name.
    await mkdir(join(folder, `${id}.rec`));
    const writer = new RecordingFile({ folder, id, room, syncs: new DiskSync(clock), failed: () => {} });
    writer.append(bytes);
    await writer.finish(Buffer.alloc(0));
    expect(await files()).toContain(`${id}.part`);
    await rmdir(join(folder, `${id}.rec`));
    uploads.start();
    await look(2);
    clock.advance(14 * 3_600_000);
    await until(() => outcomes.length > 0);
    expect([completed, outcomes, await files()]).toEqual([[id], ['sent'], []]);
    expect(room.usedBytes).toBe(0);
  });

  it('are completed when nobody has written them for longer than a call lasts', async () => {
    await writeFile(path(), file(40).subarray(0, -1_000));
    uploads.start();
    await look(2);
    clock.advance(14 * 3_600_000);
    await until(() => outcomes.length > 0);
    expect([completed, outcomes, await files()]).toEqual([[id], ['sent'], []]);
  });
});

describe('recordings on the edge', () => {
  it('are sent in parts and then deleted, the oldest first', async () => {
    const later = id.replace('0123', '0124');
    const [first, second] = [file(200), file(3, later)];
    await writeFile(join(folder, `${later}.rec`), second);
    await writeFile(join(folder, `${id}.rec`), first);
    await uploads.recover();
    expect(room.usedBytes).toBeGreaterThan(first.length);
    uploads.start();
    await counted(['sent', 'sent']);
    expect(await files()).toEqual([]);
    expect(stored.get(id)?.equals(first)).toBe(true);
    expect(completed).toEqual([id, later]);
    expect(room.usedBytes).toBe(0);
  });

  it('are sent although many before them fail in every look', async () => {
    const idOf = (n: number) => id.slice(0, -1) + n;
    for (let n = 0; n < 7; n++) await writeFile(join(folder, `${idOf(n)}.rec`), file(1, idOf(n)));
    // As after a restore without the key that these were sealed for.
    instead = (_, url) => (url.endsWith('/complete') && !url.includes(idOf(6)) ? 500 : null);
    uploads.start();
    await until(() => completed.includes(idOf(6)));
  });

  it('are sent and completed although one before them cannot be read', async () => {
    const idOf = (n: number) => id.slice(0, -1) + n;
    // Reading a link to itself fails as a damaged disk does.
    for (const unreadable of [`${idOf(0)}.part`, `${idOf(1)}.rec`])
      await symlink(unreadable, join(folder, unreadable));
    await writeFile(join(folder, `${idOf(2)}.part`), file(3, idOf(2)));
    await writeFile(join(folder, `${idOf(3)}.rec`), file(3, idOf(3)));
    await uploads.recover();
    expect((await files()).sort()).toEqual([
      `${idOf(0)}.part`,
      `${idOf(1)}.rec`,
      `${idOf(2)}.rec`,
      `${idOf(3)}.rec`,
    ]);
    uploads.start();
    await until(() => completed.length === 2);
    expect(completed).toEqual([idOf(2), idOf(3)]);
    // At once: a look that goes on would find no file, or half of one.
    await writeFile(join(folder, 'readable'), file(3, idOf(0)));
    await rename(join(folder, 'readable'), join(folder, `${idOf(0)}.part`));
    await until(() => completed.length === 3);
    expect(completed[2]).toBe(idOf(0));
  });

  it('go on where they were cut off by an outage', async () => {
    const bytes = file(200);
    await writeFile(join(folder, `${id}.rec`), bytes);
    let parts = 0;
    instead = (method) => {
      if (method !== 'PUT') return null;
      parts++;
      if (parts === 2) return 'hang up';
      return parts === 3 ? 503 : null;
    };
    await uploads.recover();
    uploads.start();
    await counted(['failed', 'failed', 'sent']);
    expect(await files()).toEqual([]);
    expect(stored.get(id)?.equals(bytes)).toBe(true);
    expect(parts).toBe(Math.ceil(bytes.length / 524_288) + 2);
  });

  it('are deleted here when they were deleted there', async () => {
    state = 'deleted';
    await writeFile(join(folder, `${id}.rec`), file(3));
    await uploads.recover();
    uploads.start();
    await counted(['deleted']);
    expect(await files()).toEqual([]);
    expect(completed).toEqual([]);
  });

  it('stay when control refuses them for good, and the next one is sent', async () => {
    const later = id.replace('0123', '0124');
    await writeFile(join(folder, `${id}.rec`), 'no recording');
    await writeFile(join(folder, `${later}.rec`), file(3, later));
    await uploads.recover();
    uploads.start();
    await counted(['refused', 'sent']);
    await until(async () => (await files()).join() === `${id}.refused`);
    expect(room.usedBytes).toBe(1_024);
  });

  it('wait while control has no place for them yet, as in an upgrade', async () => {
    let answers = 0;
    instead = () => (answers++ < 3 ? 404 : null);
    await writeFile(join(folder, `${id}.rec`), file(3));
    await uploads.recover();
    uploads.start();
    await counted(['failed', 'failed', 'failed', 'sent']);
    expect(await files()).toEqual([]);
  });

  it('of a process that was killed are kept up to the last whole half second', async () => {
    const bytes = file(3);
    await writeFile(join(folder, `${id}.part`), bytes.subarray(0, bytes.length - 1_000));
    await writeFile(join(folder, 'empty.part'), bytes.subarray(0, 20));
    await uploads.recover();
    expect(await files()).toEqual([`${id}.rec`]);
    const kept = await readFile(join(folder, `${id}.rec`));
    expect(bytes.subarray(0, kept.length).equals(kept)).toBe(true);
    expect(kept.length).toBe(encodeHeader(recordingOrder(id).header).length + 2 * 8_040);
  });
});
