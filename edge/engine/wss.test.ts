/** Browser phones: SIP over secure WebSocket (RFC 7118) through the engine to an application on drachtio-srf. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '#shared/clock.ts';
import { type HepPacket, HepStream } from '#shared/hep.ts';
import {
  type App,
  type AppDialog,
  type AppRequest,
  type AppResponse,
  connectApp,
  EngineProgram,
  engineConfiguration,
  leave,
  newApp,
  TestCertificates,
} from '../../test/kit/edge/engine.ts';
import { Inbox } from '../../test/kit/edge/sip-peer.ts';
import { parseConfiguration, stackOptions } from './configuration.ts';
import type { SipMessage, SipRequest, SipResponse } from './message/message.ts';
import { Stack } from './stack.ts';

const OFFER = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\n';
const ANSWER = OFFER.replace('o=- 1', 'o=- 2');
const CONTACT = 'sip:x@abc.invalid;transport=ws';

/** A minimal browser SIP stack: no address of its own, no Content-Length, one message per text frame. */
class BrowserPhone extends Inbox {
  readonly socket: WebSocket;
  readonly frames: { text: string; binary: boolean }[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #branches = 0;

  private constructor(socket: WebSocket) {
    super();
    this.socket = socket;
    socket.on('message', (data, binary) => {
      const text = String(data);
      this.frames.push({ text, binary });
      this.take(Buffer.from(text));
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => {
        this.end();
        resolve({ code, reason: String(reason) });
      }),
    );
  }

  /** @throws when the connection is refused */
  static async connect(port: number): Promise<BrowserPhone> {
    const socket = new WebSocket(`wss://127.0.0.1:${port}/`, 'sip', { ca: certificates.ca });
    const phone = new BrowserPhone(socket);
    await once(socket, 'open');
    return phone;
  }

  request(method: string, cseq: number, changes: Record<string, string> = {}, body = ''): string[] {
    const fields = {
      Via: `SIP/2.0/WSS abc.invalid;branch=z9hG4bK-${method}-${++this.#branches}`,
      From: '<sip:x@example.com>;tag=x',
      To: '<sip:b@example.com>',
      'Call-ID': 'call',
      CSeq: `${cseq} ${method}`,
      'Max-Forwards': '70',
      ...(method === 'INVITE' && { Contact: `<${CONTACT}>`, 'Content-Type': 'application/sdp' }),
      ...changes,
    };
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    const lines = [`${method} sip:b@example.com SIP/2.0`, ...head];
    this.socket.send(`${lines.join('\r\n')}\r\n\r\n${body}`);
    return lines;
  }

  /** Answers a request from the engine. */
  answer(request: SipRequest, status: number, fields: readonly string[] = [], body = ''): void {
    const copied = ['via', 'from', 'to', 'call-id', 'cseq'].map(
      (name) => `${name}: ${request.headers.get(name)}`,
    );
    this.socket.send(`${[`SIP/2.0 ${status} X`, ...copied, ...fields].join('\r\n')}\r\n\r\n${body}`);
  }

  async response(): Promise<SipResponse> {
    const message: SipMessage = await this.next();
    if (message.kind !== 'response') throw new Error(`a ${message.method} came instead of a response`);
    return message;
  }

  async incoming(): Promise<SipRequest> {
    const message: SipMessage = await this.next();
    if (message.kind !== 'request') throw new Error(`a ${message.status} came instead of a request`);
    return message;
  }
}

let certificates: TestCertificates;
let collector: Server;
let collected: Socket[];
let copies: HepPacket[];
let clock: FakeClock;
let stack: Stack;
let port: number;
let appPort: number;
let app: App;
let phone: BrowserPhone;
const logged: string[] = [];

beforeAll(() => {
  certificates = new TestCertificates();
});
afterAll(() => certificates.remove());

beforeEach(async () => {
  copies = [];
  collected = [];
  collector = createServer((socket) => {
    const stream = new HepStream();
    collected.push(socket);
    socket.on('data', (chunk: Buffer) => copies.push(...stream.push(chunk)));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  const hep = { host: '127.0.0.1', port: typeof address === 'object' ? address?.port : 0 };
  const wss = { host: '127.0.0.1', port: 0 };
  const limits = { maxMessageBytes: 4_000, idleTimeoutMs: 60_000, maxConnectionsPerAddress: 2 };
  const configuration = JSON.stringify({ ...engineConfiguration(certificates), wss, hep, limits });
  clock = new FakeClock();
  logged.length = 0;
  stack = new Stack(stackOptions(parseConfiguration(configuration)), clock, (level, message) => {
    if (level === 'error') logged.push(message);
  });
  stack.setKnown({ org: ['127.0.0.1'] });
  const addresses = await stack.listen();
  port = addresses.wss?.port ?? 0;
  appPort = addresses.app.port;
  app = newApp();
  phone = await BrowserPhone.connect(port);
});

afterEach(async () => {
  phone.socket.terminate();
  await leave(app);
  await stack.close();
  for (const socket of collected) socket.destroy();
  collector.close();
  expect(logged).toEqual([]);
  expect(clock.pending).toBe(0);
});

/** A call from the phone, answered by the application and acknowledged by the phone. */
async function established(): Promise<{ uas: AppDialog; ok: SipResponse }> {
  const dialog = new Promise<AppDialog>((resolve) => {
    app.invite((request, response) => {
      void app.createUAS(request, response, { localSdp: ANSWER }).then(resolve);
    });
  });
  await connectApp({ appPort }, app);
  phone.request('INVITE', 1, {}, OFFER);
  const ok = await phone.response();
  phone.request('ACK', 1, { To: ok.headers.get('to') ?? '' });
  return { uas: await dialog, ok };
}

/** Checks that no call state is left once the timers of answered INVITEs have expired. */
async function nothingLeft(connections: number): Promise<void> {
  await expect.poll(() => stack.metrics().transport_inbound).toBe(connections);
  clock.advance(32_000);
  expect(stack.metrics()).toMatchObject({ dialogs: 0, server_transactions: 0, client_transactions: 0 });
}

describe('a call from a browser', () => {
  it('stays on its WebSocket in both directions, although its Contact is unreachable', async () => {
    const { uas, ok } = await established();
    expect(ok.status).toBe(200);
    const sentBy = `SIP/2.0/WSS abc.invalid;branch=z9hG4bK-INVITE-1;rport=`;
    expect(ok.headers.get('via')).toMatch(new RegExp(`^${sentBy}\\d+;received=127\\.0\\.0\\.1$`));
    expect(ok.headers.get('contact')).toBe(`<sip:127.0.0.1:${port};transport=ws>`);
    expect(uas.remote.sdp).toBe(OFFER);

    const modified = uas.modify(ANSWER);
    const again = await phone.incoming();
    expect([again.method, again.uri]).toEqual(['INVITE', CONTACT]);
    expect(again.headers.get('via')).toMatch(
      new RegExp(`^SIP/2\\.0/WSS 127\\.0\\.0\\.1:${port};branch=z9hG4bK[0-9a-f]{24};rport$`),
    );
    expect(again.headers.get('contact')).toBe(`<sip:127.0.0.1:${port};transport=ws>`);
    phone.answer(again, 200, [`Contact: <${CONTACT}>`, 'Content-Type: application/sdp'], OFFER);
    expect(await modified).toBe(OFFER);
    const ack = await phone.incoming();
    expect([ack.method, ack.uri]).toEqual(['ACK', CONTACT]);

    void uas.destroy();
    const bye = await phone.incoming();
    expect([bye.method, bye.uri]).toEqual(['BYE', CONTACT]);
    phone.answer(bye, 200);
    await expect.poll(() => stack.metrics().dialogs).toBe(0);
    expect(phone.frames.filter(({ binary }) => binary)).toEqual([]);
    await nothingLeft(1);
  });

  it('is ended by the browser', async () => {
    const { uas, ok } = await established();
    const destroyed = once(uas, 'destroy');
    phone.request('BYE', 2, { To: ok.headers.get('to') ?? '' });
    const [bye] = (await destroyed) as [AppRequest];
    expect(bye.source_address).toBe('127.0.0.1');
    expect(await phone.status()).toBe(200);
    await nothingLeft(1);
  });

  it('is copied to the trace collector with its transport and its call', async () => {
    const { uas, ok } = await established();
    const gone = once(uas, 'destroy');
    phone.request('BYE', 2, { To: ok.headers.get('to') ?? '' });
    await gone;
    expect(await phone.status()).toBe(200);
    await expect.poll(() => copies.length).toBe(6);
    expect(
      copies.map(({ direction, transport, callId, payload }) => [
        direction,
        transport,
        callId,
        payload.toString().split(/[ \r]/, 2).join(' '),
      ]),
    ).toEqual([
      ['received', 'wss', 'call', 'INVITE sip:b@example.com'],
      ['sent', 'wss', 'call', 'SIP/2.0 100'],
      ['sent', 'wss', 'call', 'SIP/2.0 200'],
      ['received', 'wss', 'call', 'ACK sip:b@example.com'],
      ['received', 'wss', 'call', 'BYE sip:b@example.com'],
      ['sent', 'wss', 'call', 'SIP/2.0 200'],
    ]);
    expect(copies[0]?.destination).toEqual({ address: '127.0.0.1', port });
  });

  it('answers a digest challenge', async () => {
    const challenge = 'Digest realm="r", nonce="n", qop="auth"';
    const credentials = 'Digest username="x", realm="r", nonce="n", uri="sip:b@example.com", response="0"';
    const seen = new Promise<string>((resolve) => {
      app.invite((request, response) => {
        if (!request.has('Proxy-Authorization')) {
          response.send(407, { headers: { 'Proxy-Authenticate': challenge } });
          return;
        }
        resolve(request.get('Proxy-Authorization'));
        response.send(486);
      });
    });
    await connectApp({ appPort }, app);
    for (const [cseq, status, changes] of [
      [1, 407, {}],
      [2, 486, { 'Proxy-Authorization': credentials }],
    ] as const) {
      const [, via = ''] = phone.request('INVITE', cseq, changes, OFFER);
      const refusal = await phone.response();
      expect(refusal.status).toBe(status);
      if (status === 407) expect(refusal.headers.get('proxy-authenticate')).toBe(challenge);
      phone.request('ACK', cseq, { Via: via.slice('Via: '.length), To: refusal.headers.get('to') ?? '' });
    }
    expect(await seen).toBe(credentials);
    await expect.poll(() => stack.metrics().server_transactions).toBe(0);
  });

  it('is canceled', async () => {
    const cancelled = new Promise<AppRequest>((resolve) => {
      app.invite((request, response) => {
        request.on('cancel', resolve);
        response.send(180);
      });
    });
    await connectApp({ appPort }, app);
    const [, via = ''] = phone.request('INVITE', 1, {}, OFFER);
    expect(await phone.status()).toBe(180);
    phone.request('CANCEL', 1, { Via: via.slice('Via: '.length) });
    expect([await phone.status(), await phone.status()]).toEqual([200, 487]);
    expect((await cancelled).method).toBe('CANCEL');
    phone.request('ACK', 1, { Via: via.slice('Via: '.length) });
    await expect.poll(() => stack.metrics().server_transactions).toBe(0);
    await nothingLeft(1);
  });

  it('whose connection is lost has later requests answered 503', async () => {
    const { uas } = await established();
    phone.socket.terminate();
    await expect.poll(() => stack.metrics().transport_inbound).toBe(0);
    const info: AppResponse = await uas.request({ method: 'INFO' });
    expect(info.status).toBe(503);
    expect(info.get('Warning')).toContain('a WebSocket client cannot be dialed');
    expect((await uas.request({ method: 'BYE' })).status).toBe(503);
    await nothingLeft(0);
  });

  it('whose connection is lost before the BYE is answered has it answered 503', async () => {
    const { uas } = await established();
    const outcome = uas.request({ method: 'BYE' });
    expect((await phone.incoming()).method).toBe('BYE');
    phone.socket.terminate();
    const response = await outcome;
    expect(response.status).toBe(503);
    expect(response.get('Warning')).toMatch(/127\.0\.0\.1:\d+: connection lost: /);
    await nothingLeft(0);
  });

  it('whose phone has vanished has its BYE answered 408', async () => {
    const { uas } = await established();
    const outcome = uas.request({ method: 'BYE' });
    await phone.incoming();
    clock.advance(32_000);
    expect((await outcome).status).toBe(408);
    await nothingLeft(1);
  });
});

describe('a WebSocket', () => {
  it.each(['CRLF', 'WebSocket'])('is kept open by %s pings, and closed when they stop', async (kind) => {
    const answered = once(phone.socket, kind === 'CRLF' ? 'message' : 'pong');
    clock.advance(59_000);
    if (kind === 'CRLF') phone.socket.send('\r\n\r\n');
    else phone.socket.ping();
    const [answer] = await answered;
    expect(String(answer)).toBe(kind === 'CRLF' ? '\r\n' : '');
    clock.advance(59_000);
    expect(phone.socket.readyState).toBe(WebSocket.OPEN);
    clock.advance(1_000);
    expect(await phone.closed).toEqual({ code: 1000, reason: 'idle for 60 s' });
    await nothingLeft(0);
  });

  it('carries messages that are rejected like those over TLS', async () => {
    phone.request('OPTIONS', 1, { 'Content-Length': '5' });
    expect(await phone.status()).toBe(400);
    phone.request('DANCE', 2);
    expect(await phone.status()).toBe(405);
    phone.request('OPTIONS', 3);
    expect(await phone.status()).toBe(503);
    phone.socket.send('garbage');
    expect((await phone.closed).code).toBe(1000);
    expect(stack.metrics()).toMatchObject({ messages_malformed: 2 });
  });

  it('is closed at a message over the limit', async () => {
    phone.socket.send('x'.repeat(4_001));
    expect((await phone.closed).code).toBe(1009);
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
    clock.advance(2_000);
    await expect.poll(() => stack.metrics().transport_inbound).toBe(1);
    tcp.destroy();
  });

  it('counts towards the connections of its address, and is rejected while the address is blocked', async () => {
    app.options((_request, response) => response.send(404, { headers: { 'X-Trunkline-Block': '60' } }));
    await connectApp({ appPort }, app);
    const second = await BrowserPhone.connect(port);
    await expect(BrowserPhone.connect(port)).rejects.toThrow();
    second.socket.terminate();
    await expect.poll(() => stack.metrics().transport_inbound).toBe(1);
    stack.setKnown({});
    phone.request('OPTIONS', 1);
    expect((await phone.closed).code).toBe(1006);
    await expect(BrowserPhone.connect(port)).rejects.toThrow();
    expect(stack.metrics()).toMatchObject({ transport_inbound: 0, transport_blockedAddresses: 1 });
    clock.advance(60_000);
    (await BrowserPhone.connect(port)).socket.terminate();
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
      phone.request('OPTIONS', 1);
      expect(await phone.status()).toBe(503);
      clock.advance(10_000);
      // Two connections per address are allowed, and the phone has one.
      await expect.poll(() => BrowserPhone.connect(port)).toBeInstanceOf(BrowserPhone);
      tcp.destroy();
      await nothingLeft(2);
    },
  );
});

/** A client that never closes its end. */
async function rudeClient(): Promise<{ tcp: Socket; raw: TLSSocket }> {
  const tcp = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  const raw = connectTls({ socket: tcp, host: '127.0.0.1', ca: certificates.ca });
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

it('the engine program listens for WebSockets when configured to', async () => {
  const engine = await EngineProgram.start(certificates, { wss: { host: '127.0.0.1', port: 0 } });
  const ready = engine.events.find(({ event }) => event === 'ready');
  const { wss } = ready as { wss?: { host: string; port: number } };
  expect(wss?.host).toBe('127.0.0.1');
  const browser = await BrowserPhone.connect(wss?.port ?? 0);
  browser.request('OPTIONS', 1);
  expect(await browser.status()).toBe(503);
  browser.socket.terminate();
  expect(await engine.stop()).toBe(0);
  expect(engine.complaints).toEqual([]);
});
