/** Notices an engine that no longer answers: its connection stays open when it hangs. drachtio-srf waits forever. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { encodeFrame } from './frame-limit.ts';

/** Time between two pings, ms. An engine that hangs is noticed after two to three of them. */
export const pingEveryMs = 5_000;

export class EnginePulse {
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  #authenticated = false;

  /**
   * Real time on purpose: what it measures is another process.
   * @param silent called when nothing has come for two pings; repeated until `stop`
   */
  constructor(socket: Socket, everyMs: number, silent: () => void) {
    this.#socket = socket;
    socket.on('data', () => {
      this.#unanswered = 0;
    });
    // What has arrived while this process itself was busy is read before setImmediate.
    this.#timer = setInterval(() => setImmediate(() => this.#beat(silent)), everyMs);
  }

  /** The engine has accepted the secret: from here on it gets pings. */
  authenticated(): void {
    this.#authenticated = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(silent: () => void): void {
    if (this.#unanswered >= 2) {
      silent();
      return;
    }
    this.#unanswered += 1;
    if (this.#authenticated) this.#socket.write(encodeFrame(`${randomUUID()}|ping`));
  }
}
