/** What a caller says in one turn, as samples: with a lead, because an ear notices a voice some time after its start. */
import { mostFramesLate } from './ears/echo-guard.ts';
import { Recording } from './recording.ts';

const longestMs = 30_000;
/** ms before the voice was noticed that belong to it: the onset, and soft initial consonants */
const leadMs = 300;
/** Longest time by which it is noticed late, ms (ears/echo-guard.ts). */
const longestLateMs = mostFramesLate * 20;

export class Utterance {
  readonly #maxSamples: number;
  readonly #samplesPerMs: number;
  /** null: nobody wants the samples. */
  readonly #recording: Recording | null;
  #filled = 0;
  #begun = false;

  /** @param keeps whether the samples are kept */
  constructor(sampleRate: number, keeps: boolean) {
    this.#samplesPerMs = sampleRate / 1000;
    this.#maxSamples = this.#samplesPerMs * (longestMs + leadMs + longestLateMs);
    this.#recording = keeps ? new Recording(this.#maxSamples) : null;
  }

  /** Whether no further frame of this length fits. */
  full(frameSamples: number): boolean {
    return this.#filled + frameSamples > this.#maxSamples;
  }

  /** Before the voice begins, only the last frames are kept. */
  append(frame: Int16Array): void {
    if (!this.#begun) this.#keep(this.#samplesPerMs * (leadMs + longestLateMs) - frame.length);
    this.#recording?.append(frame);
    this.#filled += frame.length;
  }

  /** The voice was noticed. @param lateMs since the sound by which it was; of no effect in the midst of an utterance */
  begin(lateMs: number): void {
    if (!this.#begun) this.#keep(this.#samplesPerMs * (leadMs + lateMs));
    this.#begun = true;
  }

  #keep(samples: number): void {
    const rest = this.#filled - samples;
    if (rest <= 0) return;
    this.#recording?.drop(rest);
    this.#filled -= rest;
  }

  /** A copy of the samples so far. */
  soFar(): Int16Array {
    return this.#recording?.copy() ?? new Int16Array(0);
  }

  /** The samples, which its caller owns; starts over. */
  take(): Int16Array {
    this.#filled = 0;
    this.#begun = false;
    return this.#recording?.take() ?? new Int16Array(0);
  }
}
