import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { authority, cleanups, HOST, MESSAGE, Recorder } from '../../../test/kit/edge/transport.ts';
import type { TransportOptions } from './layer.ts';

async function listeningWss(options: Partial<TransportOptions> = {}) {
  const recorder = new Recorder({ wss: { host: HOST, port: 0 }, ...options });
  const { wss } = await recorder.layer.listen();
  const url = `wss://${HOST}:${wss?.port}/`;
  const open = (protocols: string[]) => {
    const socket = new WebSocket(url, protocols, { ca: authority.cert });
    socket.on('error', () => {});
    cleanups.push(() => socket.terminate());
    return socket;
  };
  return { recorder, open };
}

test('carries one message per frame in both directions', async () => {
  const { recorder, open } = await listeningWss();
  const socket = open(['sip']);
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(MESSAGE.toString());
  const { flow, text } = await recorder.event('message');
  expect(text).toBe(MESSAGE.toString());
  expect(flow).toMatchObject({ protocol: 'wss', remoteAddress: HOST, outbound: false });
  const answer = new Promise((resolve) =>
    socket.once('message', (data, binary) => resolve([String(data), binary])),
  );
  flow?.send(MESSAGE);
  expect(await answer).toEqual([MESSAGE.toString(), false]);
  const closed = new Promise((resolve) =>
    socket.once('close', (code, reason) => resolve([code, String(reason)])),
  );
  flow?.close('done');
  expect(await closed).toEqual([1000, 'done']);
  expect((await recorder.event('closed')).text).toBe('done');
});

test('rejects other subprotocols, plain requests and frames that are too large', async () => {
  const { recorder, open } = await listeningWss({ limits: { maxMessageBytes: 1000 } });
  const chat = open(['chat']);
  const status = await new Promise((resolve) =>
    chat.once('unexpected-response', (_request, response) => resolve(response.statusCode)),
  );
  expect(status).toBe(400);
  const socket = open(['sip']);
  await new Promise((resolve) => socket.once('open', resolve));
  const code = new Promise((resolve) => socket.once('close', resolve));
  socket.send('x'.repeat(1001));
  expect(await code).toBe(1009);
  expect((await recorder.event('closed')).text).toMatch(/Max payload size exceeded/);
});

test.each([
  ['the first octet of a frame', Buffer.from([0x81])],
  ['only a fragment', Buffer.from([0x01, 0x82, 0, 0, 0, 0, 0x4f, 0x50])],
])('%s is cut after its timeout', async (_what, octets) => {
  const { recorder, open } = await listeningWss({
    limits: { messageTimeoutMs: 10_000, firstMessageTimeoutMs: 60_000 },
  });
  const socket = open(['sip']);
  const raw = await new Promise<NodeJS.WritableStream>((resolve) =>
    socket.once('upgrade', ({ socket }) => resolve(socket)),
  );
  raw.write(octets);
  await expect.poll(() => recorder.layer.stats().unfinished_bytes).toBe(octets.length);
  recorder.clock.advance(9000);
  expect(recorder.layer.stats().inbound).toBe(1);
  recorder.clock.advance(1000);
  expect((await recorder.event('closed')).text).toBe('no complete message within 10 s');
});
