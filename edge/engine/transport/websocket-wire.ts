/** SIP over WebSocket (RFC 7118): one message per frame, subprotocol `sip`. */
import { isUtf8 } from 'node:buffer';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import type { Connection, Wire } from './connection.ts';
import type { TransportLimits } from './limits.ts';

const NORMAL_CLOSURE = 1000;

export class WebSocketWire implements Wire {
  readonly protocol = 'wss';
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get queuedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Text frames where the octets allow it: browsers hand those over as strings (RFC 7118 section 4.2). */
  write(bytes: Buffer): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes, { binary: !isUtf8(bytes) });
  }

  end(reason: string): void {
    // RFC 6455 section 5.5: the reason of a close frame has at most 123 octets.
    this.#socket.close(
      NORMAL_CLOSURE,
      Buffer.from(reason)
        .subarray(0, 123)
        .toString('latin1')
        .replace(/[^ -~]/g, '?'),
    );
  }

  destroy(): void {
    this.#socket.terminate();
  }

  attach(connection: Connection): void {
    let cause = 'closed by the peer';
    this.#socket.on('message', (data) => connection.receivedFrame(bufferOf(data)));
    this.#socket.on('error', (error) => {
      cause = error.message;
    });
    this.#socket.on('close', () => connection.lost(cause));
  }
}

function bufferOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/** Lets `server` take WebSocket upgrades for `sip`, and answers everything else with 426 or 400. */
export function upgradeTo(
  server: HttpServer,
  limits: TransportLimits,
  events: { wss(socket: WebSocket, raw: Socket): void },
): void {
  const upgrader = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('sip') ? 'sip' : false),
  });
  server.on('request', (_request, response) => {
    response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end('SIP over WebSocket only\n');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const offered = request.headers['sec-websocket-protocol'] ?? '';
    if (!offered.split(',').some((protocol) => protocol.trim() === 'sip')) {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    upgrader.handleUpgrade(request, socket, head, (webSocket) => events.wss(webSocket, request.socket));
  });
}
