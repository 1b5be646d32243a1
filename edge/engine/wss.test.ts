/** WebSockets of browsers (RFC 7118): how they are kept open, limited and closed. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { BrowserPhone, browserScene } from '../../test/kit/edge/browser.ts';
import { connectApp, EngineProgram } from '../../test/kit/edge/engine.ts';

const scene = browserScene();
const { nothingLeft } = scene;

/** A client that never closes its end. */
async function rudeClient(): Promise<{ tcp: Socket; raw: TLSSocket }> {
  const tcp = connect({ host: '127.0.0.1', port: scene.port, allowHalfOpen: true });
  const raw = connectTls({ socket: tcp, host: '127.0.0.1', ca: scene.certificates.ca });
  for (const socket of [tcp, raw]) socket.on('error', () => {});
  await once(raw, 'secureConnect');
  return { tcp, raw };
}

function upgrade(protocol: string): string {
  return [
    'GET / HTTP/1.1',
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    `Sec-WebSocket-Protocol: ${protocol}`,
    '\r\n',
  ].join('\r\n');
}

describe('a WebSocket', () => {
  it.each(['CRLF', 'WebSocket'])('is kept open by %s pings, and closed when they stop', async (kind) => {
    const answered = once(scene.phone.socket, kind === 'CRLF' ? 'message' : 'pong');
    scene.clock.advance(59_000);
    if (kind === 'CRLF') scene.phone.socket.send('\r\n\r\n');
    else scene.phone.socket.ping();
    const [answer] = await answered;
    expect(String(answer)).toBe(kind === 'CRLF' ? '\r\n' : '');
    scene.clock.advance(59_000);
    expect(scene.phone.socket.readyState).toBe(WebSocket.OPEN);
    scene.clock.advance(1_000);
    expect(await scene.phone.closed).toEqual({ code: 1000, reason: 'idle for 60 s' });
    await nothingLeft(0);
  });

  it('carries messages that are rejected like those over TLS', async () => {
    scene.phone.request('OPTIONS', 1, { 'Content-Length': '5' });
    expect(await scene.phone.status()).toBe(400);
    scene.phone.request('DANCE', 2);
    expect(await scene.phone.status()).toBe(405);
    scene.phone.request('OPTIONS', 3);
    expect(await scene.phone.status()).toBe(503);
    scene.phone.socket.send('garbage');
    expect((await scene.phone.closed).code).toBe(1000);
    expect(scene.stack.metrics()).toMatchObject({ messages_malformed: 2 });
  });

  it('is closed at a message over the limit', async () => {
    scene.phone.socket.send('x'.repeat(4_001));
    expect((await scene.phone.closed).code).toBe(1009);
    await nothingLeft(0);
  });

  it('is cut after a message over the limit when the browser does not close in return', async () => {
    const { tcp, raw } = await rudeClient();
    raw.write(upgrade('sip'));
    await once(raw, 'data');
    const closing = once(raw, 'data');
    const header = Buffer.from([0x81, 0xfe, 5_000 >> 8, 5_000 & 0xff, 0, 0, 0, 0]);
    raw.write(header);
    await closing;
    scene.clock.advance(2_000);
    await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(1);
    tcp.destroy();
  });

  it('counts towards the connections of its address, and is rejected while the address is blocked', async () => {
    scene.app.options((_request, response) => response.send(404, { headers: { 'X-Trunkline-Block': '60' } }));
    await connectApp({ appPort: scene.appPort }, scene.app);
    const second = await BrowserPhone.connect(scene.port, scene.certificates.ca);
    await expect(BrowserPhone.connect(scene.port, scene.certificates.ca)).rejects.toThrow();
    second.socket.terminate();
    await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(1);
    scene.stack.setKnown({});
    scene.phone.request('OPTIONS', 1);
    expect((await scene.phone.closed).code).toBe(1006);
    await expect(BrowserPhone.connect(scene.port, scene.certificates.ca)).rejects.toThrow();
    expect(scene.stack.metrics()).toMatchObject({ transport_inbound: 0, transport_blockedAddresses: 1 });
    scene.clock.advance(60_000);
    (await BrowserPhone.connect(scene.port, scene.certificates.ca)).socket.terminate();
    await nothingLeft(0);
  });

  it.each([
    ['sends nothing', ''],
    ['drips an HTTP head', 'GET / HTTP/1.1\r\nX-Drip: '],
    ['requests another subprotocol and stays connected', upgrade('chat')],
    ['requests no WebSocket and stays connected', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])(
    'that is never established, because the client %s, is given up after the handshake timeout',
    async (_, text) => {
      const { tcp, raw } = await rudeClient();
      raw.write(text);
      // An answer on another connection shows that the engine has read the earlier data.
      scene.phone.request('OPTIONS', 1);
      expect(await scene.phone.status()).toBe(503);
      scene.clock.advance(10_000);
      // Two connections per address are allowed, and the phone has one.
      await expect
        .poll(() => BrowserPhone.connect(scene.port, scene.certificates.ca))
        .toBeInstanceOf(BrowserPhone);
      tcp.destroy();
      await nothingLeft(2);
    },
  );
});

it('the engine program listens for WebSockets when configured to', async () => {
  const engine = await EngineProgram.start(scene.certificates, { wss: { host: '127.0.0.1', port: 0 } });
  const ready = engine.events.find(({ event }) => event === 'ready');
  const { wss } = ready as { wss?: { host: string; port: number } };
  expect(wss?.host).toBe('127.0.0.1');
  const browser = await BrowserPhone.connect(wss?.port ?? 0, scene.certificates.ca);
  browser.request('OPTIONS', 1);
  expect(await browser.status()).toBe(503);
  browser.socket.terminate();
  expect(await engine.stop()).toBe(0);
  expect(engine.complaints).toEqual([]);
});
