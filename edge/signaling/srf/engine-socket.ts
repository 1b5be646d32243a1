import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { GatheredWrites } from '#shared/gathered-writes.ts';
import { type FittedFrame, fitFrame } from './frame-limit.ts';

type Written = (error?: Error | null) => void;

/** A frame that was not sent. */
export type FrameTooLong = Extract<FittedFrame, { kind: 'too_long' }>;

/**
 * The socket to the engine. drachtio-srf writes each frame by itself, with one call of `write`; here they are measured
 * and gathered.
 */
export class EngineSocket extends Socket {
  readonly #gathered = new GatheredWrites(this);
  readonly #tooLong: (frame: FrameTooLong) => void;
  #measures = true;

  /** @param tooLong gets frames that were not sent, since a drachtio-server cannot take them */
  constructor(tooLong: (frame: FrameTooLong) => void) {
    super();
    this.#tooLong = tooLong;
  }

  /** The engine takes frames of any length. */
  takesAll(): void {
    this.#measures = false;
  }

  override write(
    chunk: string | Uint8Array,
    encodingOrWritten?: BufferEncoding | Written,
    written?: Written,
  ): boolean {
    let fitted = chunk;
    if (this.#measures && typeof chunk === 'string') {
      const frame = fitFrame(chunk, randomUUID);
      if (frame.kind === 'too_long') this.#tooLong(frame);
      fitted = frame.kind === 'fits' ? frame.frame : (frame.instead ?? '');
    }
    this.#gathered.gather();
    return typeof encodingOrWritten === 'function'
      ? super.write(fitted, encodingOrWritten)
      : super.write(fitted, encodingOrWritten, written);
  }

  /** Connects. `net.Socket` puts a `write` of its own on the instance when it does. */
  open(address: { readonly host: string; readonly port: number }, connected: () => void): void {
    this.connect(address, connected);
    Reflect.deleteProperty(this, 'write');
  }

  /** Sends what is written, then closes. What still arrives is dropped: drachtio-srf has forgotten the frame under way. */
  leave(): void {
    if (this.connecting) {
      this.destroy();
      return;
    }
    this.removeAllListeners('data');
    this.resume();
    this.end();
  }
}
