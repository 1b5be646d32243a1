/** What a live transcription needs from a provider, whatever its protocol. */
import type { HeardWords, TranscriptionOptions, TurnSignal } from './transcription.ts';

export interface ProviderEvents {
  /** Words that are not settled yet; replaces the former ones. */
  partial(words: HeardWords): void;
  /**
   * Words that do not change any more.
   * @param throughMs end of their audio on this connection; null: the end of the turn that waits longest
   */
  settled(words: HeardWords, throughMs: number | null): void;
  /**
   * All words of a turn are settled.
   * @param throughMs end of its audio on this connection; null: it is the turn that waits longest
   */
  finished(throughMs: number | null): void;
  turn(signal: TurnSignal): void;
  /** The turn that waits longest cannot be transcribed: it is settled without words next. The connection goes on. */
  turnFailed(error: Error): void;
  /**
   * The connection is gone, or useless.
   * @param given whether the provider has given up: an attempt to send the same again would fail too
   */
  lost(error: Error, given: boolean): void;
}

export interface ProviderConnection {
  /** Octets that the provider has not read yet. */
  readonly bufferedBytes: number;
  /**
   * Whether it has sent more than is read of it since `at`, ms on the clock's elapsed time, so that what it says is late;
   * absent: all is read.
   */
  heldSince?(at: number): boolean;
  /** @param samples valid during the call only */
  audio(samples: Int16Array): void;
  /** The caller has finished a turn: `finished` answers. */
  end(): void;
  close(): void;
}

export interface TranscriptionProvider {
  /** For the log and the metrics, without secrets. */
  readonly name: string;
  /** Whether it also gets what is between the turns, and says where in it words end; else it gets only the turns. */
  readonly continuous: boolean;
  /** Length of a piece of audio, ms. */
  readonly pieceMs: number;
  /** Time for the words of a turn after its end, ms. */
  readonly finalWithinMs: number;
  /**
   * Resolves when audio can be sent.
   * @param signal aborts it
   * @throws Error that says which server, and why
   */
  connect(
    options: TranscriptionOptions,
    events: ProviderEvents,
    signal: AbortSignal,
  ): Promise<ProviderConnection>;
}
