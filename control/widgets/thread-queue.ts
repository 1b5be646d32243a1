/** One piece of work at a time for each thread, in order of arrival (contract 7.2). */
import { counted } from '#shared/counted.ts';
import { ApiError } from '#shared/errors.ts';

export class ThreadQueue {
  readonly #tails = new Map<string, { last: Promise<unknown>; count: number }>();
  readonly #mostWaiting: number;
  readonly #onRefused: () => void;
  #closed = false;

  /** @param mostWaiting waiting or running, per thread */
  constructor(mostWaiting: number, onRefused: () => void) {
    this.#mostWaiting = mostWaiting;
    this.#onRefused = onRefused;
  }

  /** Rejects as `work` does. @throws ApiError RATE_LIMITED when too many wait, SERVICE_UNAVAILABLE after close */
  async run<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw ending();
    const tail = this.#tails.get(threadId) ?? { last: Promise.resolve(), count: 0 };
    if (tail.count >= this.#mostWaiting) {
      this.#onRefused();
      const details = { limit: this.#mostWaiting, window_seconds: 1, scope: 'thread' };
      const message = `A thread has at most ${counted(this.#mostWaiting, 'message')} that wait for an answer; wait for one, then send the next.`;
      throw ApiError.of('RATE_LIMITED', details, message).waiting(1);
    }
    this.#tails.set(threadId, tail);
    tail.count++;
    const result = tail.last.then(() => {
      if (this.#closed) throw ending();
      return work();
    });
    tail.last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      tail.count--;
      if (tail.count === 0) this.#tails.delete(threadId);
    }
  }

  /** Accepts nothing more; resolves when nothing is running. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#tails.values()].map(({ last }) => last));
  }
}

function ending(): ApiError {
  return ApiError.unavailable('The control plane is shutting down; try again.', 1);
}
