/**
 * Mixes the audio of several parties: each hears the sum of the others. A sum that would clip is turned down at once and
 * comes back slowly, so that two people who shout together stay undistorted.
 */

/** Peak that a mix is turned down to, of 32767. */
const ceiling = 30_000;
/** How much of its full loudness a mix regains in a frame. */
const regain = 0.02;
/** Share of a frame in which the loudness changes: a step would be heard as a click. */
const rampShare = 1 / 4;

/** The level of one party's mix. */
export class MixLevel {
  #gain = 1;

  /** Writes the sum without `own` to `out`, turned down where it is too loud. Allocates nothing. */
  mix(sum: Int32Array, own: Int16Array | null, out: Int16Array): void {
    let peak = 0;
    for (let i = 0; i < out.length; i++) {
      const value = Math.abs((sum[i] ?? 0) - (own?.[i] ?? 0));
      if (value > peak) peak = value;
    }
    const before = this.#gain;
    const fits = peak > ceiling ? ceiling / peak : 1;
    const gain = Math.min(fits, before + regain);
    this.#gain = gain;
    const ramp = out.length * rampShare;
    for (let i = 0; i < out.length; i++) {
      const now = i < ramp ? before + ((gain - before) * i) / ramp : gain;
      const value = Math.round(((sum[i] ?? 0) - (own?.[i] ?? 0)) * now);
      out[i] = value > 32767 ? 32767 : value < -32768 ? -32768 : value;
    }
  }
}
