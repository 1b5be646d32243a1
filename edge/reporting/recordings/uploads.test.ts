/** Sending recordings to a control plane that fails, goes away and comes back: a real HTTP server. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { ChunkSealer, encodeHeader } from '#shared/recording/format.ts';
import { recordingOrder } from '../../../test/kit/edge/recordings.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { DiskRoom } from '../../media/recording/disk-room.ts';
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

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'uploads-'));
  clock = new FakeClock();
  room = new DiskRoom(100_000_000);
  [stored, completed, outcomes] = [new Map(), [], []];
  instead = () => null;
  state = 'uploading';
  server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray());
    const { method = '', url = '' } = request;
    const other = instead(method, url);
    if (other === 'hang up') return void request.socket.destroy();
    if (other !== null) return void response.writeHead(other).end('{}');
    expect(request.headers.authorization).toBe('Bearer token');
    const [, of = id, at] = /recordings\/([^/?]+)(?:\?at=(\d+))?/.exec(url) ?? [];
    const before = stored.get(of) ?? Buffer.alloc(0);
    if (method === 'PUT' && Number(at) === before.length) stored.set(of, Buffer.concat([before, bytes]));
    if (url.endsWith('/complete')) completed.push(of);
    const answer = {
      state: url.endsWith('/complete') ? 'ready' : state,
      received: stored.get(of)?.length ?? 0,
    };
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
  await vi.waitFor(
    async () => {
      clock.advance(61_000);
      expect(await done()).toBe(true);
    },
    { timeout: 20_000, interval: 5 },
  );
}

const files = () => readdir(folder);
const isEmpty = async () => (await files()).length === 0;

describe('recordings on the edge', () => {
  it('are sent in parts and then deleted, the oldest first', async () => {
    const later = id.replace('0123', '0124');
    const [first, second] = [file(200), file(3, later)];
    await writeFile(join(folder, `${later}.rec`), second);
    await writeFile(join(folder, `${id}.rec`), first);
    await uploads.recover();
    expect(room.usedBytes).toBeGreaterThan(first.length);
    // The fake knows a recording's id only from the parts.
    stored.set(id, Buffer.alloc(0));
    uploads.start();
    await until(isEmpty);
    expect(stored.get(id)?.equals(first)).toBe(true);
    expect(outcomes).toEqual(['sent', 'sent']);
    expect(completed).toEqual([id, later]);
    expect(room.usedBytes).toBe(0);
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
    await until(isEmpty);
    expect(stored.get(id)?.equals(bytes)).toBe(true);
    expect(outcomes).toEqual(['failed', 'failed', 'sent']);
    expect(parts).toBe(Math.ceil(bytes.length / 524_288) + 2);
  });

  it('are deleted here when they were deleted there', async () => {
    state = 'deleted';
    await writeFile(join(folder, `${id}.rec`), file(3));
    await uploads.recover();
    uploads.start();
    await until(isEmpty);
    expect(outcomes).toEqual(['deleted']);
    expect(completed).toEqual([]);
  });

  it('stay when control refuses them for good, and the next one is sent', async () => {
    const later = id.replace('0123', '0124');
    await writeFile(join(folder, `${id}.rec`), 'no recording');
    await writeFile(join(folder, `${later}.rec`), file(3, later));
    await uploads.recover();
    uploads.start();
    await until(async () => (await files()).join() === `${id}.refused`);
    expect(outcomes).toEqual(['refused', 'sent']);
    expect(room.usedBytes).toBe(1_024);
  });

  it('wait while control has no place for them yet, as in an upgrade', async () => {
    let answers = 0;
    instead = () => (answers++ < 3 ? 404 : null);
    await writeFile(join(folder, `${id}.rec`), file(3));
    await uploads.recover();
    uploads.start();
    await until(isEmpty);
    expect(outcomes).toEqual(['failed', 'failed', 'failed', 'sent']);
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
