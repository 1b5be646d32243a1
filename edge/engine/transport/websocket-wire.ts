/** SIP over WebSocket (RFC 7118): one message per frame, subprotocol `sip`. */

import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { connectionLoss } from '#shared/connection-faults.ts';
import type { Connection } from './connection.ts';
import { WebSocketFrames } from './websocket-frames.ts';
import type { Wire } from './wire.ts';

const NORMAL_CLOSURE = 1000;

export class WebSocketWire implements Wire {
  readonly protocol = 'wss';
  readonly #socket: WebSocket;
  readonly #raw: Socket;

  /**
   * @param raw the underlying connection
   * @param keepaliveMs idle time before the first TCP keepalive probe
   */
  constructor(socket: WebSocket, raw: Socket, keepaliveMs: number) {
    this.#socket = socket;
    this.#raw = raw;
    raw.setKeepAlive(true, keepaliveMs);
  }

  get queuedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Text frames when the octets are valid UTF-8: browsers deliver those as strings (RFC 7118 section 4.2). */
  write(bytes: Buffer): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(bytes, { binary: !isUtf8(bytes) });
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

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  attach(connection: Connection): void {
    let failure: Error | null = null;
    // `ws` does not expose how much of an incomplete message it holds.
    const frames = new WebSocketFrames();
    this.#raw.prependListener('data', (chunk: Buffer) => {
      const completed = frames.push(chunk);
      connection.receivedPart(frames.pending, completed);
    });
    this.#socket.on('message', (data) => connection.receivedFrame(bufferOf(data)));
    // RFC 7118 section 6: a phone may keep its connection open with WebSocket pings, which `ws` answers.
    this.#socket.on('ping', () => connection.alive());
    this.#socket.on('error', (error) => {
      failure = error;
      // The close frame is sent (RFC 6455 section 7.1.7). We wait for the peer's less long than `ws` would.
      connection.close(error.message);
    });
    this.#raw.on('drain', () => connection.drained());
    this.#socket.on('close', () => connection.lost(connectionLoss(failure)));
  }
}

function bufferOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
