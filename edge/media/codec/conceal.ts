/**
 * Packet loss concealment for codecs without their own, similar to G.711 Appendix I: the last pitch period is
 * repeated and fades out; when audio resumes it is blended in. Unlike the appendix it adds no delay: a decaying
 * offset smooths the start of a loss.
 */

/** ms at full level, then ms until silence, as in the appendix. */
const fadeStartMs = 10;
const fadeEndMs = 60;

const noAudio = new Int16Array(0);

export class Concealer {
  readonly #perMs: number;
  /** The last 48 ms of audio, received or synthesized. A leg whose agent does not listen never has any. */
  #history = noAudio;
  /** One pitch period, ready to be repeated; made with the first loss. */
  #cycle = noAudio;
  #period = 0;
  #position = 0;
  /** Samples synthesized since the last received one; 0 outside a loss. */
  #missing = 0;
  /** Size of the step at the start of the loss. */
  #step = 0;

  /** @param sampleRate Hz, a multiple of 1000 */
  constructor(sampleRate: number) {
    this.#perMs = sampleRate / 1000;
  }

  /** Records `length` received samples; after a loss their beginning is blended with the synthesized audio. */
  received(pcm: Int16Array, length: number): void {
    if (this.#missing > 0 && length > 0) {
      const blend = Math.min(length, 5 * this.#perMs);
      for (let i = 0; i < blend; i++) {
        const weight = (i + 1) / (blend + 1);
        pcm[i] = (pcm[i] ?? 0) * weight + this.#next() * (1 - weight);
      }
      this.#missing = 0;
    }
    this.#remember(pcm, length);
  }

  /** Synthesizes `length` samples. */
  conceal(out: Int16Array, length: number): void {
    if (this.#missing === 0) this.#begin();
    for (let i = 0; i < length; i++) out[i] = this.#next();
    this.#remember(out, length);
  }

  #begin(): void {
    if (this.#cycle === noAudio) this.#cycle = new Int16Array(15 * this.#perMs);
    const history = this.#heard();
    const end = history.length;
    const period = this.#findPeriod();
    const overlap = period >> 2;
    for (let i = 0; i < period; i++) this.#cycle[i] = history[end - period + i] ?? 0;
    // The end of the cycle is blended into what preceded its start, so that repeating it does not click.
    for (let i = 0; i < overlap; i++) {
      const weight = (i + 1) / (overlap + 1);
      const last = history[end - overlap + i] ?? 0;
      const before = history[end - period - overlap + i] ?? 0;
      this.#cycle[period - overlap + i] = last * (1 - weight) + before * weight;
    }
    this.#step = (history[end - 1] ?? 0) - (history[end - period - 1] ?? 0);
    this.#period = period;
    this.#position = 0;
  }

  #next(): number {
    const ms = this.#missing / this.#perMs;
    const gain = ms < fadeStartMs ? 1 : Math.max(0, (fadeEndMs - ms) / (fadeEndMs - fadeStartMs));
    const smoothing = Math.max(0, 1 - ms / 2) * this.#step;
    const sample = ((this.#cycle[this.#position] ?? 0) + smoothing) * gain;
    this.#position = this.#position + 1 === this.#period ? 0 : this.#position + 1;
    this.#missing++;
    return Math.max(-32768, Math.min(32767, Math.round(sample)));
  }

  /** The lag of 5 to 15 ms at which the last 20 ms are most self-similar (normalized correlation). */
  #findPeriod(): number {
    const history = this.#heard();
    const end = history.length;
    const window = 20 * this.#perMs;
    const stride = this.#perMs / 8;
    let best = 10 * this.#perMs;
    let bestScore = 0;
    for (let lag = 5 * this.#perMs; lag <= 15 * this.#perMs; lag++) {
      let product = 0;
      let energy = 1;
      for (let i = end - window; i < end; i += stride) {
        const earlier = history[i - lag] ?? 0;
        product += (history[i] ?? 0) * earlier;
        energy += earlier * earlier;
      }
      const score = product > 0 ? (product * product) / energy : 0;
      // A longer lag must be clearly better: multiples of the true period score alike.
      if (score > bestScore * 1.02) {
        bestScore = score;
        best = lag;
      }
    }
    return best;
  }

  #remember(pcm: Int16Array, length: number): void {
    const history = this.#heard();
    if (length >= history.length) {
      history.set(pcm.subarray(length - history.length, length));
      return;
    }
    history.copyWithin(0, length);
    history.set(pcm.subarray(0, length), history.length - length);
  }

  #heard(): Int16Array {
    if (this.#history === noAudio) this.#history = new Int16Array(48 * this.#perMs);
    return this.#history;
  }
}
