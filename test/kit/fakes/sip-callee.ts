/** A SIP server over TLS that sends only the responses of the test. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { TestKeyPair } from './certificates.ts';
import { ServerSockets } from './server-sockets.ts';
import { type Heard, SipCaller } from './sip-caller.ts';

export interface AnswerParts {
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Default `callee`; empty: none. */
  readonly tag?: string;
  /** Whether there is a Contact, as usual. */
  readonly contact?: boolean;
}

export class SipCallee {
  readonly port: number;
  readonly #sockets: ServerSockets;
  #line: SipCaller | null = null;
  #connected: (line: SipCaller) => void = () => {};

  private constructor(server: Server, port: number) {
    this.#sockets = new ServerSockets(server);
    this.port = port;
    server.on('secureConnection', (socket: TLSSocket) => {
      this.#line = new SipCaller(socket);
      this.#connected(this.#line);
    });
    // A client that rejects our certificate ends the handshake.
    server.on('tlsClientError', () => {});
  }

  static async listen({ cert, key }: TestKeyPair, host = '127.0.0.1'): Promise<SipCallee> {
    const server = createServer({ cert, key });
    server.listen(0, host);
    await once(server, 'listening');
    return new SipCallee(server, (server.address() as AddressInfo).port);
  }

  async #current(): Promise<SipCaller> {
    return (
      this.#line ??
      (await new Promise<SipCaller>((resolve) => {
        this.#connected = resolve;
      }))
    );
  }

  /** The next message on the current connection; see `SipCaller.awaited`. */
  async awaited(what: string, begin: string): Promise<Heard> {
    return await (await this.#current()).awaited(what, begin);
  }

  /** The next message on the newest connection. @throws when it was closed */
  async next(): Promise<Heard> {
    const heard = await (await this.#current()).next();
    if (!heard) throw new Error('the connection was closed');
    return heard;
  }

  /** The next message, which must be a request with that method. */
  async request(method: string): Promise<Heard> {
    const heard = await this.next();
    if (!heard.startLine.startsWith(`${method} `)) throw new Error(`not ${method} but ${heard.startLine}`);
    return heard;
  }

  answer(
    request: Heard,
    status: string,
    { headers = [], body = '', tag = 'callee', contact = true }: AnswerParts = {},
  ): void {
    const { via, from, to = '', 'call-id': callId, cseq } = request.headers;
    this.send(
      [
        `SIP/2.0 ${status}`,
        `Via: ${via}`,
        `From: ${from}`,
        `To: ${to}${tag === '' || /;tag=/.test(to) ? '' : `;tag=${tag}`}`,
        `Call-ID: ${callId}`,
        `CSeq: ${cseq}`,
        ...(contact ? [`Contact: <sip:callee@127.0.0.1:${this.port};transport=tls>`] : []),
        ...headers,
        ...(body === '' ? [] : ['Content-Type: application/sdp']),
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    );
  }

  send(text: string): void {
    this.#line?.send(text);
  }

  /** Cuts the connections. */
  drop(): void {
    this.#sockets.cut();
    this.#line = null;
  }

  async close(): Promise<void> {
    await this.#sockets.close();
  }
}
