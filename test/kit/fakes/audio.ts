/** Tones and their measurement, and G.711 mu-law by the standard's formula: no code of the edge in it. */

/** `samples` samples of a sine of `hz`, beginning at sample `from`. */
export function tone(
  hz: number,
  samples: number,
  from = 0,
  amplitude = 12_000,
  sampleRate = 8000,
): Int16Array {
  const out = new Int16Array(samples);
  const step = (2 * Math.PI * hz) / sampleRate;
  for (let i = 0; i < samples; i++) out[i] = Math.round(amplitude * Math.sin((from + i) * step));
  return out;
}

/** Frequency in Hz from the rising zero crossings, between the first and the last; 0 for silence. */
export function frequencyOf(samples: Int16Array, sampleRate = 8000): number {
  let crossings = 0;
  let first = 0;
  let last = 0;
  for (let i = 1; i < samples.length; i++) {
    const before = samples[i - 1] ?? 0;
    const after = samples[i] ?? 0;
    if (before >= 0 || after < 0) continue;
    const at = i - 1 + before / (before - after);
    if (crossings === 0) first = at;
    last = at;
    crossings++;
  }
  return crossings < 2 ? 0 : ((crossings - 1) * sampleRate) / (last - first);
}

/** Power of `hz` in `samples`, as a fraction of all power (Goertzel); 1 is a clean tone. */
export function share(samples: Int16Array, hz: number, sampleRate = 8000): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / sampleRate);
  let a = 0;
  let b = 0;
  let total = 0;
  for (const sample of samples) {
    const next = sample + coefficient * a - b;
    b = a;
    a = next;
    total += sample * sample;
  }
  if (total === 0) return 0;
  return ((a * a + b * b - coefficient * a * b) * 2) / (samples.length * total);
}

/** ITU-T G.711 mu-law. */
export function encodeMulaw(samples: Int16Array): Buffer {
  const out = Buffer.alloc(samples.length);
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] ?? 0;
    const sign = sample < 0 ? 0x80 : 0;
    const magnitude = Math.min(32_635, Math.abs(sample)) + 132;
    const exponent = 24 - Math.clz32(magnitude);
    out[i] = ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
  }
  return out;
}

export function decodeMulaw(bytes: Uint8Array): Int16Array {
  const out = new Int16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const byte = ~(bytes[i] ?? 0) & 0xff;
    const magnitude = ((((byte & 0x0f) << 3) + 132) << ((byte >> 4) & 7)) - 132;
    out[i] = byte & 0x80 ? -magnitude : magnitude;
  }
  return out;
}
