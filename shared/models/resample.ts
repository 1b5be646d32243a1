/**
 * Changes the sample rate with a windowed-sinc filter (Kaiser window, about 80 dB): rational ratios, coefficients
 * computed once per pair of rates.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

interface Filter {
  readonly up: number;
  readonly down: number;
  readonly taps: number;
  /** `up` phases of `taps` coefficients each */
  readonly phases: Float32Array;
}

const zeroCrossings = 16;
const kaiserBeta = 8;
/** Output between two turns of the event loop: half a millisecond, as audio of calls is sent by the same thread. */
const samplesPerSlice = 2000;
const filters = new Map<string, Filter>();

/** `samples` at `to` Hz instead of `from` Hz. Long audio is processed in slices, so other work can run in between. */
export async function resample(samples: Int16Array, from: number, to: number): Promise<Int16Array> {
  if (from === to || samples.length === 0) return samples;
  const filter = filterFor(from, to);
  const output = new Int16Array(Math.floor((samples.length * filter.up) / filter.down));
  for (let start = 0; start < output.length; start += samplesPerSlice) {
    if (start > 0) await nextTurn();
    const end = Math.min(output.length, start + samplesPerSlice);
    convolve(samples, output.subarray(start, end), filter, { from: start, to: end, inputFrom: 0 });
  }
  return output;
}

/** Changes the sample rate of audio that comes in pieces; the result is that of `resample` for the whole. */
export class StreamResampler {
  /** null: the rates are the same */
  readonly #filter: Filter | null;
  /** Input from `#first` on: what the next output needs, and what has just come. */
  #input = new Int16Array(0);
  #first = 0;
  /** Index of the next output sample. */
  #next = 0;

  constructor(from: number, to: number) {
    this.#filter = from === to ? null : filterFor(from, to);
  }

  /** The output that `samples` complete; the last samples come with the next piece, or with `flush`. */
  push(samples: Int16Array): Int16Array {
    if (!this.#filter) return samples;
    this.#append(samples);
    const { taps, up, down } = this.#filter;
    const whole = this.#first + this.#input.length - taps / 2;
    return this.#output(Math.max(this.#next, Math.floor(((whole - 1) * up) / down) + 1));
  }

  /** The rest. */
  flush(): Int16Array {
    if (!this.#filter) return new Int16Array(0);
    const { up, down } = this.#filter;
    return this.#output(Math.floor(((this.#first + this.#input.length) * up) / down));
  }

  #append(samples: Int16Array): void {
    const input = new Int16Array(this.#input.length + samples.length);
    input.set(this.#input);
    input.set(samples, this.#input.length);
    this.#input = input;
  }

  #output(end: number): Int16Array {
    const filter = this.#filter;
    if (!filter || end <= this.#next) return new Int16Array(0);
    const output = new Int16Array(end - this.#next);
    convolve(this.#input, output, filter, { from: this.#next, inputFrom: this.#first, to: end });
    this.#next = end;
    const needed = Math.floor((end * filter.down) / filter.up) - filter.taps / 2 + 1;
    if (needed > this.#first) {
      this.#input = this.#input.slice(needed - this.#first);
      this.#first = needed;
    }
    return output;
  }
}

interface Span {
  /** Index of the first output sample to make; the output begins there. */
  readonly from: number;
  readonly to: number;
  /** Index of the first input sample that is given. */
  readonly inputFrom: number;
}

function convolve(
  input: Int16Array,
  output: Int16Array,
  filter: Filter,
  { from, to, inputFrom }: Span,
): void {
  const { up, down, taps, phases } = filter;
  const half = taps / 2;
  for (let n = from; n < to; n++) {
    const position = n * down;
    const centre = Math.floor(position / up) - inputFrom;
    const first = centre - half + 1;
    const base = (position % up) * taps - first;
    // What is before and after the input is silence.
    const last = Math.min(input.length, first + taps);
    let sum = 0;
    for (let at = Math.max(0, first); at < last; at++) sum += (input[at] ?? 0) * (phases[base + at] ?? 0);
    output[n - from] = Math.max(-32768, Math.min(32767, Math.round(sum)));
  }
}

function filterFor(from: number, to: number): Filter {
  const key = `${from}/${to}`;
  const known = filters.get(key);
  if (known) return known;
  const divisor = gcd(from, to);
  const up = to / divisor;
  const down = from / divisor;
  // The pass band ends 6 % below the lower Nyquist frequency, where the filter's slope starts.
  const cutoff = 0.94 * Math.min(1, up / down);
  const half = Math.ceil(zeroCrossings / cutoff);
  const taps = 2 * half;
  const phases = new Float32Array(up * taps);
  for (let phase = 0; phase < up; phase++) {
    let sum = 0;
    for (let k = 0; k < taps; k++) {
      const distance = k - half + 1 - phase / up;
      const value = cutoff * sinc(distance * cutoff) * kaiser(distance / half);
      phases[phase * taps + k] = value;
      sum += value;
    }
    for (let k = 0; k < taps; k++) phases[phase * taps + k] = (phases[phase * taps + k] ?? 0) / sum;
  }
  const filter = { up, down, taps, phases };
  filters.set(key, filter);
  return filter;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel0(kaiserBeta * Math.sqrt(1 - x * x)) / bessel0(kaiserBeta);
}

/** Modified Bessel function of the first kind, order 0. */
function bessel0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-10; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
