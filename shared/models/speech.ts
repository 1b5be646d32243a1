/** Speech in both directions, as interfaces: 16-bit mono PCM at the caller's sample rate. */

export interface SpeechOptions {
  /** null: the provider's default voice */
  readonly voice: string | null;
  /** language tag, such as `en-US` */
  readonly language: string;
  /** Hz */
  readonly sampleRate: number;
}

export interface TextToSpeech {
  /** Rejects with SpeechError when synthesis fails. The result may be shared: it must not be changed. */
  synthesize(text: string, options: SpeechOptions): Promise<Int16Array>;
  /** Makes the first real use fast. Rejects when the provider cannot work at all. */
  warm?(): Promise<void>;
  close(): Promise<void>;
}

export interface SpeechToText {
  /** The words in `samples`; may be empty. Rejects with SpeechError. */
  transcribe(samples: Int16Array, options: { sampleRate: number; language: string }): Promise<string>;
}

/** A speech provider failed; the message says which one and what to do. */
export class SpeechError extends Error {
  override readonly name = 'SpeechError';
}
