/**
 * Whether something still answers: a thread or a process can hang without ending. It is asked at intervals, and hangs
 * when no answer comes in time; an error is no answer.
 *
 *     pause ──everyMs──> asked ──answer──> pause
 *                          └──hangMs──> hung
 */
import type { Clock, Timer } from './clock.ts';

export interface LivenessOptions {
  readonly clock: Clock;
  /** Pause between an answer and the next question, ms */
  readonly everyMs: number;
  /** Time without an answer after which it hangs, ms */
  readonly hangMs: number;
  readonly ask: () => Promise<unknown>;
  /** Called once, and not after `end`. */
  readonly hung: () => void;
}

export class Liveness {
  readonly #options: LivenessOptions;
  #timer: Timer | null = null;
  #over = false;

  /** Asks at once. */
  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#ask();
  }

  /** Nothing is asked any more. */
  end(): void {
    this.#over = true;
    this.#timer?.cancel();
  }

  #ask(): void {
    const { ask, everyMs, hangMs } = this.#options;
    this.#wait(hangMs);
    ask().then(
      () => this.#after(everyMs, () => this.#ask()),
      () => {},
    );
  }

  /** In steps: a pause of this thread itself, whose end finds the answer waiting, is one step at most. */
  #wait(leftMs: number): void {
    const { everyMs, hung } = this.#options;
    const stepMs = Math.min(everyMs, leftMs);
    this.#after(stepMs, () => {
      if (leftMs > stepMs) {
        this.#wait(leftMs - stepMs);
        return;
      }
      this.end();
      hung();
    });
  }

  #after(ms: number, fire: () => void): void {
    if (this.#over) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, fire);
  }
}
