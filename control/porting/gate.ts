/** Limits how many may run at the same time; more are rejected rather than queued. */
import { ApiError } from '#shared/errors.ts';

const retryAfter = 2;

export class Gate {
  readonly #most: number;
  #inside = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get inside(): number {
    return this.#inside;
  }

  /** @throws ApiError SERVICE_UNAVAILABLE when there is no place */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#most)
      throw ApiError.unavailable('Too many uploads at the same time; try again.', retryAfter);
    this.#inside++;
    try {
      return await work();
    } finally {
      this.#inside--;
    }
  }
}
