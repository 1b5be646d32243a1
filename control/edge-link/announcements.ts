/** Notifies waiters in this process that an edge's report was stored. */
import type { Clock } from '#shared/clock.ts';

export class Announcements {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `listener` at every announcement of `subject`. Returns a function that unsubscribes. */
  on(subject: string, listener: () => void): () => void {
    const listeners = this.#waiting.get(subject) ?? new Set();
    this.#waiting.set(subject, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#waiting.delete(subject);
    };
  }

  announce(subject: string): void {
    for (const listener of [...(this.#waiting.get(subject) ?? [])]) listener();
  }

  /** Whether anyone waits for `subject`. */
  waits(subject: string): boolean {
    return this.#waiting.has(subject);
  }

  /** Waits for one announcement of `subject`, at most `ms`. Listening has started when this returns. */
  wait(subject: string, ms: number): { readonly ended: Promise<void>; readonly cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(ms, () => cancel());
    const stop = this.on(subject, () => cancel());
    const cancel = () => {
      timer.cancel();
      stop();
      resolve();
    };
    return { ended: promise, cancel };
  }
}
