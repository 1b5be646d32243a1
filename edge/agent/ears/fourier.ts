/** A fast Fourier transform in place, for sizes that are powers of two. */
export class Fourier {
  readonly size: number;
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #order: Uint32Array;

  /** @param size a power of two */
  constructor(size: number) {
    this.size = size;
    this.#cos = Float64Array.from({ length: size / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / size));
    this.#sin = Float64Array.from({ length: size / 2 }, (_, i) => -Math.sin((2 * Math.PI * i) / size));
    const bits = Math.log2(size);
    this.#order = Uint32Array.from({ length: size }, (_, i) => {
      let reversed = 0;
      for (let bit = 0; bit < bits; bit++) if (i & (1 << bit)) reversed |= 1 << (bits - 1 - bit);
      return reversed;
    });
  }

  /** Transforms the complex values `re + i im`. For the way back exchange `re` and `im`, and divide by the size. */
  transform(re: Float64Array, im: Float64Array): void {
    const { size } = this;
    for (let i = 0; i < size; i++) {
      const j = this.#order[i] ?? 0;
      if (j <= i) continue;
      const real = re[i] ?? 0;
      re[i] = re[j] ?? 0;
      re[j] = real;
      const imaginary = im[i] ?? 0;
      im[i] = im[j] ?? 0;
      im[j] = imaginary;
    }
    for (let half = 1; half < size; half *= 2) this.#combine(re, im, half);
  }

  #combine(re: Float64Array, im: Float64Array, half: number): void {
    const { size } = this;
    const step = size / (2 * half);
    for (let start = 0; start < size; start += 2 * half) {
      for (let k = 0; k < half; k++) {
        const cos = this.#cos[k * step] ?? 0;
        const sin = this.#sin[k * step] ?? 0;
        const even = start + k;
        const odd = even + half;
        const oddRe = re[odd] ?? 0;
        const oddIm = im[odd] ?? 0;
        const real = oddRe * cos - oddIm * sin;
        const imaginary = oddRe * sin + oddIm * cos;
        const evenRe = re[even] ?? 0;
        const evenIm = im[even] ?? 0;
        re[odd] = evenRe - real;
        im[odd] = evenIm - imaginary;
        re[even] = evenRe + real;
        im[even] = evenIm + imaginary;
      }
    }
  }
}
