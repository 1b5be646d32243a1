import type { ActivityLimits } from './activity.ts';

/** Tells voices from other sounds, for one call. */
export interface VoiceDetector {
  /** Takes 20 ms. The judgement may follow up to about a second later, and for pieces of another length. */
  write(frame: Int16Array): void;
  /** Releases everything; no further judgement. */
  close(): void;
}

/**
 * Called for each piece of sound, in order.
 * @param probability of a voice in it, 0 to 1
 * @param since frames that were written after those of the piece
 * @param noisy whether there is much sound on the line that is no voice
 */
export type Judged = (ms: number, probability: number, since: number, noisy: boolean) => void;

/** Makes the detectors of an edge's calls. */
export interface VoiceDetectors {
  /** What makes a voice of their judgements. */
  readonly limits: ActivityLimits;
  /** Whether noise and music are told from voices at this time, and not only silence. */
  readonly tellsNoise: boolean;
  /** Loads what detectors need; from then on `create` works. Rejects when it cannot be loaded. */
  load(): Promise<void>;
  /** @param firstSound called at a sound with which a word may begin, before it is known whether a voice follows */
  create(sampleRate: 8000 | 16000, judged: Judged, firstSound?: () => void): VoiceDetector;
}
