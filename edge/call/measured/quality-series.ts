/**
 * The series of one call's samples, as parts that control stores as rows. The first hour is kept as it is; of what follows,
 * the current minute, which then becomes one sample:
 *
 *     part 0 .. 59        12 samples of 5 s each
 *     part 60 ..          up to 12 samples of a minute, and behind them those of the current minute
 *
 * Pure; it holds one part at most.
 */
import { mostSampledMs, type QualityPart, type QualitySample } from '#shared/edge-protocol/measured.ts';
import type { MeasuredLimits } from './limits.ts';
import { mergedSample } from './merged-sample.ts';

/** Samples in a part. */
const partSamples = 12;

export class QualitySeries {
  readonly #limits: MeasuredLimits;
  /** Samples of 5 s so far. */
  #taken = 0;
  #part = 0;
  /** In the current part: of minutes, or in the first hour, of 5 s. */
  #kept: QualitySample[] = [];
  /** Of the current minute, after the first hour. */
  #minute: QualitySample[] = [];

  constructor(limits: MeasuredLimits) {
    this.#limits = limits;
  }

  /** @returns what is to be stored; null: the series is full */
  add(sample: QualitySample): QualityPart | null {
    const { wholeSamples, mergedSamples } = this.#limits;
    if (sample[0] > mostSampledMs) return null;
    if (this.#kept.length === partSamples) this.#next();
    const isWhole = this.#taken++ < wholeSamples;
    if (isWhole) {
      this.#kept.push(sample);
      return { part: this.#part, samples: [sample], whole: false };
    }
    if (this.#taken === wholeSamples + 1 && this.#kept.length > 0) this.#next();
    this.#minute.push(sample);
    if (this.#minute.length < mergedSamples) return { part: this.#part, samples: [sample], whole: false };
    this.#kept.push(mergedSample(this.#minute));
    this.#minute = [];
    return { part: this.#part, samples: [...this.#kept], whole: true };
  }

  #next(): void {
    this.#part++;
    this.#kept = [];
  }
}
