/**
 * Notices that a caller's audio has stopped, as on hold or at the end of a recording, while the words of a turn are
 * awaited: a server that hears all audio tells with later audio that a turn has no more words.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { Timers } from '#shared/timers.ts';

/** Time without audio after which silence takes its place, and length of that silence, ms: frames come every 20 ms. */
export const lullMs = 200;

export class Lull {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #timers: Timers;
  readonly #silence: () => void;
  #heardAt = 0;
  #timer: Timer | null = null;

  /** @param silence called for each `lullMs` in which there was no audio */
  constructor(clock: Pick<Clock, 'elapsed'>, timers: Timers, silence: () => void) {
    this.#clock = clock;
    this.#timers = timers;
    this.#silence = silence;
  }

  /** There was audio. */
  heard(): void {
    this.#heardAt = this.#clock.elapsed();
  }

  /** @param on whether silence is wanted where there is no audio */
  watch(on: boolean): void {
    if (!on) {
      this.#timer?.cancel();
      this.#timer = null;
    } else if (!this.#timer) this.#wait();
  }

  #wait(): void {
    const leftMs = this.#heardAt + lullMs - this.#clock.elapsed();
    this.#timer = this.#timers.after(leftMs > 0 ? leftMs : lullMs, () => {
      this.#wait();
      if (this.#clock.elapsed() - this.#heardAt < lullMs) return;
      this.heard();
      this.#silence();
    });
  }
}
