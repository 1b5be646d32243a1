/** What the thread of Silero and its owner tell each other. */

/** Samples of a chunk at 16 kHz: 32 ms. */
export const chunkSamples = 512;

export type ToSilero =
  /** Chunks, one after the other in `samples`, each of the stream at the same place; those of a stream in order. */
  | {
      readonly type: 'judge';
      readonly batch: number;
      readonly streams: readonly number[];
      readonly samples: Float32Array;
    }
  /** The sound of a stream that follows has nothing to do with the former. */
  | { readonly type: 'reset'; readonly stream: number }
  | { readonly type: 'close'; readonly stream: number };

export type FromSilero =
  | { readonly type: 'ready' }
  /** Probabilities of a voice, one for each chunk of the batch. */
  | { readonly type: 'judged'; readonly batch: number; readonly probabilities: Float32Array };
