/** Packets on their way to a media worker. */
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { createWorker } from 'mediasoup';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { numberedPacket, writesOf } from '../../test/kit/fakes/worker-stream.ts';
import { catchPipes, PacketSender, WorkerPipe } from './worker-pipe.ts';

/** Streams whose messages name them and have a head and a tail; `asked` counts those that they made. */
function streams() {
  const written: string[] = [];
  const pipe = new Writable({
    write: (message: Buffer, _encoding, done) => {
      written.push(message.toString('latin1'));
      done();
    },
  });
  const state = { closed: false, asked: 0 };
  const producerOf = (id: string) => ({
    id,
    get closed() {
      return state.closed;
    },
    send: (rtp: Buffer) => {
      state.asked++;
      pipe.write(Buffer.concat([Buffer.from(`${id} ${rtp.length} `), rtp, Buffer.from(' tail')]));
    },
  });
  return { written, pipe, producer: producerOf('head'), other: producerOf('HEAD'), state };
}

describe('packets to a media worker', () => {
  test('are in messages that mediasoup would have made', async () => {
    const { started, to: pipe } = catchPipes(() =>
      createWorker({ workerBin: testWorkerBin(), logLevel: 'error' }),
    );
    const worker = await started;
    onTestFinished(() => worker.close());
    expect(pipe).toBeInstanceOf(Socket);
    const router = await worker.createRouter({
      mediaCodecs: [{ kind: 'audio', mimeType: 'audio/PCMU', clockRate: 8000, preferredPayloadType: 0 }],
    });
    const direct = await router.createDirectTransport();
    const produce = (ssrc: number) =>
      direct.produce({
        kind: 'audio',
        rtpParameters: {
          codecs: [{ mimeType: 'audio/PCMU', payloadType: 0, clockRate: 8000 }],
          encodings: [{ ssrc }],
        },
      });
    const producers = [await produce(7), await produce(8)];
    const write = vi.spyOn(Socket.prototype, 'write');
    onTestFinished(() => write.mockRestore());
    const last = () => Buffer.from(write.mock.calls.at(-1)?.[0] ?? []);
    const asked = producers.map((producer) => vi.spyOn(producer, 'send'));
    const to = pipe && new WorkerPipe(pipe);
    const senders = producers.map((producer) => new PacketSender(producer, to));
    for (const length of [172, 52]) {
      for (const [index, producer] of producers.entries()) {
        for (const sequence of [1, 2]) {
          senders[index]?.send(numberedPacket(sequence, length));
          const sent = last();
          producer.send(numberedPacket(sequence, length));
          expect(sent).toEqual(last());
        }
      }
    }
    // Besides those of this test, mediasoup was asked for the first message of each length.
    expect(asked.map(({ mock }) => mock.calls.length)).toEqual([4 + 2, 4]);
  });

  test('are prepared for each length, and those of a turn are one write', () => {
    const { written, pipe, producer, state } = streams();
    const to = new WorkerPipe(pipe);
    const sender = new PacketSender(producer, to);
    for (const text of ['one', 'four.']) sender.send(Buffer.from(text));
    const buffer = Buffer.from('two');
    to.together(() => {
      sender.send(buffer);
      buffer.write('six');
      sender.send(buffer);
      sender.send(Buffer.from('seven'));
      expect(written.splice(0)).toEqual(['head 3 one tail', 'head 5 four. tail']);
    });
    expect(written).toEqual(['head 3 two tailhead 3 six tailhead 5 seven tail']);
    sender.send(Buffer.from('ten'));
    expect(written.slice(1)).toEqual(['head 3 ten tail']);
    expect(state.asked).toBe(2);
  });

  test('of all streams have one message for each length, in which each names itself', () => {
    const { written, pipe, producer, other, state } = streams();
    const to = new WorkerPipe(pipe);
    const [one, two] = [new PacketSender(producer, to), new PacketSender(other, to)];
    to.together(() => {
      for (const text of ['one', 'two']) for (const sender of [one, two]) sender.send(Buffer.from(text));
    });
    expect(written.join('')).toBe('head 3 one tailHEAD 3 one tailhead 3 two tailHEAD 3 two tail');
    expect(state.asked).toBe(1);
  });

  test('come in their order, also where mediasoup makes a message among them', () => {
    const { written, pipe, producer } = streams();
    const to = new WorkerPipe(pipe);
    const sender = new PacketSender(producer, to);
    sender.send(Buffer.from('one'));
    to.together(() => {
      sender.send(Buffer.from('two'));
      sender.send(Buffer.from('three'));
      sender.send(Buffer.from('six'));
      sender.end();
      pipe.write('the end of the stream');
    });
    expect(written.join(', ')).toBe(
      'head 3 one tail, head 3 two tail, head 5 three tail, head 3 six tail, the end of the stream',
    );
  });

  test('are written as they were when the pipe takes them later, whatever was sent since', () => {
    const written: string[] = [];
    const waiting: (() => void)[] = [];
    const pipe = new Writable({
      highWaterMark: 1,
      write: (message: Buffer, _encoding, done) => {
        waiting.push(() => {
          written.push(message.toString('latin1'));
          done();
        });
      },
      writev: (chunks, done) => {
        waiting.push(() => {
          written.push(...chunks.map(({ chunk }: { chunk: Buffer }) => chunk.toString('latin1')));
          done();
        });
      },
    });
    const to = new WorkerPipe(pipe);
    const prepared = { message: Buffer.from('<    ,  >'), idAt: 6, at: 1, length: 4 };
    const sent = Array.from({ length: 40_000 }, (_, i) => i.toString(36).padStart(4, '0'));
    for (const [i, text] of sent.entries()) {
      to.add(prepared, Buffer.from('id'), Buffer.from(text));
      // Now it takes nothing, now all of it.
      if (i % 7_919 === 0) for (let next = waiting.shift(); next; next = waiting.shift()) next();
    }
    for (let next = waiting.shift(); next; next = waiting.shift()) next();
    expect(written.join('')).toBe(sent.map((text) => `<${text},id>`).join(''));
  });

  test('are dropped while a worker that does not read has a mebioctet of them, and sent again when it has read', () => {
    const { written, pipe, producer } = streams();
    const to = new WorkerPipe(pipe);
    const sender = new PacketSender(producer, to);
    const rtp = Buffer.alloc(16_384);
    sender.send(rtp);
    pipe.cork();
    for (let sent = 0; sent < 100; sent++) sender.send(rtp);
    expect(to.waiting).toBeGreaterThan(1_048_576);
    expect(to.waiting).toBeLessThan(1_048_576 + 2 * rtp.length);
    pipe.uncork();
    expect([to.waiting, written.length]).toEqual([0, 65]);
    sender.send(rtp);
    expect(written.length).toBe(66);
  });

  test('are sent by mediasoup without a pipe, and by nobody when the stream is closed', () => {
    const { written, producer, state } = streams();
    const sender = new PacketSender(producer, null);
    for (const text of ['one', 'two']) sender.send(Buffer.from(text));
    expect([state.asked, written.length]).toEqual([2, 2]);
    state.closed = true;
    sender.send(Buffer.from('three'));
    expect([state.asked, written.length]).toEqual([2, 2]);
  });
});

