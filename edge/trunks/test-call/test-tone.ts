/** The tone of a test call, generated and recognized in 16-bit mono PCM at 8 kHz. */

export const sampleRate = 8000;
/** Not a call progress, DTMF or common test tone, so a tone of this frequency that returns is our own. */
export const toneHz = 1137;
/** A quarter of full scale: about -12 dBFS. */
const amplitude = 8191;
/** 100 ms: separates tones that differ by 10 Hz. */
const blockSize = 800;
const blockMs = (blockSize * 1000) / sampleRate;
/** RMS of about -50 dBFS: comfort noise and codec noise stay below. */
const audible = 100;
/** Minimum share of our tone in a block's power. */
const mostly = 0.5;

export class TestTone {
  #phase = 0;

  fill(frame: Int16Array): void {
    const step = (2 * Math.PI * toneHz) / sampleRate;
    for (let i = 0; i < frame.length; i++) {
      frame[i] = Math.round(amplitude * Math.sin(this.#phase));
      this.#phase += step;
    }
    this.#phase %= 2 * Math.PI;
  }
}

/** Measures received audio, block by block. */
export class ToneMeter {
  readonly #block = new Int16Array(blockSize);
  #filled = 0;
  /** ms that were not silence. */
  audibleMs = 0;
  /** ms of our own tone returned by the far end. */
  echoMs = 0;

  write(frame: Int16Array): void {
    for (const sample of frame) {
      this.#block[this.#filled++] = sample;
      if (this.#filled === blockSize) this.#measure();
    }
  }

  #measure(): void {
    this.#filled = 0;
    const { power, toneShare } = spectrum(this.#block);
    if (Math.sqrt(power) < audible) return;
    this.audibleMs += blockMs;
    if (toneShare >= mostly) this.echoMs += blockMs;
  }
}

/** Mean power, and the share of our tone in it (Goertzel's algorithm). */
function spectrum(samples: Int16Array): { power: number; toneShare: number } {
  const coefficient = 2 * Math.cos((2 * Math.PI * toneHz) / sampleRate);
  let before = 0;
  let last = 0;
  let energy = 0;
  for (const sample of samples) {
    const next = sample + coefficient * last - before;
    before = last;
    last = next;
    energy += sample * sample;
  }
  if (energy === 0) return { power: 0, toneShare: 0 };
  const ofTone = last * last + before * before - coefficient * last * before;
  return { power: energy / samples.length, toneShare: (2 * ofTone) / (samples.length * energy) };
}
