/** How loud the loudest and the quietest of what the agent hears are: the proof of noise and level. Pure. */

import { dbovOf, silentDbov, squaresOf } from '#shared/level.ts';

const share = 0.1;

export class HeardLevels {
  /** Frames by level, 0 to -127 dBov. */
  readonly #frames = new Uint32Array(-silentDbov + 1);
  #count = 0;

  /** A frame without any sound is where no packet arrived, before, within or after the caller's stream: it has no level. */
  add(frame: Int16Array): void {
    if (frame.every((sample) => sample === 0)) return;
    const bin = Math.max(0, Math.round(-dbovOf(squaresOf(frame), frame.length)));
    this.#frames[bin] = (this.#frames[bin] ?? 0) + 1;
    this.#count++;
  }

  /** Mean level of the loudest tenth of the frames, dBov; null without frames. */
  get loud(): number | null {
    return this.#mean([...this.#frames.keys()]);
  }

  /** Of the quietest tenth. */
  get quiet(): number | null {
    return this.#mean([...this.#frames.keys()].reverse());
  }

  #mean(bins: readonly number[]): number | null {
    const wanted = Math.ceil(this.#count * share);
    if (wanted === 0) return null;
    let left = wanted;
    let sum = 0;
    for (const bin of bins) {
      const taken = Math.min(left, this.#frames[bin] ?? 0);
      sum -= taken * bin;
      left -= taken;
    }
    return Math.round((sum / wanted) * 10) / 10;
  }
}
