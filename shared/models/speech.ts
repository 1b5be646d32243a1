/** Speech in both directions, as interfaces: 16-bit mono PCM at the rate that the caller names. */

export interface SpeechOptions {
  /** null: the provider's default voice */
  readonly voice: string | null;
  /** language tag, such as `en-US` */
  readonly language: string;
  /** Hz */
  readonly sampleRate: number;
}

export interface TextToSpeech {
  /** Rejects with SpeechError when no audio can be had. The result may be shared: it must not be changed. */
  synthesize(text: string, options: SpeechOptions): Promise<Int16Array>;
  /** Makes the first real use fast. Rejects when the provider cannot work at all. */
  warm?(): Promise<void>;
  close(): Promise<void>;
}

export interface SpeechToText {
  /** The words in `samples`, empty when there are none. Rejects with SpeechError. */
  transcribe(samples: Int16Array, options: { sampleRate: number; language: string }): Promise<string>;
}

/** A speech provider did not do its work; the message says which one and what to do. */
export class SpeechError extends Error {
  override readonly name = 'SpeechError';
}
