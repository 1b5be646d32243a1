import type { SpeechToText } from '#shared/models/speech.ts';
import type { Log } from '../call/log.ts';
import { UtteranceDetector } from './utterance.ts';

export interface SpeechInputEvents {
  /** The caller has been speaking for `ms`. */
  speaking(ms: number): void;
  /** An utterance has ended; with speech recognition, its words follow. */
  finished(): void;
  /** The words of an utterance, in spoken order; empty when none were recognized. */
  words(text: string): void;
}

/** Detects when the caller speaks and, with speech recognition, what. */
export class SpeechInput {
  readonly #detector: UtteranceDetector;
  #tail: Promise<void> = Promise.resolve();

  constructor(
    sampleRate: number,
    language: string,
    recognizer: SpeechToText | null,
    events: SpeechInputEvents,
    log: Log,
  ) {
    const recognize = async (samples: Int16Array) => {
      try {
        events.words((await recognizer?.transcribe(samples, { sampleRate, language })) ?? '');
      } catch (error) {
        log.warn({ err: error }, 'what the caller said could not be transcribed');
        events.words('');
      }
    };
    this.#detector = new UtteranceDetector(sampleRate, recognizer !== null, {
      speaking: events.speaking,
      spoken: (samples) => {
        events.finished();
        if (recognizer) this.#tail = this.#tail.then(() => recognize(samples));
      },
    });
  }

  /** Whether the caller is speaking. */
  get speaking(): boolean {
    return this.#detector.inside;
  }

  write(frame: Int16Array): void {
    this.#detector.write(frame);
  }
}
