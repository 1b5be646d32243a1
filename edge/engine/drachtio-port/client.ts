import { GatheredWrites } from '#shared/gathered-writes.ts';
import { FirstWords } from './first-words.ts';
import { encodeFrame } from './frame.ts';

/** The parts of a TCP socket used here. */
export interface ClientSocket {
  /** Octets that wait to be sent. */
  readonly writableLength: number;
  cork(): void;
  uncork(): void;
  write(octets: Buffer): unknown;
  end(): unknown;
  destroy(error: Error): unknown;
}

/**
 * One connected application. Frames are sent in order, and gathered into few writes.
 *
 * drachtio-srf delivers all frames of one read to the application before any promise resolves: a BYE read
 * together with the echo of the 200 reaches a dialog without listeners. Pacing here cannot prevent that, because
 * TCP joins writes whenever the application reads slowly. The fix is on the reading side: one frame per turn of
 * its event loop.
 */
export class AppClient {
  readonly #socket: ClientSocket;
  readonly #maxQueuedBytes: number;
  readonly #verbs = new Set<string>();
  readonly #gathered: GatheredWrites;
  readonly firstWords = new FirstWords();
  #closed = false;
  authenticated = false;

  constructor(socket: ClientSocket, maxQueuedBytes: number) {
    this.#socket = socket;
    this.#gathered = new GatheredWrites(socket);
    this.#maxQueuedBytes = maxQueuedBytes;
  }

  /** True once nothing can reach the application anymore. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Verbs of `route`, in lower case: methods, and `cdr:attempt`, `cdr:start`, `cdr:stop`. */
  routes(verb: string): boolean {
    return this.#verbs.has(verb);
  }

  route(verb: string): void {
    this.#verbs.add(verb);
  }

  removeRoute(verb: string): void {
    this.#verbs.delete(verb);
  }

  send(line: string, sip: Buffer | null = null): void {
    if (this.#closed) return;
    if (this.#socket.writableLength > this.#maxQueuedBytes) {
      // It has stopped reading. Disconnecting lets a restarted instance take over.
      this.#socket.destroy(
        new Error(`the application does not read: ${this.#socket.writableLength} octets queued`),
      );
      return;
    }
    this.#gathered.gather();
    this.#socket.write(encodeFrame(line, sip));
  }

  /** Flushes what was sent, then closes. */
  end(): void {
    this.#socket.end();
  }

  /** Called by the port when the socket has closed. */
  lost(): void {
    this.#closed = true;
  }
}
