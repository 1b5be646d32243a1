/** Gathers writes to a socket, because each system call and each wake-up of its reader costs more than what it carries. */

/**
 * Least time between two writes to a stream in use, ms. At 1,000 calls a second it joins about six messages, and a
 * set-up takes at most some milliseconds longer. Longer pauses saved no more.
 */
const usualPauseMs = 1;

/** The parts of a stream used here. */
export interface CorkableStream {
  cork(): void;
  uncork(): void;
}

/**
 * What one turn of the event loop writes leaves together at its end. If the last write was less than `pauseMs` ago, it
 * waits until the pause is over: a stream in use gets at most one write per pause, and one that is idle never waits.
 */
export class GatheredWrites {
  readonly #stream: CorkableStream;
  readonly #pauseMs: number;
  #gathering = false;
  #leftAt = Number.NEGATIVE_INFINITY;

  /** @param pauseMs least time between two writes, ms */
  constructor(stream: CorkableStream, pauseMs = usualPauseMs) {
    this.#stream = stream;
    this.#pauseMs = pauseMs;
  }

  /** To be called before each write. */
  gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#stream.cork();
    if (performance.now() - this.#leftAt < this.#pauseMs) setTimeout(this.#leave, this.#pauseMs);
    else setImmediate(this.#leave);
  }

  readonly #leave = (): void => {
    this.#gathering = false;
    this.#leftAt = performance.now();
    this.#stream.uncork();
  };
}
