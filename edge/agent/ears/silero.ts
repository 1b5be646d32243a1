/**
 * Silero for all calls of a thread: collects their chunks and has a thread of its own judge them together. The thread is
 * started for the first call, and ends some time after the last.
 *
 *     [ off ] --open--> [ loading ] --ready--> [ ready ] --no stream for a while--> [ off ]
 *                           +-------- failed ------+--> [ failed ]
 *
 * While the thread is busy or loading, chunks wait and are judged in one go afterwards: the busier it is, the larger and
 * the cheaper for each chunk are the batches.
 */
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Log } from '../../call/log.ts';
import { chunkSamples, type FromSilero, type ToSilero } from './silero-messages.ts';

/** Time to collect the chunks of calls whose turns are at the same time, ms: it delays each judgement. */
const collectMs = 1;
/** Batches at the thread: one that it judges, and the next. */
const mostUnderWay = 2;
/** Chunks that wait, of all calls: those of a second of 250 calls. */
const mostWaiting = 8192;
/** Age of a chunk from which it is not judged any more, ms: its call has gone on without. */
const staleMs = 1000;
/** Time without a stream after which the thread ends, ms. */
const idleMs = 60_000;

/** Called with the probability of a voice in a chunk; null: it is not judged, because the thread has no time for it. */
export type ChunkJudged = (probability: number | null) => void;

export interface SileroStream {
  /** Takes 512 samples at 16 kHz. @param judged called once, later; never after \`close\` */
  write(chunk: Float32Array, judged: ChunkJudged): void;
  /** The sound that follows has nothing to do with the former. */
  reset(): void;
  close(): void;
}

interface Asked {
  readonly stream: number;
  readonly judged: ChunkJudged;
}

interface Waiting extends Asked {
  readonly chunk: Float32Array;
  readonly since: number;
}

export class Silero {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #program: URL;
  readonly #streams = new Set<number>();
  #state: 'off' | 'loading' | 'ready' | 'failed' = 'off';
  #worker: Worker | null = null;
  #waiting: Waiting[] = [];
  readonly #underWay = new Map<number, readonly Asked[]>();
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

  open(): SileroStream {
    const stream = ++this.#lastStream;
    this.#streams.add(stream);
    this.#idle?.cancel();
    if (this.#state === 'off' && !this.#closed) this.#start();
    return {
      write: (chunk, judged) => this.#collect({ stream, judged, chunk, since: this.#clock.elapsed() }),
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
      if (message.type === 'judged') this.#judged(message.batch, message.probabilities);
      else {
        this.#state = 'ready';
        this.#send();
      }
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

  /** Nothing will be judged of what waits. */
  #forget(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const asked = [...[...this.#underWay.values()].flat(), ...this.#waiting];
    this.#waiting = [];
    this.#underWay.clear();
    for (const one of asked) this.#answer(one, null);
  }

  #collect(chunk: Waiting): void {
    this.#dropStale();
    const takes = this.#state === 'ready' || this.#state === 'loading';
    if (!takes || this.#waiting.length >= mostWaiting) {
      this.#answer(chunk, null);
      return;
    }
    this.#waiting.push(chunk);
    if (this.#state === 'ready' && this.#underWay.size < mostUnderWay)
      this.#timer ??= this.#clock.after(collectMs, () => this.#send());
  }

  #dropStale(): void {
    const since = this.#clock.elapsed() - staleMs;
    for (let first = this.#waiting[0]; first && first.since < since; first = this.#waiting[0]) {
      this.#waiting.shift();
      this.#answer(first, null);
    }
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#dropStale();
    // A chunk of a stream that has ended would make the thread keep that stream for good.
    const waiting = this.#waiting.filter(({ stream }) => this.#streams.has(stream));
    this.#waiting = [];
    if (waiting.length === 0) return;
    const samples = new Float32Array(waiting.length * chunkSamples);
    for (const [i, { chunk }] of waiting.entries()) samples.set(chunk, i * chunkSamples);
    const batch = ++this.#batches;
    this.#underWay.set(
      batch,
      waiting.map(({ stream, judged }) => ({ stream, judged })),
    );
    const streams = waiting.map(({ stream }) => stream);
    this.#tell({ type: 'judge', batch, streams, samples }, [samples.buffer]);
  }

  #judged(batch: number, probabilities: Float32Array): void {
    const asked = this.#underWay.get(batch) ?? [];
    this.#underWay.delete(batch);
    this.#send();
    for (const [i, one] of asked.entries()) this.#answer(one, probabilities[i] ?? 0);
  }

  #answer({ stream, judged }: Asked, probability: number | null): void {
    if (this.#streams.has(stream)) judged(probability);
  }

  #tell(message: ToSilero, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, transfer);
  }
}
