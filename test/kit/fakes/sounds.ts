/** Telephone sounds for tests, as 16-bit PCM at 8 kHz. */

const perMs = 8;

export function silence(ms: number): Int16Array {
  return new Int16Array(ms * perMs);
}

/** Several simultaneous tones. @param amplitude of each */
export function tones(hz: readonly number[], ms: number, amplitude = 6000): Int16Array {
  const at = (n: number) => hz.reduce((sum, one) => sum + Math.sin((2 * Math.PI * one * n) / 8000), 0);
  return Int16Array.from({ length: ms * perMs }, (_, n) => Math.round(amplitude * at(n)));
}

/** White noise, the same each time. @param level RMS */
export function noise(ms: number, level: number): Int16Array {
  let seed = 1;
  return Int16Array.from({ length: ms * perMs }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.round((seed / 0x40000000 - 1) * level * Math.sqrt(3));
  });
}

export function inTurn(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Both mixed, with the length of the first. */
export function together(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, i) => Math.max(-32_768, Math.min(32_767, sample + (other[i] ?? 0))));
}

/** Whole frames of 20 ms. */
export function framesOf(sound: Int16Array, sampleRate = 8000): Int16Array[] {
  const length = sampleRate / 50;
  return Array.from({ length: Math.floor(sound.length / length) }, (_, i) =>
    sound.subarray(i * length, (i + 1) * length),
  );
}
