/** Doubles the sample rate of running sound: every second sample is interpolated by a windowed sinc of 16 samples. */
const taps = 16;
const half = taps / 2;
const weights = Float32Array.from({ length: taps }, (_, k) => {
  const at = k - half + 0.5;
  const window = 0.5 + 0.5 * Math.cos((Math.PI * at) / (half + 0.5));
  return (Math.sin(Math.PI * at) / (Math.PI * at)) * window;
});

export class Upsampler {
  readonly #before = new Float32Array(taps);

  /** Writes the frame at twice its rate, as numbers from -1 to 1, 1 ms late. */
  write(frame: Int16Array, to: Float32Array, at: number): void {
    const before = this.#before;
    for (let n = 0; n < frame.length; n++) {
      before.copyWithin(0, 1);
      before[taps - 1] = (frame[n] ?? 0) / 32_768;
      let between = 0;
      for (let k = 0; k < taps; k++) between += (weights[k] ?? 0) * (before[k] ?? 0);
      to[at + 2 * n] = before[half - 1] ?? 0;
      to[at + 2 * n + 1] = between;
    }
  }
}
