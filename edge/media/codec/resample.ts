/**
 * Converts 8 kHz to 16 kHz and back with one half-band filter in polyphase form: every second coefficient is
 * zero, so an output sample costs 16 multiplications. Pass band to 3.5 kHz, alias rejection about 60 dB from 4.5
 * kHz; each direction adds 2 ms of delay.
 */

/** Pairs of non-zero side coefficients. */
const pairs = 16;

/** Side coefficients of the half-band filter, closest to the center first (Kaiser window, beta 5.6). */
const sides = halfBand(5.6);

function halfBand(beta: number): Float64Array {
  const taps = new Float64Array(pairs);
  let sum = 0;
  for (let j = 0; j < pairs; j++) {
    const offset = 2 * j + 1;
    const window = bessel(beta * Math.sqrt(1 - (offset / (2 * pairs)) ** 2)) / bessel(beta);
    taps[j] = ((j % 2 === 0 ? 1 : -1) / (Math.PI * offset)) * window;
    sum += taps[j] ?? 0;
  }
  // Both sides together weigh as much as the center, one half: unity gain at 0 Hz.
  return taps.map((tap) => tap / (4 * sum));
}

/** Modified Bessel function of the first kind, order 0. */
function bessel(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > 1e-12 * sum; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function clamp(value: number): number {
  const rounded = Math.round(value);
  return rounded > 32767 ? 32767 : rounded < -32768 ? -32768 : rounded;
}

/** Prepends the previous samples to each block, so that the filter sees a continuous signal. */
class Line {
  readonly samples: Int16Array;
  readonly #before: number;

  constructor(before: number, maxBlock: number) {
    this.#before = before;
    this.samples = new Int16Array(before + maxBlock);
  }

  /** Appends `length` samples to those kept; the block starts at index `before`. */
  take(block: Int16Array, length: number): void {
    this.samples.set(block.subarray(0, length), this.#before);
  }

  keep(length: number): void {
    this.samples.copyWithin(0, length, length + this.#before);
  }
}

/** Doubles the sample rate. */
export class Upsampler {
  readonly #line: Line;

  /** @param maxBlock maximum input samples per call */
  constructor(maxBlock: number) {
    this.#line = new Line(2 * pairs - 1, maxBlock);
  }

  /** Writes `2 * length` samples to `out`. @returns that number */
  process(pcm: Int16Array, length: number, out: Int16Array): number {
    const { samples } = this.#line;
    this.#line.take(pcm, length);
    for (let i = 0; i < length; i++) {
      const middle = i + pairs - 1;
      let sum = 0;
      for (let j = 0; j < pairs; j++) {
        sum += (sides[j] ?? 0) * ((samples[middle - j] ?? 0) + (samples[middle + 1 + j] ?? 0));
      }
      out[2 * i] = samples[middle] ?? 0;
      out[2 * i + 1] = clamp(2 * sum);
    }
    this.#line.keep(length);
    return 2 * length;
  }
}

/** Halves the sample rate. */
export class Downsampler {
  readonly #line: Line;

  /** @param maxBlock maximum input samples per call */
  constructor(maxBlock: number) {
    this.#line = new Line(4 * pairs - 2, maxBlock);
  }

  /** Writes `length / 2` samples to `out`; `length` is even. @returns that number */
  process(pcm: Int16Array, length: number, out: Int16Array): number {
    const { samples } = this.#line;
    this.#line.take(pcm, length);
    const count = length >> 1;
    for (let i = 0; i < count; i++) {
      const middle = 2 * i + 2 * pairs - 1;
      let sum = 0.5 * (samples[middle] ?? 0);
      for (let j = 0; j < pairs; j++) {
        const offset = 2 * j + 1;
        sum += (sides[j] ?? 0) * ((samples[middle - offset] ?? 0) + (samples[middle + offset] ?? 0));
      }
      out[i] = clamp(sum);
    }
    this.#line.keep(length);
    return count;
  }
}

/** Converts frames of 20 ms; what it returns is good until the next one. */
export function frameConverter(from: 8000 | 16000, to: 8000 | 16000): (frame: Int16Array) => Int16Array {
  if (from === to) return (frame) => frame;
  const out = new Int16Array(to / 50);
  const samples = from / 50;
  const filter = from < to ? new Upsampler(samples) : new Downsampler(samples);
  return (frame) => {
    filter.process(frame, samples, out);
    return out;
  };
}
