/**
 * Live transcription of one caller: one interface for all providers. The agent tells when the caller begins and ends a
 * turn; the provider's own opinion is a signal beside it.
 *
 *     begin --> partial, partial, ... --> end --> final
 */

export interface HeardWords {
  readonly text: string;
  /** 0..1; null: the provider does not tell */
  readonly confidence: number | null;
  /** such as `en`; null: the provider does not tell */
  readonly language: string | null;
}

/** The provider's opinion of the caller's turn. `resumed` withdraws `likely_ended`. */
export type TurnSignal = 'started' | 'likely_ended' | 'resumed' | 'ended';

export interface TranscriptionEvents {
  /** All words of the turn so far; the last ones may still change. */
  partial(words: HeardWords): void;
  /** The words of a turn, possibly none: once for each `end`, in order. */
  final(words: HeardWords): void;
  turn(signal: TurnSignal): void;
  /** The words of a turn are lost or incomplete; its `final` follows. */
  failed(error: Error): void;
}

export interface TranscriptionOptions {
  /** Hz */
  readonly sampleRate: 8000 | 16000;
  /** language tag, such as `en-US` */
  readonly language: string;
  /** Names and words that the caller is likely to say. */
  readonly keyTerms: readonly string[];
}

export interface Transcription {
  /** Every frame of the caller, silent ones too; 20 ms, copied. */
  write(frame: Int16Array): void;
  /** The caller has begun to speak, at most `leadMs` before it was noticed. @param lateMs since then; 0 unless given */
  begin(lateMs?: number): void;
  /** The caller has finished. Also after words that the agent's own detector has missed. */
  end(): void;
  /** Releases everything; no further event. Safe to call twice. */
  close(): void;
}

export interface Transcriber {
  open(options: TranscriptionOptions, events: TranscriptionEvents): Transcription;
}

export const noWords: HeardWords = { text: '', confidence: null, language: null };

/** As much of words as a turn may have, whatever a server sends. */
export function bounded(words: HeardWords): HeardWords {
  return words.text.length <= mostCharacters
    ? words
    : { ...words, text: words.text.slice(0, mostCharacters) };
}

/** `more` after `words`, in one turn. */
export function joined(words: HeardWords, more: HeardWords): HeardWords {
  if (more.text === '') return words;
  if (words.text === '') return more;
  const confidence =
    words.confidence === null || more.confidence === null
      ? null
      : Math.min(words.confidence, more.confidence);
  const language = more.language ?? words.language;
  return { text: `${words.text} ${more.text}`.slice(0, mostCharacters), confidence, language };
}

/** The one that tells more of a turn. */
export const longer = (one: HeardWords, other: HeardWords): HeardWords =>
  one.text.length > other.text.length ? one : other;

/** Maximum length of the words of a turn, characters: several minutes of speech. */
export const mostCharacters = 20_000;
