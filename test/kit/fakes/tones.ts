/** Finds a tone in sound at 8 kHz. */

const rate = 8000;
const block = 160;

/** The share of the power that is at a frequency, over all blocks of 20 ms with sound. @returns 0 to 1; NaN: no sound */
export function shareOf(samples: Int16Array, hertz: number): number {
  let [all, at] = [0, 0];
  for (let from = 0; from + block <= samples.length; from += block) {
    let [power, real, imaginary] = [0, 0, 0];
    for (let i = 0; i < block; i++) {
      const sample = samples[from + i] ?? 0;
      power += sample * sample;
      real += sample * Math.cos((2 * Math.PI * hertz * i) / rate);
      imaginary += sample * Math.sin((2 * Math.PI * hertz * i) / rate);
    }
    all += power;
    at += (2 * (real * real + imaginary * imaginary)) / block;
  }
  return at / all;
}
