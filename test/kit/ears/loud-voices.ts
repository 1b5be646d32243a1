/** Takes every loud sound for a voice: tests of agents say with plain samples when the caller speaks. */
import { frameLimits } from '../../../edge/agent/ears/activity.ts';
import type { VoiceDetectors } from '../../../edge/agent/ears/voice-detector.ts';

const loud = 200;

export const loudVoices: VoiceDetectors = {
  limits: frameLimits,
  tellsNoise: false,
  load: async () => undefined,
  create: (_, judged) => ({
    write: (frame) => judged(20, frame.some((sample) => Math.abs(sample) > loud) ? 1 : 0, 0, false),
    close: () => undefined,
  }),
};
