/** A Readable that takes one text at a time from a generator, and only when its reader asks for more. */
import { Readable } from 'node:stream';
import type { Clock } from '#shared/clock.ts';

export class PulledStream extends Readable {
  readonly #texts: AsyncGenerator<string>;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #onDestroy: () => void;
  #pulling = false;
  #pulledAt: number;
  #exhausted = false;

  /** @param onDestroy ends the generator if it is waiting */
  constructor(texts: AsyncGenerator<string>, clock: Pick<Clock, 'elapsed'>, onDestroy: () => void) {
    super({ highWaterMark: 1 });
    this.#texts = texts;
    this.#clock = clock;
    this.#onDestroy = onDestroy;
    this.#pulledAt = clock.elapsed();
  }

  /** Whether the reader waits for the next text, and so would see the generator's end. */
  get pulling(): boolean {
    return this.#pulling;
  }

  /** When the reader last asked for more, or was given it, in the clock's elapsed time. */
  get pulledAt(): number {
    return this.#pulledAt;
  }

  /** Whether the generator has ended. */
  get exhausted(): boolean {
    return this.#exhausted;
  }

  override _read(): void {
    this.#pull().catch((error: Error) => this.destroy(error));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#onDestroy();
    // Runs the generator's cleanup, also when it is not waiting.
    this.#texts.return(undefined).then(() => done(error), done);
  }

  async #pull(): Promise<void> {
    this.#pulling = true;
    this.#pulledAt = this.#clock.elapsed();
    const { done, value } = await this.#texts.next();
    this.#pulling = false;
    this.#pulledAt = this.#clock.elapsed();
    if (done) this.#exhausted = true;
    this.push(done ? null : value);
  }
}
