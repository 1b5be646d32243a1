/** Takes every loud sound for a voice: tests of agents say with plain samples when the caller speaks. */
import type { VoiceDetectors } from '../../../edge/agent/ears/voice-detector.ts';

const loud = 200;

export const loudVoices: VoiceDetectors = {
  load: async () => undefined,
  create: () => ({
    hears: (frame) => frame.some((sample) => Math.abs(sample) > loud),
    close: () => undefined,
  }),
};
