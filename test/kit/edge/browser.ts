/** A browser that calls an engine in this process over a WebSocket. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '#shared/clock.ts';
import { type HepPacket, HepStream } from '#shared/hep.ts';
import { parseConfiguration, stackOptions } from '../../../edge/engine/configuration.ts';
import type { SipMessage, SipRequest, SipResponse } from '../../../edge/engine/message/message.ts';
import { Stack } from '../../../edge/engine/stack.ts';
import { type App, engineConfiguration, leave, newApp, TestCertificates } from './engine.ts';
import { Inbox } from './sip-peer.ts';

export const CONTACT = 'sip:x@abc.invalid;transport=ws';

/** A minimal browser SIP stack: no address of its own, no Content-Length, one message per text frame. */
export class BrowserPhone extends Inbox {
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

  /** @param ca trusted, PEM @throws when the connection is refused */
  static async connect(port: number, ca: TestCertificates['ca'] | string): Promise<BrowserPhone> {
    const socket = new WebSocket(`wss://127.0.0.1:${port}/`, 'sip', { ca });
    const phone = new BrowserPhone(socket);
    await once(socket, 'open');
    return phone;
  }

  request(
    method: string,
    cseq: number,
    changes: Record<string, string> = {},
    body = '',
    uri = 'sip:b@example.com',
  ): string[] {
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
    const lines = [`${method} ${uri} SIP/2.0`, ...head];
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

/** Starts an engine, an application, a trace collector and a browser for each test. */
export function browserScene() {
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
    phone = await BrowserPhone.connect(port, certificates.ca);
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

  /** Checks that no call state is left once the timers of answered INVITEs have expired. */
  async function nothingLeft(connections: number): Promise<void> {
    await expect.poll(() => stack.metrics().transport_inbound).toBe(connections);
    clock.advance(32_000);
    expect(stack.metrics()).toMatchObject({ dialogs: 0, server_transactions: 0, client_transactions: 0 });
  }

  return {
    get certificates() {
      return certificates;
    },
    get copies() {
      return copies;
    },
    get clock() {
      return clock;
    },
    get stack() {
      return stack;
    },
    get port() {
      return port;
    },
    get appPort() {
      return appPort;
    },
    get app() {
      return app;
    },
    get phone() {
      return phone;
    },
    nothingLeft,
  };
}
