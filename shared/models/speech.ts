/** Speech in both directions, as interfaces: 16-bit mono PCM at the caller's sample rate. */

export interface SpeechOptions {
  /** null: the provider's default voice */
  readonly voice: string | null;
  /** language tag, such as `en-US` */
  readonly language: string;
  /** Hz */
  readonly sampleRate: number;
  /** No other voice may speak in its place: without it the text fails. */
  readonly exact?: true;
}

export interface TextToSpeech {
  /**
   * Rejects with SpeechError when synthesis fails. The result may be shared: it must not be changed.
   * @param signal aborted when nobody wants it: a text that still waits rejects then
   */
  synthesize(text: string, options: SpeechOptions, signal?: AbortSignal): Promise<Int16Array>;
  /**
   * The same in pieces, each as soon as it is made; absent: there are only whole texts.
   * @param signal aborted when nobody wants the rest
   */
  stream?(text: string, options: SpeechOptions, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** Speaks a text that may be needed, and keeps it; does nothing when that is too much now. Never rejects. */
  premake?(text: string, options: SpeechOptions): Promise<void>;
  /** Makes the first real use fast, once. Rejects when the provider cannot work at all. */
  warm?(): Promise<void>;
  close(): Promise<void>;
}

/** A voice that speaks one text after the other. */
export interface SharedVoice extends TextToSpeech {
  /** Synthesizes a text that may be needed; null: that would delay one that is. Absent: nothing delays others. */
  synthesizeAhead?(text: string, options: SpeechOptions): Promise<Int16Array> | null;
}

export interface TranscribeOptions {
  readonly sampleRate: number;
  /** language tag, such as `en-US` */
  readonly language: string;
  /** Names and words that are likely to be said; absent: none. */
  readonly keyTerms?: readonly string[];
}

export interface SpeechToText {
  /** The words in `samples`; may be empty. Rejects with SpeechError. */
  transcribe(samples: Int16Array, options: TranscribeOptions): Promise<string>;
}

/** The speech of a text in pieces: one, where there are only whole texts. */
export async function* piecesOf(
  tts: Pick<TextToSpeech, 'synthesize' | 'stream'>,
  text: string,
  options: SpeechOptions,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  if (tts.stream) yield* tts.stream(text, options, signal);
  else yield await tts.synthesize(text, options);
}

/** One array of pieces of speech. */
export function joinedPieces(pieces: readonly Int16Array[]): Int16Array {
  const [first] = pieces;
  if (pieces.length === 1 && first) return first;
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** A speech provider failed; the message says which one and what to do. */
export class SpeechError extends Error {
  override readonly name = 'SpeechError';
}
