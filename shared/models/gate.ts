import type { Clock } from '#shared/clock.ts';

interface Waiting {
  readonly enter: () => void;
}

/** Lets a limited number of requests in at once. */
export interface RequestGate {
  /** Requests that are in, and those that wait. */
  readonly inside: number;
  readonly waiting: number;
  /**
   * Resolves with the function to leave (safe to call twice), or with null after `waitMs`.
   * Rejects with the reason of `signal` if it is aborted first.
   */
  enter(waitMs: number, signal: AbortSignal): Promise<(() => void) | null>;
}

/** Limits concurrency; waiting callers are served in order. */
export class Gate implements RequestGate {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #queue = new Set<Waiting>();
  #inside = 0;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  enter(waitMs: number, signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#inside < this.#limit) return Promise.resolve(this.#taken());
    return new Promise((resolve, reject) => {
      const done = () => {
        this.#queue.delete(waiting);
        timer.cancel();
        signal.removeEventListener('abort', aborted);
      };
      const aborted = () => {
        done();
        reject(signal.reason);
      };
      const timer = this.#clock.after(waitMs, () => {
        done();
        resolve(null);
      });
      const waiting: Waiting = {
        enter: () => {
          done();
          resolve(this.#taken());
        },
      };
      this.#queue.add(waiting);
      signal.addEventListener('abort', aborted);
    });
  }

  #taken(): () => void {
    this.#inside++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#inside--;
      const [next] = this.#queue;
      next?.enter();
    };
  }
}
