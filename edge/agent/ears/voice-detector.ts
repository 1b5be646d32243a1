/** Tells voices from other sounds, for one call. */
export interface VoiceDetector {
  /** Takes 20 ms. @returns whether there is a voice in it */
  hears(frame: Int16Array): boolean;
  /** Releases its memory. */
  close(): void;
}

/** Makes the detectors of an edge's calls. */
export interface VoiceDetectors {
  /** Loads what detectors need; from then on `create` works. Rejects when it cannot be loaded. */
  load(): Promise<void>;
  create(sampleRate: 8000 | 16000): VoiceDetector;
}
