/** The keys that the caller presses, as whole entries: one ends with #, with its longest length, or with a pause. */
import type { Clock, Timer } from '#shared/clock.ts';

/** Keys of one entry. */
const mostKeys = 32;

export class KeyEntry {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #pauseMs: number;
  readonly #entered: (keys: string) => void;
  #keys = '';
  #timer: Timer | null = null;

  constructor(clock: Pick<Clock, 'after'>, pauseMs: number, entered: (keys: string) => void) {
    this.#clock = clock;
    this.#pauseMs = pauseMs;
    this.#entered = entered;
  }

  add(digit: string): void {
    this.#timer?.cancel();
    this.#keys += digit;
    if (digit === '#' || this.#keys.length >= mostKeys) this.end();
    else this.#timer = this.#clock.after(this.#pauseMs, () => this.end());
  }

  /** What has been pressed so far is an entry. */
  end(): void {
    this.#timer?.cancel();
    const keys = this.#keys;
    this.#keys = '';
    if (keys !== '') this.#entered(keys);
  }
}
