/** The tone of a test call, made and recognised in 16-bit mono PCM at 8 kHz. */

export const sampleRate = 8000;
/** Neither a call progress tone, nor one of DTMF, nor a usual measuring tone: what returns with it is our own. */
export const toneHz = 1137;
/** A quarter of full scale: about -12 dBFS. */
const amplitude = 8191;
/** 100 ms: keeps tones apart that differ by 10 Hz. */
const blockSize = 800;
const blockMs = (blockSize * 1000) / sampleRate;
/** Root mean square of about -50 dBFS: comfort noise and the noise of codecs stay below. */
const audible = 100;
/** Share of a block's power at which it is our tone. */
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

/** Measures what is heard, block by block. */
export class TestEar {
  readonly #block = new Int16Array(blockSize);
  #filled = 0;
  /** Milliseconds that were not silence. */
  audibleMs = 0;
  /** Milliseconds of our own tone, which the far end returned. */
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

/** Mean power, and the part of it that is our tone (Goertzel's algorithm). */
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
