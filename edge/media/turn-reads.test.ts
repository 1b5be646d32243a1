/** The pipe from a real media worker, read at turns of the playout clock. */
import { createSocket } from 'node:dgram';
import type { Readable } from 'node:stream';
import { createWorker, type types } from 'mediasoup';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { loopedStream, numberedPacket, pcmuStream, writesOf } from '../../test/kit/fakes/worker-stream.ts';
import { PacketReader } from './packet-reader.ts';
import { TurnReads } from './turn-reads.ts';
import { catchPipes, PacketSender, WorkerPipe } from './worker-pipe.ts';

/** Of turns that are evenly apart. */
const untilNextMs = 5;

describe('the pipe from a media worker', () => {
  let worker: types.Worker;
  let gone: Promise<unknown>;
  let from: Readable;
  let reads: TurnReads;
  let consumer: types.Consumer;
  let plain: types.PlainTransport;
  let chunks = 0;
  let heard: number[];
  let sent = 0;
  /** Has the worker send `count` packets back. */
  let send: (count: number) => void;

  beforeEach(async () => {
    const caught = catchPipes(() => createWorker({ workerBin: testWorkerBin(), logLevel: 'error' }));
    worker = await caught.started;
    onTestFinished(() => worker.close());
    gone = new Promise((resolve) => caught.process?.once('close', resolve));
    if (!caught.from || !caught.to) throw new Error('mediasoup has no pipes');
    from = caught.from;
    const reader = PacketReader.inFrontOf(from);
    if (!reader) throw new Error('the pipe has other listeners');
    chunks = 0;
    from.on('data', () => void chunks++);
    reads = new TurnReads(from, reader);
    const pipe = new WorkerPipe(caught.to, () => reads.asked());
    const { router, producer, consumer: looped } = await loopedStream(worker);
    consumer = looped;
    plain = await router.createPlainTransport({
      listenInfo: { protocol: 'udp', ip: '127.0.0.1' },
      comedia: true,
    });
    await plain.produce(pcmuStream);
    heard = [];
    reader.listen(consumer.id, (rtp) => void heard.push(rtp.at(-1) ?? 0));
    const sender = new PacketSender(producer, pipe);
    send = (count) => {
      pipe.together(() => {
        for (let i = 0; i < count; i++) sender.send(numberedPacket(++sent));
      });
    };
    // With the first packets of a stream the worker tells more than these.
    while (!reads.waits) {
      const before = heard.length;
      send(10);
      await expect.poll(() => heard.length).toBe(before + 10);
      reads.end(untilNextMs);
    }
    heard = [];
    sent = 0;
  });

  /** After the worker has written once more. */
  async function written(work: () => void): Promise<void> {
    const before = writesOf(worker.pid);
    work();
    await expect.poll(() => writesOf(worker.pid)).toBeGreaterThan(before);
    await new Promise((resolve) => setImmediate(resolve));
  }

  test('is read right before a turn when many packets came before the last one', async () => {
    const before = chunks;
    await written(() => send(8));
    expect(heard.length).toBe(0);
    reads.begin();
    expect(heard.length).toBeGreaterThan(0);
    expect(chunks).toBe(before);
    await expect
      .poll(() => {
        reads.begin();
        return heard;
      })
      .toEqual(Array.from({ length: 8 }, (_, i) => i + 1));
  });

  test('is read at once after a turn with few packets', async () => {
    await written(() => send(1));
    reads.begin();
    reads.end(untilNextMs);
    expect(reads.waits).toBe(false);
    send(1);
    await expect.poll(() => heard.length).toBe(2);
  });

  test('is read at once when the next turn is far away, although many packets come', async () => {
    for (const [ms, waits] of [
      [20, false],
      [10, false],
      [5, true],
      [Number.POSITIVE_INFINITY, false],
    ] as const) {
      const before = heard.length;
      send(10);
      await expect
        .poll(() => {
          reads.begin();
          return heard.length;
        })
        .toBe(before + 10);
      reads.end(ms);
      expect(reads.waits, `${ms} ms`).toBe(waits);
    }
  });

  test('is read at once when there are no more turns, and nothing of what waits is lost', async () => {
    await written(() => send(300));
    reads.atOnce();
    await expect.poll(() => heard.length).toBe(300);
    expect(heard).toEqual(Array.from({ length: 300 }, (_, i) => (i + 1) % 256));
  });

  test('is read at once while the worker is asked something, and waits again when it has answered', async () => {
    expect((await consumer.getStats()).length).toBeGreaterThan(0);
    send(10);
    await expect.poll(() => heard.length).toBe(10);
    reads.end(untilNextMs);
    expect(reads.waits).toBe(false);
    send(10);
    await expect.poll(() => heard.length).toBe(20);
    reads.end(untilNextMs);
    expect(reads.waits).toBe(true);
  });

  test('gives mediasoup what the worker tells it of its own accord', async () => {
    const told = new Promise((resolve) => plain.once('tuple', resolve));
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    await written(() => socket.send(numberedPacket(0), plain.tuple.localPort, '127.0.0.1'));
    reads.begin();
    expect(await told).toMatchObject({ remoteIp: '127.0.0.1', remotePort: socket.address().port });
    send(10);
    reads.begin();
    reads.end(untilNextMs);
    expect(reads.waits).toBe(false);
  });

  test('that waits ends with the worker', async () => {
    process.kill(worker.pid, 'SIGKILL');
    await gone;
    reads.begin();
    reads.end(untilNextMs);
    expect([reads.waits, from.destroyed]).toEqual([false, true]);
  });
});
