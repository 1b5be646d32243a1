/** What the laboratory servers of speech have in common: a WebSocket server that plays faults by order of the test. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { ServerSockets } from '../fakes/server-sockets.ts';

export const labKey = 'key-of-the-laboratory-0123456789';

export interface LabFaults {
  /** Status with which the next connections are refused; null: they are accepted. */
  refuse: number | null;
  /** Text of the refusal. */
  body: string;
  /** Accepts no connection at all, and says nothing. */
  silent: boolean;
  /** Whether it stops answering, but keeps the connection. */
  mute: boolean;
}

/** A connection as the server sees it. */
export interface LabSession {
  text(message: unknown): void;
  binary(octets: Buffer): void;
  closed(): void;
}

export abstract class LabServer {
  readonly faults: LabFaults = { refuse: null, body: 'out of order', silent: false, mute: false };
  /** What a client did that the real provider would not accept. */
  readonly violations: string[] = [];
  readonly #server: Server;
  readonly #wss = new WebSocketServer({ noServer: true });
  readonly #sockets: ServerSockets;
  readonly #open = new Set<WebSocket>();
  /** Connections so far, and attempts that were refused. */
  connections = 0;
  refused = 0;

  readonly #scheme: 'ws' | 'wss';

  /** @param pair certificate for localhost; absent: without TLS */
  constructor(pair?: { readonly cert: string; readonly key: string }) {
    const answer: RequestListener = (_request, response) => response.writeHead(404).end();
    this.#scheme = pair ? 'wss' : 'ws';
    this.#server = pair ? createTlsServer(pair, answer) : createServer(answer);
    this.#sockets = new ServerSockets(this.#server);
    this.#server.on('upgrade', (request, socket: Socket, head) => this.#upgrade(request, socket, head));
  }

  /** Path of the API, as the provider has it. */
  protected abstract readonly path: string;
  /** null: the request is right; else the status and body of the rejection. */
  protected abstract check(request: IncomingMessage, url: URL): { status: number; body: string } | null;
  protected abstract begin(socket: LabSocket, url: URL): LabSession;

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): URL {
    const { port } = this.#server.address() as AddressInfo;
    return new URL(
      `${this.#scheme}://${this.#scheme === 'ws' ? '127.0.0.1' : 'localhost'}:${port}${this.path}`,
    );
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#open.size;
  }

  /** All connections are cut, without a closing handshake. */
  cut(): void {
    for (const socket of this.#open) socket.terminate();
  }

  async close(): Promise<void> {
    await this.#sockets.close();
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (this.faults.silent) return;
    const url = new URL(request.url ?? '', 'ws://lab');
    const wrong =
      this.faults.refuse !== null
        ? { status: this.faults.refuse, body: this.faults.body }
        : url.pathname === this.path
          ? this.check(request, url)
          : { status: 404, body: 'no such path' };
    if (wrong) {
      this.refused++;
      const { status, body } = wrong;
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      return;
    }
    this.#wss.handleUpgrade(request, socket, head, (webSocket) => {
      this.connections++;
      this.#open.add(webSocket);
      const lab = new LabSocket(webSocket, this);
      const session = this.begin(lab, url);
      webSocket.on('error', () => undefined);
      webSocket.on('close', () => {
        this.#open.delete(webSocket);
        session.closed();
      });
      webSocket.on('message', (data: Buffer, isBinary) => {
        if (this.faults.mute) return;
        if (isBinary) session.binary(data);
        else session.text(lab.parsed(data.toString('utf8')));
      });
    });
  }
}

export class LabSocket {
  readonly #socket: WebSocket;
  readonly #lab: LabServer;

  constructor(socket: WebSocket, lab: LabServer) {
    this.#socket = socket;
    this.#lab = lab;
  }

  send(message: object, times = 1): void {
    const text = JSON.stringify(message);
    for (let left = times; left > 0; left--) this.#socket.send(text);
  }

  sendBinary(octets: Uint8Array): void {
    this.#socket.send(octets);
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason);
  }

  /** The client broke the protocol: as the provider does, with an error and the end. */
  violation(what: string, answer: object | null, code: number, reason = ''): void {
    this.#lab.violations.push(what);
    if (answer) this.send(answer);
    this.close(code, reason);
  }

  parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }
}

/** `type` of a message, and its other fields. */
export function fields(message: unknown): Record<string, unknown> & { readonly type?: unknown } {
  return typeof message === 'object' && message !== null ? { ...message } : {};
}

/** The rejection of a request without the right key. */
export function unauthorized(request: IncomingMessage, header: string, value: string) {
  const isRight = request.headers[header] === value;
  return isRight
    ? null
    : { status: 401, body: `{"err_msg":"Invalid credentials ${request.headers[header]}"}` };
}
