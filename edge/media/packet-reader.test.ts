/** Packets of a real media worker, on their way to those that listen. */
import { createWorker, type types } from 'mediasoup';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { loopedStream, numberedPacket } from '../../test/kit/fakes/worker-stream.ts';
import { PacketReader } from './packet-reader.ts';
import { catchPipes, PacketSender, WorkerPipe } from './worker-pipe.ts';

const numberOf = (rtp: Buffer) => rtp.at(-1) ?? 0;

describe('packets from a media worker', () => {
  /** The chunks that came from the worker. */
  let chunks: Buffer[];
  let consumer: types.Consumer;
  let reader: PacketReader | null;
  let send: (sequence: number) => void;

  beforeEach(async () => {
    const { started, to, from } = catchPipes(() =>
      createWorker({ workerBin: testWorkerBin(), logLevel: 'error' }),
    );
    const worker = await started;
    onTestFinished(() => worker.close());
    chunks = [];
    reader = from && PacketReader.inFrontOf(from);
    from?.on('data', (chunk: Buffer) => void chunks.push(chunk));
    const { producer, consumer: looped } = await loopedStream(worker);
    consumer = looped;
    const sender = new PacketSender(producer, to && new WorkerPipe(to));
    send = (sequence) => sender.send(numberedPacket(sequence));
  });

  test('reach those that listen, and mediasoup those of other streams', async () => {
    const heard: Buffer[] = [];
    const byMediasoup: number[] = [];
    consumer.on('rtp', (rtp) => void byMediasoup.push(numberOf(rtp)));
    send(1);
    await expect.poll(() => byMediasoup).toEqual([1]);
    const end = reader?.listen(consumer.id, (rtp) => void heard.push(Buffer.from(rtp)));
    send(2);
    await expect.poll(() => heard.map((rtp) => rtp.subarray(-160))).toEqual([Buffer.alloc(160, 2)]);
    end?.();
    send(3);
    await expect.poll(() => byMediasoup).toEqual([1, 3]);
    // Answers of the worker are for mediasoup.
    expect((await consumer.getStats()).length).toBeGreaterThan(0);
  });

  test.each(['read', 'readReused'] as const)('are the same however they are cut (%s)', async (read) => {
    send(1);
    await expect.poll(() => chunks.length).toBeGreaterThan(0);
    await consumer.getStats();
    for (const sequence of [2, 3]) send(sequence);
    await consumer.getStats();
    const all = Buffer.concat(chunks);
    let whole: Buffer | undefined;
    for (const step of [1, 3, 100, 1000, all.length]) {
      const heard: number[] = [];
      const others: Buffer[] = [];
      const again = new PacketReader((octets) => void others.push(octets));
      again.listen(consumer.id, (rtp) => void heard.push(numberOf(rtp)));
      for (let at = 0; at < all.length; at += step) {
        const chunk = Buffer.from(all.subarray(at, at + step));
        again[read](chunk);
        if (read === 'readReused') chunk.fill(0xff);
      }
      expect(heard).toEqual([1, 2, 3]);
      expect(again.packets).toBe(3);
      expect(again.others).toBe(others.length);
      const left = Buffer.concat(others);
      expect(left.length).toBeGreaterThan(0);
      expect(left.length).toBeLessThan(all.length - 3 * 172);
      whole ??= left;
      expect(left).toEqual(whole);
    }
  });

  test('of streams whose ids start with the same digits reach the right listener, also when others are removed', async () => {
    send(1);
    await expect.poll(() => chunks.length).toBeGreaterThan(0);
    await consumer.getStats();
    const all = Buffer.concat(chunks);
    const ids = ['1', '2', '3'].map((end) => consumer.id.slice(0, -1) + end);
    const of = (id: string) => Buffer.from(all.toString('latin1').replaceAll(consumer.id, id), 'latin1');
    for (const gone of ids) {
      const heard: string[] = [];
      const again = new PacketReader(() => {});
      const ends = new Map(ids.map((id) => [id, again.listen(id, () => void heard.push(id))]));
      ends.get(gone)?.();
      for (const id of ids) again.read(of(id));
      expect(heard).toEqual(ids.filter((id) => id !== gone));
      for (const end of ends.values()) end?.();
      for (const id of ids) again.read(of(id));
      expect(heard.length).toBe(2);
    }
    expect(new PacketReader(() => {}).listen('no id of mediasoup', () => {})).toBeNull();
  });
});

test('answers of a media worker that come together are read in several turns of the event loop', async () => {
  const clock = new FakeClock();
  const turns: (() => void)[] = [];
  const { started, from } = catchPipes(() => createWorker({ workerBin: testWorkerBin(), logLevel: 'error' }));
  const worker = await started;
  onTestFinished(() => worker.close());
  const router = await worker.createRouter({ mediaCodecs: [] });
  const reader = from && PacketReader.inFrontOf(from, { clock, nextTurn: (next) => turns.push(next) });
  expect(reader).not.toBeNull();
  const legs = 40;
  let answered = 0;
  for (let leg = 0; leg < legs; leg++) {
    void router.createDirectTransport().then(() => {
      // What the set-up of a leg computes when an answer has come.
      clock.advance(1);
      answered++;
    });
  }
  const perTurn: number[] = [];
  let before = 0;
  await expect
    .poll(async () => {
      for (const next of turns.splice(0)) next();
      for (let i = 0; i < 100; i++) await null;
      perTurn.push(answered - before);
      before = answered;
      return answered;
    })
    .toBe(legs);
  // mediasoup takes an answer further in several steps: the next one can be read between them.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(8);
});
