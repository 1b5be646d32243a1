import type { SpeechOptions, TextToSpeech } from './speech.ts';

/**
 * Caches synthesized speech, because calls repeat the same sentences; the least recently used is dropped when
 * `maxBytes` is exceeded. Identical concurrent requests share one synthesis; failures are not cached.
 */
export class SpeechCache implements TextToSpeech {
  readonly #inner: TextToSpeech;
  readonly #maxBytes: number;
  readonly #kept = new Map<string, Int16Array>();
  readonly #running = new Map<string, Promise<Int16Array>>();
  #bytes = 0;

  constructor(inner: TextToSpeech, maxBytes: number) {
    this.#inner = inner;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of cached audio. */
  get bytes(): number {
    return this.#bytes;
  }

  synthesize(text: string, options: SpeechOptions): Promise<Int16Array> {
    const key = JSON.stringify([options.voice, options.language, options.sampleRate, text]);
    const kept = this.#kept.get(key);
    if (kept) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return Promise.resolve(kept);
    }
    const running = this.#running.get(key);
    if (running) return running;
    const fresh = this.#inner
      .synthesize(text, options)
      .then((samples) => {
        this.#keep(key, samples);
        return samples;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, fresh);
    return fresh;
  }

  async warm(): Promise<void> {
    await this.#inner.warm?.();
  }

  close(): Promise<void> {
    this.#kept.clear();
    this.#bytes = 0;
    return this.#inner.close();
  }

  #keep(key: string, samples: Int16Array): void {
    const size = samples.byteLength;
    if (size > this.#maxBytes) return;
    for (const [oldest, old] of this.#kept) {
      if (this.#bytes + size <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= old.byteLength;
    }
    this.#kept.set(key, samples);
    this.#bytes += size;
  }
}
