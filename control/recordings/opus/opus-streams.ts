/**
 * Encodes recordings as Opus in Ogg while they are read, in one thread for all: it takes a core at most, and none from
 * the API. Each recording has one piece of some seconds in work, so those that are read at once take turns. An
 * organization has few of them, so that others find the thread free.
 */
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import type { FromOpusThread, ToOpusThread } from './thread-messages.ts';

/** Recordings that are encoded at once. */
const mostStreams = 16;
/** Of one organization. */
const mostPerOrganization = 2;
/** When to ask again, s. */
const retryAfterSeconds = 5;
/** Time without a recording after which the thread ends, ms. */
const idleMs = 60_000;

type Result = FromOpusThread['result'];

export class OpusStreams {
  readonly #clock: Clock;
  readonly #program: URL;
  /** The organization of each, and what is called with the next answer. */
  readonly #streams = new Map<
    number,
    { readonly orgId: string; answered: ((result: Result) => void) | null }
  >();
  #worker: Worker | null = null;
  #idle: Timer | null = null;
  #last = 0;

  /** @param program of the thread */
  constructor(clock: Clock, program = new URL('./thread.ts', import.meta.url)) {
    this.#clock = clock;
    this.#program = program;
  }

  /**
   * Takes a place until the stream is closed, also if nobody reads it.
   * @param pcm 16-bit samples of both channels, in whole frames
   * @throws ApiError RATE_LIMITED when the organization has no more, SERVICE_UNAVAILABLE when there is none
   */
  encoded(orgId: string, pcm: AsyncIterable<Buffer>): Readable {
    const ofSame = [...this.#streams.values()].filter((one) => one.orgId === orgId).length;
    if (ofSame >= mostPerOrganization) {
      const details = { limit: mostPerOrganization, scope: 'organization_recordings_at_once' };
      throw ApiError.of('RATE_LIMITED', details).waiting(retryAfterSeconds);
    }
    if (this.#streams.size >= mostStreams)
      throw ApiError.unavailable(
        'too many recordings are being encoded; try again, or read WAV',
        retryAfterSeconds,
      );
    this.#idle?.cancel();
    this.#idle = null;
    const stream = ++this.#last;
    this.#streams.set(stream, { orgId, answered: null });
    const pages = Readable.from(this.#run(stream, pcm), { objectMode: false });
    pages.once('close', () => this.#free(stream));
    return pages;
  }

  /** Ends the thread. What is being read fails. */
  async close(): Promise<void> {
    this.#idle?.cancel();
    const worker = this.#worker;
    this.#gone('control is stopping');
    await worker?.terminate();
  }

  async *#run(stream: number, pcm: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
    for await (const piece of pcm) {
      const samples = new Int16Array(piece.length / 2);
      for (let i = 0; i < samples.length; i++) samples[i] = piece.readInt16LE(2 * i);
      yield await this.#ask({ type: 'push', stream, pcm: samples }, [samples.buffer]);
    }
    yield await this.#ask({ type: 'end', stream });
  }

  #free(stream: number): void {
    const { answered } = this.#streams.get(stream) ?? {};
    if (!this.#streams.delete(stream)) return;
    answered?.({ error: 'nobody reads it any more' });
    this.#worker?.postMessage({ type: 'drop', stream } satisfies ToOpusThread);
    if (this.#streams.size > 0) return;
    this.#idle = this.#clock.after(idleMs, () => {
      const worker = this.#worker;
      this.#worker = null;
      void worker?.terminate();
    });
  }

  #ask(message: ToOpusThread, transfer: ArrayBuffer[] = []): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const stream = this.#streams.get(message.stream);
      if (!stream) {
        reject(new Error('the recording is not being encoded any more'));
        return;
      }
      stream.answered = (result) => {
        stream.answered = null;
        if ('ogg' in result) resolve(result.ogg);
        else reject(new Error(`a recording could not be encoded: ${result.error}`));
      };
      this.#worker ??= this.#start();
      this.#worker.postMessage(message, transfer);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#program, { name: 'opus' });
    worker.unref();
    const gone = (why: string) => {
      if (worker === this.#worker) this.#gone(why);
    };
    worker.on('message', ({ stream, result }: FromOpusThread) =>
      this.#streams.get(stream)?.answered?.(result),
    );
    worker.on('error', (error: unknown) => gone(error instanceof Error ? error.message : String(error)));
    worker.on('exit', (code) => gone(`its thread ended with code ${code}`));
    return worker;
  }

  /** The encoders were in the thread: what is being read ends. */
  #gone(error: string): void {
    this.#worker = null;
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const { answered } of streams) answered?.({ error });
  }
}