describe('packets from a media worker', () => {
  let pid: number;
  let heard: number[];
  /** Sends one to the worker. */
  let send: (sequence: number) => Promise<unknown>;

  beforeEach(async () => {
    const { started, process: child } = catchPipes(() =>
      createWorker({ workerBin: testWorkerBin(), logLevel: 'error' }),
    );
    const worker = await started;
    onTestFinished(() => worker.close());
    pid = child?.pid ?? 0;
    const router = await worker.createRouter({
      mediaCodecs: [{ kind: 'audio', mimeType: 'audio/PCMU', clockRate: 8000, preferredPayloadType: 0 }],
    });
    const plain = await router.createPlainTransport({
      listenInfo: { protocol: 'udp', ip: '127.0.0.1' },
      comedia: true,
    });
    const { id: producerId } = await plain.produce({
      kind: 'audio',
      rtpParameters: {
        codecs: [{ mimeType: 'audio/PCMU', payloadType: 0, clockRate: 8000 }],
        encodings: [{ ssrc: 7 }],
      },
    });
    const direct = await router.createDirectTransport();
    const consumer = await direct.consume({ producerId, rtpCapabilities: router.rtpCapabilities });
    heard = [];
    consumer.on('rtp', (rtp) => void heard.push(rtp.at(-1) ?? 0));
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    send = (sequence) =>
      new Promise((sent) =>
        socket.send(numberedPacket(sequence, 172), plain.tuple.localPort, '127.0.0.1', sent),
      );
    await send(0);
    await expect.poll(() => heard.length).toBe(1);
  });

  test('that it finds waiting are one write to Node, in their order', async () => {
    process.kill(pid, 'SIGSTOP');
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') T ');
    const before = writesOf(pid);
    const burst = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const sequence of burst) await send(sequence);
    process.kill(pid, 'SIGCONT');
    await expect.poll(() => heard.length).toBe(1 + burst.length);
    expect(heard).toEqual([0, ...burst]);
    expect(writesOf(pid) - before).toBeLessThan(burst.length / 2);
  });

  test('of many calls wait for each other, so that few have a write of their own', async () => {
    const before = writesOf(pid);
    const count = 200;
    let due = performance.now();
    for (let sequence = 1; sequence <= count; sequence++) {
      // As evenly as those of 100 calls. An idle worker would take each as it comes.
      due += 0.2;
      while (performance.now() < due);
      await send(sequence);
    }
    await expect.poll(() => heard.length).toBe(1 + count);
    expect(heard).toEqual(Array.from({ length: 1 + count }, (_, index) => index));
    expect(writesOf(pid) - before).toBeLessThan(count / 2);
  });
});
