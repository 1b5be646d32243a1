/** The time that a run may take, with all its attempts; it stands still while the run waits for room on an edge. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { RunTime } from '../over-call/room.ts';

export class RunTimer implements RunTime {
  readonly #clock: Clock;
  readonly #over: () => void;
  #leftMs: number;
  #since = 0;
  #timer: Timer | null = null;
  #stopped = false;

  /** Runs at once. */
  constructor(clock: Clock, ms: number, over: () => void) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#over = over;
    this.resume();
  }

  pause(): void {
    if (!this.#timer) return;
    this.#leftMs -= this.#clock.elapsed() - this.#since;
    this.#timer.cancel();
    this.#timer = null;
  }

  resume(): void {
    if (this.#timer || this.#stopped) return;
    this.#since = this.#clock.elapsed();
    this.#timer = this.#clock.after(Math.max(0, this.#leftMs), this.#over);
  }

  /** For good. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = null;
  }
}
