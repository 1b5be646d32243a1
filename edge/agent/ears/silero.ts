/**
 * Silero for all calls of a thread: collects their chunks and has a thread of its own judge them together. The thread is
 * started for the first call, and ends some time after the last.
 *
 *     [ off ] --open--> [ loading ] --ready--> [ ready ] --no stream for a while--> [ off ]
 *                       |    |    ^               |
 *          cannot be run|    |hung|          hung or ended
 *                       v    v    |               |
 *                 [ failed ] [ resting ] <--------+
 *
 * A thread that judges nothing for a while, or ends though it or one before it could be run, is replaced after a pause,
 * which grows while one after the other does not live for a minute. When threads hang that cannot be ended either, it has
 * failed for good.
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
/** Time in which a thread loads or judges a batch at most, ms: on a busy machine it takes a second. */
const hangMs = 15_000;
/** Time after it in which an answer that has come is read, ms: it may be this thread that was busy. */
const readsMs = 1000;
/** Pause before a thread is replaced, ms; doubled for each that did not judge for long enough. */
const restMs = 10_000;
const longestRestMs = 300_000;
/** Time for which a thread is ready until it counts as one that can judge, ms. */
const provenMs = 60_000;
/** Threads that were told to end and have not: each may hold a processor. */
const mostStuck = 2;

export type SileroState = 'off' | 'loading' | 'ready' | 'resting' | 'failed';

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
  #state: SileroState = 'off';
  #worker: Worker | null = null;
  #waiting: Waiting[] = [];
  readonly #underWay = new Map<number, readonly Asked[]>();
  #batches = 0;
  #lastStream = 0;
  #timer: Timer | null = null;
  #idle: Timer | null = null;
  /** Of the thread that loads or judges, or of the pause after it. */
  #watch: Timer | null = null;
  #stuck = 0;
  /** When the thread was ready, ms on the clock's elapsed time; null: it has not been. */
  #readyAt: number | null = null;
  /** A thread has been ready: one that does not load later lacks memory or a descriptor, not the library. */
  #couldRun = false;
  /** Threads one after the other that were ready for too short a time. */
  #shortInARow = 0;
  #closed = false;

  /** @param program of the thread */
  constructor(clock: Clock, log: Log, program = new URL('./silero-worker.ts', import.meta.url)) {
    this.#clock = clock;
    this.#log = log;
    this.#program = program;
  }

  /** Whether the thread judges, or has failed for good. */
  get state(): SileroState {
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
    this.#readyAt = null;
    const worker = new Worker(this.#program, {
      name: 'silero',
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    worker.unref();
    this.#worker = worker;
    this.#expectAnswer();
    worker.on('message', (message: FromSilero) => {
      if (worker !== this.#worker) return;
      this.#expectAnswer();
      if (message.type === 'judged') this.#judged(message.batch, message.probabilities);
      else {
        this.#state = 'ready';
        this.#readyAt = this.#clock.elapsed();
        this.#couldRun = true;
        this.#send();
      }
      if (this.#underWay.size === 0) this.#watch?.cancel();
    });
    worker.on('error', (error: unknown) => {
      if (worker === this.#worker) this.#ended(error);
    });
    worker.on('exit', (code) => {
      if (worker === this.#worker) this.#ended(new Error(`its thread ended with code ${code}`));
    });
  }

  #expectAnswer(): void {
    this.#watch?.cancel();
    this.#watch = this.#clock.after(hangMs, () => {
      this.#watch = this.#clock.after(readsMs, () => this.#hung());
    });
  }

  #hung(): void {
    void this.#drop();
    const why = `its thread has not answered for ${hangMs / 1000} s`;
    if (this.#stuck > mostStuck) this.#failed(new Error(`${why}, and ${mostStuck} before have not ended`));
    else this.#rest(new Error(why));
  }

  #ended(error: unknown): void {
    this.#worker = null;
    if (this.#couldRun) this.#rest(error);
    else this.#failed(error);
  }

  /** Has another thread judge, after a pause. */
  #rest(error: unknown): void {
    this.#state = 'resting';
    this.#watch?.cancel();
    const isProven = this.#readyAt !== null && this.#clock.elapsed() - this.#readyAt >= provenMs;
    this.#shortInARow = isProven ? 0 : this.#shortInARow + 1;
    const doubled = restMs * 2 ** Math.min(16, Math.max(0, this.#shortInARow - 1));
    this.#watch = this.#clock.after(Math.min(longestRestMs, doubled), () => this.#start());
    this.#forget();
    this.#log.warn(
      { err: error },
      'voices are detected by the first stage alone until Silero has another thread',
    );
  }

  #failed(error: unknown): void {
    this.#state = 'failed';
    this.#watch?.cancel();
    this.#forget();
    this.#log.warn(
      { err: error },
      'voices are detected by the first stage alone: Silero cannot be run (are onnxruntime-node and @ricky0123/vad-web installed?)',
    );
  }

  async #stop(): Promise<void> {
    this.#watch?.cancel();
    const ended = this.#drop();
    if (this.#state !== 'failed') this.#state = 'off';
    this.#forget();
    await ended;
  }

  async #drop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    if (!worker) return;
    this.#stuck++;
    await worker.terminate();
    this.#stuck--;
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
    if (this.#underWay.size === 1) this.#expectAnswer();
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
