/**
 * The rounds in which legs ask their media workers for counts: each leg every half second, a tenth of them at a time, to
 * avoid bursts at the worker. A leg whose worker has not answered yet is passed over: a worker that is stuck, or behind,
 * gets no more questions than it answers.
 */
import type { Clock, Timer } from '#shared/clock.ts';

interface Inspected {
  inspect(): Promise<void>;
}

const everyMs = 50;
const phases = 10;

export class Inspections {
  readonly #clock: Clock;
  readonly #legs: ReadonlySet<Inspected>;
  readonly #failed: (error: unknown) => void;
  readonly #underWay = new Set<Inspected>();
  #timer: Timer | null = null;
  #phase = 0;
  #closed = false;

  /** @param failed gets what an inspection throws; a worker that dies notifies its legs itself */
  constructor(clock: Clock, legs: ReadonlySet<Inspected>, failed: (error: unknown) => void) {
    this.#clock = clock;
    this.#legs = legs;
    this.#failed = failed;
  }

  /** Goes on while there are legs. */
  begin(): void {
    if (this.#timer || this.#closed) return;
    this.#timer = this.#clock.after(everyMs, () => {
      this.#timer = null;
      this.#round();
      if (this.#legs.size > 0) this.begin();
    });
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #round(): void {
    this.#phase = (this.#phase + 1) % phases;
    let place = 0;
    for (const leg of this.#legs) {
      if (place++ % phases !== this.#phase || this.#underWay.has(leg)) continue;
      this.#underWay.add(leg);
      leg
        .inspect()
        .catch(this.#failed)
        .finally(() => this.#underWay.delete(leg));
    }
  }
}
