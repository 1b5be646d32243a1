/**
 * Silero for all calls of a thread: collects their chunks for some milliseconds and has a thread of its own judge them
 * together. The thread is started for the first call, and ends some time after the last.
 *
 *     [ off ] --open--> [ loading ] --ready--> [ ready ] --no stream for a while--> [ off ]
 *                           +-------- failed ------+--> [ failed ]
 */
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Log } from '../../call/log.ts';
import { chunkSamples, type FromSilero, type ToSilero } from './silero-messages.ts';

/** Time to collect chunks of other calls, ms: it delays each judgement. */
const collectMs = 8;
/** Batches that are being judged; while there are more, new chunks are not judged: results must not come late. */
const mostUnderWay = 8;
/** Chunks of a batch. */
const mostCollected = 2048;
/** Time without a stream after which the thread ends, ms. */
const idleMs = 60_000;

export interface SileroStream {
  /** Takes 512 samples at 16 kHz. @returns false when they will not be judged */
  write(chunk: Float32Array): boolean;
  /** The sound that follows has nothing to do with the former. */
  reset(): void;
  close(): void;
}

interface Waiting {
  readonly stream: number;
  readonly chunk: Float32Array;
}

export class Silero {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #program: URL;
  readonly #streams = new Map<number, (probability: number) => void>();
  #state: 'off' | 'loading' | 'ready' | 'failed' = 'off';
  #worker: Worker | null = null;
  #waiting: Waiting[] = [];
  readonly #underWay = new Map<number, readonly number[]>();
  #batches = 0;
  #lastStream = 0;
  #timer: Timer | null = null;
  #idle: Timer | null = null;
  #closed = false;

  /** @param program of the thread */
  constructor(clock: Clock, log: Log, program = new URL('./silero-worker.ts', import.meta.url)) {
    this.#clock = clock;
    this.#log = log;
    this.#program = program;
  }

  /** Whether the thread judges, or has failed for good. */
  get state(): 'off' | 'loading' | 'ready' | 'failed' {
    return this.#state;
  }

  /** Whether chunks are being judged. */
  get busy(): boolean {
    return this.#underWay.size > 0 || this.#timer !== null;
  }

  /** @param judged called for each chunk, in order, some milliseconds later */
  open(judged: (probability: number) => void): SileroStream {
    const stream = ++this.#lastStream;
    this.#streams.set(stream, judged);
    this.#idle?.cancel();
    if (this.#state === 'off' && !this.#closed) this.#start();
    return {
      write: (chunk) => this.#collect(stream, chunk),
      reset: () => this.#tell({ type: 'reset', stream }),
      close: () => {
        if (!this.#streams.delete(stream)) return;
        this.#tell({ type: 'close', stream });
        if (this.#streams.size === 0) this.#idle = this.#clock.after(idleMs, () => this.#stop());
      },
    };
  }

  /** Ends the thread. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#idle?.cancel();
    await this.#stop();
  }

  #start(): void {
    this.#state = 'loading';
    const worker = new Worker(this.#program, {
      name: 'silero',
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    worker.unref();
    this.#worker = worker;
    worker.on('message', (message: FromSilero) => {
      if (worker !== this.#worker) return;
      if (message.type === 'ready') this.#state = 'ready';
      else this.#judged(message.batch, message.probabilities);
    });
    worker.on('error', (error: unknown) => {
      if (worker === this.#worker) this.#failed(error);
    });
    worker.on('exit', (code) => {
      if (worker === this.#worker) this.#failed(new Error(`its thread ended with code ${code}`));
    });
  }

  #failed(error: unknown): void {
    this.#state = 'failed';
    this.#worker = null;
    this.#forget();
    this.#log.warn(
      { err: error },
      'voices are detected by the first stage alone: Silero cannot be run (are onnxruntime-node and @ricky0123/vad-web installed?)',
    );
  }

  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    if (this.#state !== 'failed') this.#state = 'off';
    this.#forget();
    await worker?.terminate();
  }

  #forget(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#waiting = [];
    this.#underWay.clear();
  }

  #collect(stream: number, chunk: Float32Array): boolean {
    const busy = this.#underWay.size >= mostUnderWay || this.#waiting.length >= mostCollected;
    if (this.#state !== 'ready' || busy) return false;
    this.#waiting.push({ stream, chunk });
    this.#timer ??= this.#clock.after(collectMs, () => this.#send());
    return true;
  }

  #send(): void {
    this.#timer = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    const samples = new Float32Array(waiting.length * chunkSamples);
    for (const [i, { chunk }] of waiting.entries()) samples.set(chunk, i * chunkSamples);
    const streams = waiting.map(({ stream }) => stream);
    const batch = ++this.#batches;
    this.#underWay.set(batch, streams);
    this.#tell({ type: 'judge', batch, streams, samples }, [samples.buffer]);
  }

  #judged(batch: number, probabilities: Float32Array): void {
    const streams = this.#underWay.get(batch) ?? [];
    this.#underWay.delete(batch);
    for (const [i, stream] of streams.entries()) this.#streams.get(stream)?.(probabilities[i] ?? 0);
  }

  #tell(message: ToSilero, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, transfer);
  }
}
