/** Where the audio is in a recording. */
import { share } from '../kit/fakes/audio.ts';

export interface SoundSpan {
  /** seconds from the first to the last frame with sound; 0 for silence */
  readonly seconds: number;
  /** samples of that span */
  readonly samples: Int16Array;
}

/** Frames of 10 ms above this level count as sound: quiet speech is louder, line noise and dither are not. */
const thresholdDbfs = -45;

export function soundSpan(samples: Int16Array, sampleRate: number): SoundSpan {
  const frame = sampleRate / 100;
  const threshold = 32_768 * 10 ** (thresholdDbfs / 20);
  let first = -1;
  let last = -1;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    let power = 0;
    for (const sample of samples.subarray(at, at + frame)) power += sample * sample;
    if (Math.sqrt(power / frame) < threshold) continue;
    if (first < 0) first = at;
    last = at + frame;
  }
  const span = first < 0 ? new Int16Array(0) : samples.subarray(first, last);
  return { seconds: span.length / sampleRate, samples: span };
}

/** Whether a fifth of a second of a recording is that tone and hardly anything else. */
export function hasTone(samples: Int16Array, sampleRate: number, hz: number): boolean {
  const length = sampleRate / 5;
  for (let at = 0; at + length <= samples.length; at += length) {
    if (share(samples.subarray(at, at + length), hz, sampleRate) > 0.95) return true;
  }
  return false;
}

/** Share of the power that is above a frequency, 0..1: what is left of the sound after a low-pass filter of 101 taps. */
export function shareAbove(samples: Int16Array, sampleRate: number, hz: number): number {
  const half = 50;
  const cut = (2 * hz) / sampleRate;
  const taps = Array.from({ length: 2 * half + 1 }, (_, n) => {
    const at = n - half;
    const sinc = at === 0 ? cut : Math.sin(Math.PI * cut * at) / (Math.PI * at);
    return sinc * (0.54 + 0.46 * Math.cos((Math.PI * at) / half));
  });
  let all = 0;
  let above = 0;
  for (let at = half; at + half < samples.length; at += 1) {
    let low = 0;
    for (const [n, tap] of taps.entries()) low += tap * (samples[at + n - half] ?? 0);
    const sample = samples[at] ?? 0;
    all += sample ** 2;
    above += (sample - low) ** 2;
  }
  return all === 0 ? 0 : above / all;
}
