/** A server that transcribes whole utterances, such as over HTTP, as a provider: it gets the audio of each turn. */
import type { SpeechToText } from '#shared/models/speech.ts';
import { Recording } from '../recording.ts';
import type { ProviderConnection, ProviderEvents, TranscriptionProvider } from './provider.ts';
import type { TranscriptionOptions } from './transcription.ts';

/** Longest utterance, seconds; the detector ends turns earlier. */
const longestSeconds = 40;

export function utteranceProvider(stt: SpeechToText, name: string): TranscriptionProvider {
  return {
    name,
    continuous: false,
    pieceMs: 20,
    // The client of the server has its own, shorter limit.
    finalWithinMs: 35_000,
    connect: async (options, events) => new UtteranceConnection(stt, options, events),
  };
}

class UtteranceConnection implements ProviderConnection {
  readonly bufferedBytes = 0;
  readonly #stt: SpeechToText;
  readonly #options: TranscriptionOptions;
  readonly #events: ProviderEvents;
  readonly #recording: Recording;
  #tail: Promise<void> = Promise.resolve();

  constructor(stt: SpeechToText, options: TranscriptionOptions, events: ProviderEvents) {
    this.#stt = stt;
    this.#options = options;
    this.#events = events;
    this.#recording = new Recording(options.sampleRate * longestSeconds);
  }

  audio(samples: Int16Array): void {
    this.#recording.append(samples);
  }

  end(): void {
    const samples = this.#recording.take();
    this.#tail = this.#tail.then(() => this.#transcribe(samples));
  }

  close(): void {
    this.#recording.clear();
  }

  async #transcribe(samples: Int16Array): Promise<void> {
    const { sampleRate, language, keyTerms } = this.#options;
    try {
      const text = await this.#stt.transcribe(samples, { sampleRate, language, keyTerms });
      this.#events.settled({ text, confidence: null, language: null }, null);
      this.#events.finished(null);
    } catch (error) {
      this.#events.lost(error instanceof Error ? error : new Error(String(error)), true);
    }
  }
}
