import { randomUUID } from 'node:crypto';
import { createConnection, type Socket } from 'node:net';
import { GatheredWrites } from '#shared/gathered-writes.ts';
import { type FittedFrame, fitFrame } from './frame-limit.ts';

type Written = (error?: Error | null) => void;

/** A frame that was not sent. */
export type FrameTooLong = Extract<FittedFrame, { kind: 'too_long' }>;

/**
 * The socket to the engine. drachtio-srf writes each frame by itself, with one call of `write`; here they are measured
 * and gathered.
 */
export class EngineSocket {
  readonly socket: Socket;
  readonly #tooLong: (frame: FrameTooLong) => void;
  #measures = true;

  /** Connects. @param tooLong gets frames that were not sent, since a drachtio-server cannot take them */
  constructor(host: string, port: number, tooLong: (frame: FrameTooLong) => void) {
    this.#tooLong = tooLong;
    this.socket = createConnection({ host, port, noDelay: true, keepAlive: true });
    const gathered = new GatheredWrites(this.socket);
    const write = this.socket.write.bind(this.socket);
    this.socket.write = (
      chunk: string | Uint8Array,
      encodingOrWritten?: BufferEncoding | Written,
      written?: Written,
    ): boolean => {
      const fitted = this.#fitted(chunk);
      gathered.gather();
      return typeof encodingOrWritten === 'function'
        ? write(fitted, encodingOrWritten)
        : write(fitted, encodingOrWritten, written);
    };
  }

  /** The engine takes frames of any length, and the header fields that only it knows. */
  embedded(): void {
    this.#measures = false;
  }

  #fitted(chunk: string | Uint8Array): string | Uint8Array {
    if (!this.#measures || typeof chunk !== 'string') return chunk;
    const frame = fitFrame(chunk, randomUUID);
    if (frame.kind === 'fits') return frame.frame;
    this.#tooLong(frame);
    return frame.instead ?? '';
  }

  /** Sends what is written, then closes. What still arrives is dropped: drachtio-srf has forgotten the frame under way. */
  leave(): void {
    const { socket } = this;
    if (socket.connecting) {
      socket.destroy();
      return;
    }
    socket.removeAllListeners('data');
    socket.resume();
    socket.end();
  }
}
