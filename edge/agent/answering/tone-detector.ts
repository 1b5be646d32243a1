/**
 * Distinguishes steady tones from voices in 20 ms frames at 8 kHz, by the spectrum of the last 40 ms. That window makes
 * the Goertzel bins 25 Hz wide and orthogonal, so the bin energies sum to the energy of the window.
 */
const sampleRate = 8000;
const frameSamples = 160;
const windowSamples = 2 * frameSamples;
const binHz = sampleRate / windowSamples;
/** Frequency range of network tones and voicemail beeps. */
const lowestBin = 300 / binHz;
const highestBin = 2300 / binHz;
/** Bins on either side that collect the leakage of a tone between two bins. */
const skirt = 2;
/** Minimum share of the window's energy in one or two tones; codecs and line noise account for the rest. */
const tonalShare = 0.9;
/** A second tone weaker than this share of the first is noise. */
const secondShare = 0.1;
/** Two tones beat: their power varies by more than this factor between 10 ms blocks, that of one tone does not. */
const steadyFactor = 2;

export type Tonality = 'single' | 'several' | 'none';

export class ToneDetector {
  readonly #window = new Float64Array(windowSamples);
  readonly #energies = new Float64Array(highestBin - lowestBin + 1);
  /** Power of each 10 ms of the window. */
  readonly #powers = new Float64Array(4);
  #pitchHz = 0;

  /** Pitch of the strongest tone, to 25 Hz; valid after a tonal frame. */
  get pitchHz(): number {
    return this.#pitchHz;
  }

  /**
   * Takes the next frame. The result covers that frame and the one before.
   * @param audible false: the frame is too quiet to analyze
   */
  hear(frame: Int16Array, audible: boolean): Tonality {
    this.#window.copyWithin(0, frameSamples);
    for (let i = 0; i < frameSamples; i++) this.#window[frameSamples + i] = frame[i] ?? 0;
    if (!audible) return 'none';
    const total = this.#measure();
    for (let i = 0; i < this.#energies.length; i++) this.#energies[i] = this.#energy(lowestBin + i);
    const first = this.#strongest(-1);
    const firstEnergy = this.#around(first);
    this.#pitchHz = (lowestBin + first) * binHz;
    if (firstEnergy >= tonalShare * total) return this.#isSteady() ? 'single' : 'several';
    const second = this.#strongest(first);
    const secondEnergy = second < 0 ? 0 : this.#around(second);
    const both = firstEnergy + secondEnergy >= tonalShare * total;
    return both && secondEnergy >= secondShare * firstEnergy ? 'several' : 'none';
  }

  /** Energy of the window, in the unit of `#energy`. */
  #measure(): number {
    const part = windowSamples / this.#powers.length;
    let total = 0;
    for (let p = 0; p < this.#powers.length; p++) {
      let sum = 0;
      for (let i = p * part; i < (p + 1) * part; i++) sum += (this.#window[i] ?? 0) ** 2;
      this.#powers[p] = sum;
      total += sum;
    }
    return (total * windowSamples) / 2;
  }

  /** Goertzel's squared magnitude of one bin. */
  #energy(bin: number): number {
    const coefficient = 2 * Math.cos((2 * Math.PI * bin) / windowSamples);
    let before = 0;
    let last = 0;
    for (let i = 0; i < windowSamples; i++) {
      const next = (this.#window[i] ?? 0) + coefficient * last - before;
      before = last;
      last = next;
    }
    return last * last + before * before - coefficient * last * before;
  }

  /** Index of the strongest bin outside the tone at `except`; -1 when there is none. */
  #strongest(except: number): number {
    let best = -1;
    for (let i = 0; i < this.#energies.length; i++) {
      if (except >= 0 && Math.abs(i - except) <= skirt) continue;
      if (best < 0 || (this.#energies[i] ?? 0) > (this.#energies[best] ?? 0)) best = i;
    }
    return best;
  }

  #around(index: number): number {
    let sum = 0;
    for (let i = index - skirt; i <= index + skirt; i++) sum += this.#energies[i] ?? 0;
    return sum;
  }

  #isSteady(): boolean {
    return Math.max(...this.#powers) <= steadyFactor * Math.min(...this.#powers);
  }
}
