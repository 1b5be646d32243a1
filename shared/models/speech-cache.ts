import {
  joinedPieces,
  piecesOf,
  type SharedVoice,
  SpeechError,
  type SpeechOptions,
  type TextToSpeech,
} from './speech.ts';

/** Texts that are spoken ahead at a time; more would be in the way of those that callers wait for. */
const mostPremaking = 2;

/** A text that is being spoken, for all who wait for it. */
interface Running {
  readonly done: Promise<Int16Array>;
  waiting: number;
  readonly unwanted: AbortController;
}

/**
 * Caches synthesized speech, because calls repeat the same sentences; the least recently used is dropped when
 * `maxBytes` is exceeded. Identical concurrent requests share one synthesis; failures are not cached.
 */
export class SpeechCache implements TextToSpeech {
  readonly #inner: SharedVoice;
  readonly #maxBytes: number;
  readonly #kept = new Map<string, Int16Array>();
  readonly #running = new Map<string, Running>();
  #bytes = 0;
  readonly #premaking = new Set<string>();
  #lastAhead: Promise<void> = Promise.resolve();

  constructor(inner: SharedVoice, maxBytes: number) {
    this.#inner = inner;
    this.#maxBytes = maxBytes;
  }

  /** Texts that were kept, and texts that were not. */
  hits = 0;
  misses = 0;

  /** Bytes of cached audio. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param signal aborted when this one does not wait any more; with the last one the text is not spoken */
  async synthesize(text: string, options: SpeechOptions, signal?: AbortSignal): Promise<Int16Array> {
    signal?.throwIfAborted();
    const key = keyOf(text, options);
    const kept = this.#find(key);
    if (kept) return kept;
    const running = this.#run(key, text, options);
    running.waiting += 1;
    const leave = () => {
      running.waiting -= 1;
      if (running.waiting > 0) return;
      // Who wants it from now on begins again.
      this.#over(key, running);
      running.unwanted.abort(new SpeechError('the speech is not wanted any more'));
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await running.done;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  #run(key: string, text: string, options: SpeechOptions): Running {
    const former = this.#running.get(key);
    if (former) return former;
    const unwanted = new AbortController();
    const done = this.#inner
      .synthesize(text, options, unwanted.signal)
      .then((samples) => this.#keep(key, samples))
      .finally(() => this.#over(key, running));
    const running: Running = { done, waiting: 0, unwanted };
    this.#running.set(key, running);
    return running;
  }

  #over(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
  }

  /**
   * Kept speech in one piece; else as it is made, and kept when it is complete. A voice of whole texts speaks each once
   * for all who wait for it: the first calls after a start begin with the same sentence.
   */
  async *stream(text: string, options: SpeechOptions, signal: AbortSignal): AsyncGenerator<Int16Array> {
    const key = keyOf(text, options);
    if (!this.#inner.stream || this.#kept.has(key) || this.#running.has(key)) {
      yield await this.synthesize(text, options, signal);
      return;
    }
    this.misses++;
    const pieces: Int16Array[] = [];
    for await (const piece of piecesOf(this.#inner, text, options, signal)) {
      pieces.push(piece);
      yield piece;
    }
    this.#keep(key, joinedPieces(pieces));
  }

  premake(text: string, options: SpeechOptions): Promise<void> {
    const key = keyOf(text, options);
    const isThere = this.#kept.has(key) || this.#running.has(key) || this.#premaking.has(key);
    if (isThere || this.#premaking.size >= mostPremaking) return Promise.resolve();
    this.#premaking.add(key);
    const turn = this.#inner.synthesizeAhead ? this.#lastAhead : Promise.resolve();
    const done = turn
      .then(() => this.#makeAhead(key, text, options))
      // Who needs the text will see the failure.
      .catch(() => undefined)
      .finally(() => this.#premaking.delete(key));
    this.#lastAhead = done;
    return done;
  }

  async #makeAhead(key: string, text: string, options: SpeechOptions): Promise<void> {
    if (this.#kept.has(key) || this.#running.has(key)) return;
    const inner = this.#inner;
    const made = inner.synthesizeAhead
      ? inner.synthesizeAhead(text, options)
      : inner.synthesize(text, options);
    if (made === null) return;
    const kept = made.then((samples) => this.#keep(key, samples));
    // Who needs the text meanwhile streams it, or waits for this where it cannot come sooner.
    const running: Running = { done: kept, waiting: 1, unwanted: new AbortController() };
    if (!inner.stream) this.#running.set(key, running);
    try {
      await kept;
    } finally {
      this.#over(key, running);
    }
  }

  async warm(): Promise<void> {
    await this.#inner.warm?.();
  }

  close(): Promise<void> {
    this.#kept.clear();
    this.#bytes = 0;
    return this.#inner.close();
  }

  #find(key: string): Int16Array | null {
    const kept = this.#kept.get(key);
    if (!kept) {
      this.misses++;
      return null;
    }
    this.hits++;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept;
  }

  /** @returns the same samples, which are in memory that threads share: they are sent to one without a copy */
  #keep(key: string, made: Int16Array): Int16Array {
    const samples = new Int16Array(new SharedArrayBuffer(made.byteLength));
    samples.set(made);
    const size = samples.byteLength;
    const former = this.#kept.get(key);
    if (former) {
      this.#kept.delete(key);
      this.#bytes -= former.byteLength;
    }
    if (size > this.#maxBytes) return samples;
    for (const [oldest, old] of this.#kept) {
      if (this.#bytes + size <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= old.byteLength;
    }
    this.#kept.set(key, samples);
    this.#bytes += size;
    return samples;
  }
}

function keyOf(text: string, { exact, voice, language, sampleRate }: SpeechOptions): string {
  return JSON.stringify([voice, language, sampleRate, text, exact]);
}
