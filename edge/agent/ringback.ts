import type { AudioEndpoint } from '../call/ports/media.ts';

/** North American ringback (ITU-T E.180 supplement 2): 440 and 480 Hz together, 2 s on, 4 s off. */
const tones = [440, 480] as const;
const sampleRate = 8000;
const onFrames = 100;
const cycleFrames = 300;
/** Amplitude of each tone: -19 dBm0, the usual level, where 32767 is +3.17 dBm0. */
const amplitude = 2552;

/** One beat of both tones: both frequencies and the sample rate are multiples of 40 Hz. */
const beat = Int16Array.from({ length: sampleRate / 40 }, (_, n) =>
  Math.round(tones.reduce((sum, hz) => sum + amplitude * Math.sin((2 * Math.PI * hz * n) / sampleRate), 0)),
);

/** Endless ringback for a waiting caller. */
export function ringback(): AudioEndpoint {
  let frames = 0;
  let at = 0;
  return {
    sampleRate,
    read: (frame) => {
      const rings = frames < onFrames;
      frames = frames + 1 === cycleFrames ? 0 : frames + 1;
      if (!rings) return false;
      for (let i = 0; i < frame.length; i++) {
        frame[i] = beat[at] ?? 0;
        at = at + 1 === beat.length ? 0 : at + 1;
      }
      return true;
    },
  };
}
