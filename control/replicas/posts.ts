/** Messages that wait to be stored, in their order: one transaction stores what has gathered. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { Draft } from './messages-store.ts';

export interface PostsParts {
  readonly clock: Clock;
  readonly mostWaiting: number;
  /** Stores all or none. */
  store(drafts: readonly Draft[]): Promise<void>;
  readonly log: { error(facts: object, message: string): void };
}

/** Stored at a time. */
const batchRows = 200;
/** After a failed attempt. */
const pauseMs = 500;

export class Posts {
  readonly #parts: PostsParts;
  readonly #waiting: Draft[] = [];
  #storing: Promise<void> | null = null;
  #pause: { readonly timer: Timer; readonly end: () => void } | null = null;
  #isClosed = false;

  constructor(parts: PostsParts) {
    this.#parts = parts;
  }

  /** @returns whether there was room */
  add(draft: Draft): boolean {
    if (this.#isClosed || this.#waiting.length >= this.#parts.mostWaiting) return false;
    this.#waiting.push(draft);
    this.#storing ??= this.#store().finally(() => {
      this.#storing = null;
    });
    return true;
  }

  /** Stores what waits, or gives it up after one failed attempt. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pause?.end();
    await this.#storing;
  }

  async #store(): Promise<void> {
    // What the same turn posts goes along.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchRows);
      try {
        await this.#parts.store(batch);
        this.#waiting.splice(0, batch.length);
      } catch (error) {
        this.#parts.log.error(
          { err: error, waiting: this.#waiting.length },
          'messages to other replicas could not be stored',
        );
        if (this.#isClosed) return;
        await this.#wait();
      }
    }
  }

  async #wait(): Promise<void> {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const timer = this.#parts.clock.after(pauseMs, end);
    this.#pause = { timer, end };
    await promise;
    timer.cancel();
    this.#pause = null;
  }
}
