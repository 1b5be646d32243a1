/**
 * Detects utterances in 20 ms frames by level: a voice is well above the tracked noise floor.
 * No model, no allocation per frame.
 */
import { Recording } from './recording.ts';

const frameMs = 20;
/** Minimum RMS of a voice, and the factor by which a voice exceeds the noise floor. */
const quietest = 200;
const aboveFloor = 3;
/** ms of loud frames that start an utterance, and of quiet ones that end it. */
const onsetMs = 60;
const pauseMs = 700;
const longestMs = 30_000;
/** ms before the onset that belong to the utterance: soft initial consonants */
const leadMs = 200;

export interface UtteranceEvents {
  /** A voice has been heard for `ms` so far; called for each of its frames. */
  speaking(ms: number): void;
  /** An utterance has ended. The listener owns `samples`; empty when they are not kept. */
  spoken(samples: Int16Array): void;
}

export class UtteranceDetector {
  readonly #events: UtteranceEvents;
  readonly #frameSamples: number;
  readonly #maxSamples: number;
  readonly #leadSamples: number;
  /** null: nobody wants the samples. */
  readonly #recording: Recording | null;
  #filled = 0;
  #floor = quietest;
  #loudMs = 0;
  #quietMs = 0;
  #inside = false;

  /** @param keeps whether the samples of utterances are kept */
  constructor(sampleRate: number, keeps: boolean, events: UtteranceEvents) {
    this.#events = events;
    this.#frameSamples = sampleRate / 50;
    this.#leadSamples = (sampleRate * leadMs) / 1000;
    this.#maxSamples = (sampleRate * (longestMs + leadMs)) / 1000;
    this.#recording = keeps ? new Recording(this.#maxSamples) : null;
  }

  /** Whether an utterance is in progress. */
  get inside(): boolean {
    return this.#inside;
  }

  write(frame: Int16Array): void {
    this.#append(frame);
    const level = rms(frame);
    const loud = level > Math.max(quietest, this.#floor * aboveFloor);
    // The floor falls at once and rises slowly, so that speech does not raise it.
    this.#floor = level < this.#floor ? level : this.#floor + (level - this.#floor) * 0.005;
    if (loud) {
      this.#loudMs += frameMs;
      this.#quietMs = 0;
      if (this.#loudMs >= onsetMs) this.#inside = true;
    } else {
      this.#quietMs += frameMs;
      if (!this.#inside) this.#loudMs = 0;
    }
    if (!this.#inside) return;
    if (loud) this.#events.speaking(this.#loudMs);
    if (this.#quietMs >= pauseMs || this.#filled + this.#frameSamples > this.#maxSamples) this.#finish();
  }

  #append(frame: Int16Array): void {
    if (!this.#inside && this.#loudMs === 0 && this.#filled + frame.length > this.#leadSamples) {
      this.#recording?.drop(frame.length);
      this.#filled -= frame.length;
    }
    this.#recording?.append(frame);
    this.#filled += frame.length;
  }

  #finish(): void {
    const samples = this.#recording?.take() ?? new Int16Array(0);
    this.#filled = 0;
    this.#loudMs = 0;
    this.#quietMs = 0;
    this.#inside = false;
    this.#events.spoken(samples);
  }
}

function rms(frame: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < frame.length; i++) {
    const sample = frame[i] ?? 0;
    sum += sample * sample;
  }
  return Math.sqrt(sum / Math.max(1, frame.length));
}
