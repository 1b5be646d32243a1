/**
 * Music for a peer on hold: a short melody of plucked notes, made here, so that nobody else has rights in it. It repeats
 * after 19.2 s.
 */
import type { AudioEndpoint } from '../call/ports/media.ts';

const sampleRate = 8000;
/** Length of a step, samples. */
const step = 2400;
/** Time after which a note has faded away, samples. */
const noteLength = 4 * step;
/** Peak of one note, where 32767 is +3.17 dBm0; with those that still sound about -19 dBm0 on average. */
const amplitude = 3600;
/** Loudness falls to 1/e in this time, samples. */
const decay = 2600;
/** Level of the fundamental and its overtones. */
const partials = [1, 0.35, 0.12] as const;

/** Semitones above A3 (220 Hz) of each step, chord after chord; null: a rest. */
const melody: readonly (number | null)[] = [
  ...[3, 7, 10, 15, 10, 7, 12, 10],
  ...[0, 3, 7, 12, 7, 3, 10, 7],
  ...[-4, 0, 3, 8, 3, 0, 7, 5],
  ...[-2, 2, 5, 10, 5, 2, 8, null],
  ...[3, 7, 10, 15, 17, 15, 12, 10],
  ...[0, 3, 7, 12, 10, 7, 3, 7],
  ...[-4, 0, 3, 8, 7, 3, 5, 2],
  ...[3, 7, 10, 15, null, 10, 7, null],
];

/** One plucked note. */
function plucked(semitones: number): Float32Array {
  const note = new Float32Array(noteLength);
  const hz = 220 * 2 ** (semitones / 12);
  partials.forEach((level, index) => {
    const radians = (2 * Math.PI * hz * (index + 1)) / sampleRate;
    // The next sample of a sine follows from the two before it.
    const factor = 2 * Math.cos(radians);
    const fading = Math.exp(-(index + 1) / decay);
    let loudness = amplitude * level;
    let before = Math.sin(-radians);
    let now = 0;
    for (let n = 0; n < noteLength; n++) {
      note[n] = (note[n] ?? 0) + loudness * now;
      loudness *= fading;
      [before, now] = [now, factor * now - before];
    }
  });
  return note;
}

function compose(): Int16Array {
  const length = melody.length * step;
  const sum = new Float32Array(length);
  const notes = new Map<number, Float32Array>();
  melody.forEach((semitones, place) => {
    if (semitones === null) return;
    const note = notes.get(semitones) ?? plucked(semitones);
    notes.set(semitones, note);
    // What sounds beyond the end belongs to the beginning.
    for (let n = 0; n < noteLength; n++) {
      const at = (place * step + n) % length;
      sum[at] = (sum[at] ?? 0) + (note[n] ?? 0);
    }
  });
  return Int16Array.from(sum, (sample) => Math.max(-32768, Math.min(32767, Math.round(sample))));
}

let music: Int16Array | null = null;

/** Endless music for a peer on hold. */
export function holdMusic(): AudioEndpoint {
  music ??= compose();
  const samples = music;
  let at = 0;
  return {
    sampleRate,
    read: (frame) => {
      frame.set(samples.subarray(at, at + frame.length));
      at = (at + frame.length) % samples.length;
      return true;
    },
  };
}
