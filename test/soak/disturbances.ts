/** What the soak itself broke, and when: a call that it touched may fail, any other may not. Times: performance.now(). */

/** What a call depends on: a role, a carrier's link, a carrier's primary trunk, processor time. */
export type Part =
  | 'control'
  | 'edge'
  | 'engine'
  | 'media worker'
  | 'machine'
  | `link ${string}`
  | `trunk ${string}`;

interface Disturbance {
  readonly part: Part;
  readonly from: number;
  to: number;
}

/** Longer than any call of the soak; older ones touch none. */
const keptMs = 30 * 60_000;

export class Disturbances {
  #all: Disturbance[] = [];
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns ends it */
  begin(part: Part): () => void {
    const now = this.#now();
    this.#all = this.#all.filter(({ to }) => to > now - keptMs);
    const disturbance = { part, from: now, to: Number.POSITIVE_INFINITY };
    this.#all.push(disturbance);
    return () => {
      disturbance.to = this.#now();
    };
  }

  /** Whether one of these parts was disturbed at a moment between `from` and now. */
  touched(parts: readonly Part[], from: number): boolean {
    return this.#all.some((one) => parts.includes(one.part) && one.to >= from);
  }

  /** Whether one of these parts began to be disturbed between two moments. */
  began(parts: readonly Part[], from: number, to: number): boolean {
    return this.#all.some((one) => parts.includes(one.part) && one.from >= from && one.from <= to);
  }
}
