import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type HepPacket, HepStream } from '#shared/hep.ts';
import { Metrics } from '../transport/metrics.ts';
import { HepSender } from './hep-sender.ts';

const packet: HepPacket = {
  at: 1_900_000_000_000_000,
  source: { address: '127.0.0.1', port: 5061 },
  destination: { address: '127.0.0.2', port: 40_000 },
  transport: 'tls',
  direction: 'sent',
  callId: 'c',
  payload: Buffer.from('OPTIONS sip:x SIP/2.0\r\n\r\n'),
};

async function collector(port = 0) {
  const server = createServer();
  const connected = once(server, 'connection').then(([socket]: Socket[]) => {
    if (!socket) throw new Error('no connection');
    return socket;
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, connected, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

/** Sends copies until one is accepted, while the connection is being opened. */
async function sendOne(sender: HepSender, metrics: Metrics, sentBefore: number): Promise<void> {
  const sends = () => {
    if ((metrics.snapshot().hep_sent ?? 0) === sentBefore) sender.send(packet);
    return metrics.snapshot().hep_sent ?? 0;
  };
  await expect.poll(sends).toBe(sentBefore + 1);
}

async function firstPacket(socket: Socket): Promise<HepPacket | undefined> {
  const [chunk]: Buffer[] = await once(socket, 'data');
  return new HepStream().push(chunk ?? Buffer.alloc(0))[0];
}

it('drops copies while the collector is unreachable, and reconnects', async () => {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const first = await collector();
  const sender = new HepSender({ host: '127.0.0.1', port: first.port }, metrics, clock);
  sender.send(packet);
  expect(metrics.snapshot()).toEqual({ hep_dropped: 1 });
  await sendOne(sender, metrics, 0);
  const socket = await first.connected;
  expect(await firstPacket(socket)).toEqual(packet);

  socket.destroy();
  first.server.close();
  await expect.poll(() => clock.pending).toBe(1);
  sender.send(packet);
  expect(metrics.snapshot()).toMatchObject({ hep_sent: 1 });

  const second = await collector(first.port);
  clock.advance(250);
  await sendOne(sender, metrics, 1);
  const again = await second.connected;
  expect(await firstPacket(again)).toEqual(packet);
  sender.close();
  await once(again, 'end');
  again.destroy();
  second.server.close();
  expect(clock.pending).toBe(0);
});

it('connects to the collector at once when an application has connected', async () => {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const free = await collector();
  free.server.close();
  await once(free.server, 'close');
  const sender = new HepSender({ host: '127.0.0.1', port: free.port }, metrics, clock);
  await expect.poll(() => clock.pending).toBe(1);
  const late = await collector(free.port);
  sender.hurry();
  sender.hurry();
  await sendOne(sender, metrics, 0);
  const socket = await late.connected;
  expect(await firstPacket(socket)).toEqual(packet);
  expect(clock.pending).toBe(0);
  sender.close();
  await once(socket, 'end');
  socket.destroy();
  late.server.close();
  sender.hurry();
  expect(clock.pending).toBe(0);
});
