/** What is said of a server whose connection we close: what it did, not that it has closed the connection. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { FakeClock } from '#shared/clock.ts';
import { openSpeechSocket } from './speech-socket.ts';

const closes: (() => void)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

/** @param send right after the handshake, as it goes over the wire */
async function lost(send: (connection: Socket) => void): Promise<string> {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(wss, 'listening');
  closes.push(() => {
    for (const client of wss.clients) client.terminate();
    wss.close();
  });
  wss.on('connection', (socket, request) => {
    socket.on('error', () => undefined);
    send(request.socket);
  });
  const url = new URL(`ws://127.0.0.1:${(wss.address() as AddressInfo).port}/v1`);
  const why = Promise.withResolvers<string>();
  const nothing = () => undefined;
  const events = { opened: nothing, text: nothing, binary: nothing, idle: nothing, lost: why.resolve };
  const deps = { clock: new FakeClock(), maxMessageBytes: 20_000 };
  const server = { url, apiKey: null, model: 'm' };
  await openSpeechSocket(server, url, {}, deps, events, new AbortController().signal);
  return (await why.promise).replace(/^\S+ /, '');
}

/** A message of text in pieces of one octet, without its end. */
function pieces(count: number): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, at) => Buffer.from([at === 0 ? 0x01 : 0x00, 1, 0x61])),
  );
}

it.each([
  ['a message in pieces of one octet', 'sent a message in too many pieces', pieces(18_000)],
  [
    'a message that is too long',
    'sent a message of more than 20000 octets',
    Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
  ],
  [
    'a frame of an unknown kind',
    'sent what is not allowed in a WebSocket: invalid opcode 3',
    Buffer.from([0x83, 0]),
  ],
  [
    'text that is not UTF-8',
    'sent what is not allowed in a WebSocket: invalid UTF-8 sequence',
    Buffer.from([0x81, 1, 0xff]),
  ],
])('%s is the reason', async (_, why, octets) => {
  expect(await lost((connection) => connection.write(octets))).toBe(why);
});

it('the end of a connection is that of the server', async () => {
  expect(await lost((connection) => connection.write(Buffer.from([0x88, 2, 0x03, 0xf3])))).toBe(
    'closed the connection (1011)',
  );
});
