/**
 * What the caller's telephone picks up:
 *
 *     caller's voice --level--(+)--(+)--telephone band--> to the agent
 *                              ^    ^
 *         the agent, heard -echo    noise, below the voice by the wanted ratio
 *
 * Pure: 20 ms frames in, changed in place.
 */
import type { Weather } from '#shared/agent-test-weather.ts';
import type { Chance } from '#shared/chance.ts';
import { squaresOf } from '#shared/level.ts';
import { givenNoise, type Noise, noiseOf } from './noise.ts';

const fullScale = 32_767;
/** What a caller's voice is taken for until it has spoken for a second, RMS; -26 dBov. */
const usualVoice = 1640;
/** RMS of a frame from which on it counts as speech. */
const voiceFrom = 200;

export class CallerSound {
  readonly #gain: number;
  readonly #noise: { readonly next: Noise; readonly ratio: number } | null;
  readonly #echo: { readonly heard: Int16Array; readonly gain: number } | null;
  readonly #band: ((sample: number) => number) | null;
  #echoAt = 0;
  /** Of the caller's speech so far. */
  #power: number;
  #frames = 50;

  /**
   * @param rate samples per second
   * @param given the sound of a noise of kind given
   */
  constructor(
    { echo, level_db, noise, telephone_band }: Weather,
    chance: Chance,
    rate: number,
    given: Int16Array | null = null,
  ) {
    this.#gain = ratioOf(level_db ?? 0);
    this.#power = (usualVoice * this.#gain) ** 2;
    const next = noise && soundOf(noise.kind, chance, rate, given);
    this.#noise = noise && next ? { next, ratio: ratioOf(-noise.snr_db) } : null;
    // The frame that is heard now comes back after the delay, whole frames apart from what was sent before it.
    this.#echo = echo
      ? { heard: new Int16Array(Math.round((echo.delay_ms * rate) / 1000)), gain: ratioOf(echo.level_db) }
      : null;
    this.#band = telephone_band ? telephoneBand(rate) : null;
  }

  /**
   * @param frame what the caller says
   * @param speaks false: nothing, and the frame's content is undefined
   * @returns whether the frame has sound
   */
  send(frame: Int16Array, speaks: boolean): boolean {
    if (!speaks) {
      if (!this.#noise && !this.#echo) return false;
      frame.fill(0);
    }
    if (speaks) this.#measure(frame);
    const noiseGain = this.#noise ? Math.sqrt(this.#power) * this.#noise.ratio : 0;
    for (let i = 0; i < frame.length; i++) {
      let sample = (frame[i] ?? 0) * this.#gain;
      if (this.#echo) sample += this.#echoed(this.#echo);
      if (this.#noise) sample += this.#noise.next() * noiseGain;
      if (this.#band) sample = this.#band(sample);
      frame[i] = Math.max(-fullScale, Math.min(fullScale, Math.round(sample)));
    }
    return true;
  }

  /** A frame of the agent, after the caller's own of the same time. */
  hear(frame: Int16Array): void {
    const heard = this.#echo?.heard;
    if (!heard) return;
    // `send` has read as many samples since the last frame: they are the oldest, and free.
    const from = (this.#echoAt - frame.length + heard.length * 2) % heard.length;
    for (let i = 0; i < Math.min(frame.length, heard.length); i++) {
      heard[(from + i) % heard.length] = frame[i] ?? 0;
    }
  }

  #echoed({ heard, gain }: { readonly heard: Int16Array; readonly gain: number }): number {
    const sample = heard[this.#echoAt] ?? 0;
    // Once: nothing is heard twice when the agent's audio stops.
    heard[this.#echoAt] = 0;
    this.#echoAt = (this.#echoAt + 1) % heard.length;
    return sample * gain;
  }

  #measure(frame: Int16Array): void {
    const power = squaresOf(frame) / frame.length;
    if (power < voiceFrom ** 2) return;
    this.#power += (power * this.#gain ** 2 - this.#power) / ++this.#frames;
  }
}

function soundOf(
  kind: NonNullable<Weather['noise']>['kind'],
  chance: Chance,
  rate: number,
  given: Int16Array | null,
): Noise {
  if (kind !== 'given') return noiseOf(kind, chance, rate);
  if (!given) throw new Error('the given noise is missing');
  return givenNoise(given, chance, rate);
}

function ratioOf(db: number): number {
  return 10 ** (db / 20);
}

/** 300 to 3,400 Hz: a high-pass and a low-pass filter of second order each (Butterworth). */
function telephoneBand(rate: number): (sample: number) => number {
  const low = filter('high', 300, rate);
  const high = filter('low', 3400, rate);
  return (sample) => high(low(sample));
}

/** A biquad by the bilinear transform. @param pass which side of `hertz` passes */
function filter(pass: 'low' | 'high', hertz: number, rate: number): (sample: number) => number {
  const turn = Math.tan((Math.PI * hertz) / rate);
  const norm = 1 / (1 + Math.SQRT2 * turn + turn * turn);
  const b0 = pass === 'low' ? turn * turn * norm : norm;
  const b1 = pass === 'low' ? 2 * b0 : -2 * b0;
  const a1 = 2 * (turn * turn - 1) * norm;
  const a2 = (1 - Math.SQRT2 * turn + turn * turn) * norm;
  let z1 = 0;
  let z2 = 0;
  return (sample) => {
    const out = b0 * sample + z1;
    z1 = b1 * sample - a1 * out + z2;
    z2 = b0 * sample - a2 * out;
    return out;
  };
}
