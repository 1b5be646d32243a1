/** What a caller says in one turn, as samples: with a lead, because an ear notices a voice some time after its start. */
import { Recording } from './recording.ts';

const longestMs = 30_000;
/** ms before the voice was noticed that belong to it: the onset, and soft initial consonants */
const leadMs = 300;

export class Utterance {
  readonly #maxSamples: number;
  readonly #leadSamples: number;
  /** null: nobody wants the samples. */
  readonly #recording: Recording | null;
  #filled = 0;

  /** @param keeps whether the samples are kept */
  constructor(sampleRate: number, keeps: boolean) {
    this.#leadSamples = (sampleRate * leadMs) / 1000;
    this.#maxSamples = (sampleRate * (longestMs + leadMs)) / 1000;
    this.#recording = keeps ? new Recording(this.#maxSamples) : null;
  }

  /** Whether no further frame of this length fits. */
  full(frameSamples: number): boolean {
    return this.#filled + frameSamples > this.#maxSamples;
  }

  /** @param begun false: the frame is before the voice, and only the last ones are kept */
  append(frame: Int16Array, begun: boolean): void {
    if (!begun && this.#filled + frame.length > this.#leadSamples) {
      this.#recording?.drop(frame.length);
      this.#filled -= frame.length;
    }
    this.#recording?.append(frame);
    this.#filled += frame.length;
  }

  /** A copy of the samples so far. */
  soFar(): Int16Array {
    return this.#recording?.copy() ?? new Int16Array(0);
  }

  /** The samples, which its caller owns; begins anew. */
  take(): Int16Array {
    this.#filled = 0;
    return this.#recording?.take() ?? new Int16Array(0);
  }
}
