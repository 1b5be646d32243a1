import { Socket } from 'node:net';
import { GatheredWrites } from '#shared/gathered-writes.ts';

type Written = (error?: Error | null) => void;

/** The socket to the engine. drachtio-srf writes each frame by itself; here they are gathered. */
export class EngineSocket extends Socket {
  readonly #gathered = new GatheredWrites(this);

  override write(
    chunk: string | Uint8Array,
    encodingOrWritten?: BufferEncoding | Written,
    written?: Written,
  ): boolean {
    this.#gathered.gather();
    return typeof encodingOrWritten === 'function'
      ? super.write(chunk, encodingOrWritten)
      : super.write(chunk, encodingOrWritten, written);
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
