/**
 * A trunk for tests: a SIP server over TLS that answers OPTIONS, BYE and CANCEL itself and leaves INVITEs to the test. It
 * shares no code with the edge, so it is an independent check.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { SipReader, type SipText } from '../../../scripts/call/sip-text.ts';
import type { TestKeyPair } from '../fakes/certificates.ts';
import { ServerSockets } from '../fakes/server-sockets.ts';
import { eventually, saw } from './eventually.ts';

export interface TrunkOptions {
  /** Address to listen on. */
  readonly host?: string;
  /** Host and port that peers are given, if they do not reach the trunk directly. */
  readonly reachedAt?: string;
  /** Gets each new call, instead of {@link TestTrunk.call}; the trunk forgets it with {@link TestTrunk.forget}. */
  readonly onCall?: (call: TrunkCall) => void;
}

const optionsHeaders = ['Allow: INVITE, ACK, BYE, CANCEL, OPTIONS', 'User-Agent: TestTrunk/1'];

export class TestTrunk {
  readonly port: number;
  readonly #sockets: ServerSockets;
  readonly #calls = new Map<string, TrunkCall>();
  readonly #fresh: TrunkCall[] = [];
  #connections = 0;
  readonly #reachedAt: string;
  readonly #onCall: (call: TrunkCall) => void;
  /** Answered OPTIONS requests. */
  probes = 0;

  private constructor(server: Server, port: number, options: TrunkOptions) {
    this.#sockets = new ServerSockets(server);
    this.port = port;
    this.#reachedAt = options.reachedAt ?? `127.0.0.1:${port}`;
    this.#onCall = options.onCall ?? ((call) => this.#fresh.push(call));
    server.on('secureConnection', (socket: TLSSocket) => this.#connected(socket));
    // Discovery, and an edge that does not trust the certificate, end the handshake.
    server.on('tlsClientError', () => {});
  }

  /** @param port 0 for a free one @param tls requirements for clients */
  static async listen(
    { cert, key }: TestKeyPair,
    port = 0,
    tls: TlsOptions = {},
    options: TrunkOptions = {},
  ): Promise<TestTrunk> {
    const server = createServer({ cert, key, ...tls });
    server.listen(port, options.host ?? '127.0.0.1');
    await once(server, 'listening');
    return new TestTrunk(server, (server.address() as AddressInfo).port, options);
  }

  /** Later requests of the call are not answered. */
  forget(call: TrunkCall): void {
    this.#calls.delete(call.id);
  }

  /** The next inbound call. */
  call(): Promise<TrunkCall> {
    return eventually(`an INVITE on port ${this.port}`, () => {
      saw(`${this.#calls.size} calls before it, ${this.probes} OPTIONS, ${this.#connections} connections`);
      return this.#fresh.shift();
    });
  }

  /** Inbound calls that the test did not fetch. */
  get waiting(): number {
    return this.#fresh.length;
  }

  /** Stops listening and closes the connections. */
  async close(): Promise<void> {
    await this.#sockets.close();
  }

  #connected(socket: TLSSocket): void {
    this.#connections++;
    const reader = new SipReader();
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      for (const message of reader.read(text)) this.#receive(socket, message);
    });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#connections--);
  }

  #receive(socket: TLSSocket, message: SipText): void {
    if (message.method === 'OPTIONS') {
      this.probes++;
      respond(socket, message, '200 OK', optionsHeaders);
      return;
    }
    const id = message.header('call-id') ?? '';
    const known = this.#calls.get(id);
    if (known) known.receive(message);
    else if (message.method === 'INVITE') {
      const call = new TrunkCall(socket, message, this.#reachedAt);
      this.#calls.set(id, call);
      this.#onCall(call);
    }
  }
}

/** One call as the trunk sees it. */
export class TrunkCall {
  readonly invite: SipText;
  /** Messages after the INVITE. */
  readonly received: SipText[] = [];
  readonly #socket: TLSSocket;
  readonly #contact: string;
  #requests = 0;

  constructor(socket: TLSSocket, invite: SipText, reachedAt: string) {
    this.#socket = socket;
    this.invite = invite;
    this.#contact = `Contact: <sip:trunk@${reachedAt};transport=tls>`;
  }

  /** SIP Call-ID */
  get id(): string {
    return this.invite.header('call-id') ?? '';
  }

  /** Whether a request of that method came after the INVITE. */
  got(method: string): boolean {
    return this.received.some((one) => one.method === method);
  }

  /** Answers the INVITE. @param status `180 Ringing` */
  answer(status: string, sdp = ''): void {
    respond(this.#socket, this.invite, status, [this.#contact], sdp);
  }

  /** The next request of that method after the INVITE. */
  expect(method: string): Promise<SipText> {
    return this.#receives(method, (one) => one.method === method);
  }

  /** Sends BYE. @returns its response */
  hangUp(): Promise<SipText> {
    return this.#request('BYE');
  }

  /** Sends REFER. @returns its response */
  refer(to: string): Promise<SipText> {
    return this.#request('REFER', [this.#contact, `Refer-To: <${to}>`]);
  }

  #request(method: string, headers: readonly string[] = []): Promise<SipText> {
    const cseq = `${++this.#requests} ${method}`;
    const target = /<([^>]+)>/.exec(this.invite.header('contact') ?? '')?.[1] ?? '';
    const to = this.invite.header('to') ?? '';
    this.#socket.write(
      [
        `${method} ${target} SIP/2.0`,
        `Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK${randomBytes(8).toString('hex')};rport`,
        'Max-Forwards: 70',
        `From: ${tagged(to)}`,
        `To: ${this.invite.header('from')}`,
        `Call-ID: ${this.invite.header('call-id')}`,
        `CSeq: ${cseq}`,
        ...headers,
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n'),
      'latin1',
    );
    return this.#receives(
      `the response to ${method}`,
      (one) => one.status >= 200 && one.header('cseq') === cseq,
    );
  }

  #receives(what: string, isMeant: (message: SipText) => boolean): Promise<SipText> {
    return eventually(`${what} of call ${this.invite.header('call-id')}`, () => {
      saw(`after the INVITE: ${this.received.map(({ startLine }) => startLine).join(', ') || 'nothing'}`);
      return this.received.find(isMeant);
    });
  }

  receive(message: SipText): void {
    this.received.push(message);
    if (message.status !== 0 || message.method === 'ACK') return;
    respond(this.#socket, message, '200 OK');
    if (message.method === 'CANCEL') this.answer('487 Request Terminated');
  }
}

function respond(
  socket: TLSSocket,
  request: SipText,
  status: string,
  headers: readonly string[] = [],
  body = '',
): void {
  const copied = request.raw
    .slice(0, request.raw.indexOf('\r\n\r\n'))
    .split('\r\n')
    .filter((line) => /^(via|from|to|call-id|cseq):/i.test(line))
    .map((line) => (/^to:/i.test(line) ? tagged(line) : line));
  socket.write(
    [
      `SIP/2.0 ${status}`,
      ...copied,
      ...headers,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
      '',
      body,
    ].join('\r\n'),
    'latin1',
  );
}

function tagged(to: string): string {
  return /;tag=/i.test(to) ? to : `${to};tag=trunk`;
}
