/** How much of the received audio (8 kHz, 16 bit) is sound. */
export interface Loudness {
  readonly seconds: number;
  /** total length of 20 ms frames above -50 dBFS */
  readonly soundSeconds: number;
  /** RMS of those frames, dB below full scale; -Infinity without any */
  readonly level: number;
}

const frame = 160;
const soundThreshold = 32_768 * 10 ** (-50 / 20);

export function loudness(samples: Int16Array): Loudness {
  let soundFrames = 0;
  let power = 0;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    let sum = 0;
    for (const sample of samples.subarray(at, at + frame)) sum += sample * sample;
    if (Math.sqrt(sum / frame) < soundThreshold) continue;
    soundFrames++;
    power += sum / frame;
  }
  return {
    seconds: samples.length / 8000,
    soundSeconds: soundFrames * 0.02,
    level: 20 * Math.log10(Math.sqrt(power / soundFrames || 0) / 32_768),
  };
}
