/** An agent's speech output: synthesizes texts, some ahead of time, and plays them in order. */
import type { SpeechOptions, TextToSpeech } from '#shared/models/speech.ts';
import { PlayQueue } from './play-queue.ts';

export class Speaking {
  readonly #tts: TextToSpeech;
  readonly #options: SpeechOptions;
  readonly #queue: PlayQueue;
  /** Texts whose synthesis has started and that were not spoken yet. */
  readonly #begun = new Map<string, Promise<Int16Array>>();

  /** @param maxSeconds maximum speech queued for playback */
  constructor(tts: TextToSpeech, options: SpeechOptions, maxSeconds: number) {
    this.#tts = tts;
    this.#options = options;
    this.#queue = new PlayQueue(options.sampleRate * maxSeconds);
  }

  /** Whether audio is playing or queued. */
  get playing(): boolean {
    return this.#queue.playing;
  }

  read(frame: Int16Array): boolean {
    return this.#queue.read(frame);
  }

  /** Starts a synthesis ahead of time. */
  begin(text: string): void {
    this.#of(text).catch(() => undefined);
  }

  /** The speech of a text, once; uses a synthesis already started. @throws what text-to-speech throws */
  async take(text: string): Promise<Int16Array> {
    try {
      return await this.#of(text);
    } finally {
      this.#begun.delete(text);
    }
  }

  /** Resolves when the speech of a text is ready to be taken. @throws what text-to-speech throws */
  async ready(text: string): Promise<void> {
    await this.#of(text);
  }

  /** Appends speech. Returns how many samples did not fit. */
  push(samples: Int16Array): number {
    return this.#queue.push(samples);
  }

  /** Resolves when all speech has been played or cut off. */
  played(): Promise<void> {
    return this.#queue.playing ? new Promise((resolve) => this.#queue.mark(resolve)) : Promise.resolve();
  }

  /** Cuts off the current speech. */
  stop(): void {
    this.#queue.clear();
  }

  #of(text: string): Promise<Int16Array> {
    const begun = this.#begun.get(text);
    if (begun) return begun;
    const speech = this.#tts.synthesize(text, this.#options);
    this.#begun.set(text, speech);
    return speech;
  }
}
