/** Measured values over the run, bounded: a long run keeps fewer samples of each hour, not more in all. */
import type { Point } from './regression.ts';
import { type Judged, judge, type Kind } from './verdict.ts';

export interface Sample extends Point {
  /** ms since the beginning of the load */
  readonly at: number;
  /** Taken after the process had settled; only these are judged. */
  readonly settled: boolean;
}

export interface SeriesFacts {
  /** Process, or what else is measured. */
  readonly group: string;
  readonly name: string;
  readonly unit: 'octets' | 'count';
  readonly kind: Kind;
  readonly bound: string | null;
}

/** Half are dropped at this number. */
const mostSamples = 3_000;

export class Series {
  readonly facts: SeriesFacts;
  #samples: Sample[] = [];
  /** Every how manieth sample is kept. */
  #step = 1;
  #seen = 0;

  constructor(facts: SeriesFacts) {
    this.facts = facts;
  }

  get samples(): readonly Sample[] {
    return this.#samples;
  }

  add(sample: Sample): void {
    if (this.#seen++ % this.#step !== 0) return;
    this.#samples.push(sample);
    if (this.#samples.length < mostSamples) return;
    this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
    this.#step *= 2;
  }

  judged(): Judged {
    const { kind, bound } = this.facts;
    return judge(
      this.#samples.filter(({ settled }) => settled),
      kind,
      bound,
    );
  }
}
