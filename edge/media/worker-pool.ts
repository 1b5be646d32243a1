/**
 * The mediasoup workers: one process per core, each with one router and one DirectTransport that all its legs
 * share (one DirectTransport per leg costs a third more CPU).
 *
 *     start -> up -> died -> (back-off) -> start
 *               |--> does not answer -> killed -> died
 *               \--> closed
 *
 * A leg stays on the worker where it started. When that worker dies, the leg is notified and the worker is replaced. One
 * that hangs is killed, and has died then.
 */
import type { ChildProcess } from 'node:child_process';
import { createWorker, type types, version } from 'mediasoup';
import type { Clock } from '#shared/clock.ts';
import { Liveness } from '#shared/liveness.ts';
import { Timers } from '#shared/timers.ts';
import { CallRefused } from '../call/refused.ts';
import type { MediaLog } from './log.ts';
import { PacketReader } from './packet-reader.ts';
import { routerCodecs, type SessionPayloads, tableKey } from './payloads.ts';
import { TurnReads } from './turn-reads.ts';
import { checkWorkerBinary } from './worker-binary.ts';
import type { WorkerLimits } from './worker-limits.ts';
import { catchPipes, PacketSender, WorkerPipe } from './worker-pipe.ts';

export interface WorkerPoolOptions {
  /** Path of the worker executable. */
  readonly workerBin: string;
  /** Accepts a worker without the mark of our patches. */
  readonly acceptUnmarked: boolean;
  /** Number of processes. */
  readonly workers: number;
  /** Milliseconds before a dead worker is replaced. */
  readonly restartDelayMs: number;
  readonly limits: WorkerLimits;
  readonly clock: Clock;
  readonly log: MediaLog;
}

type Start = Pick<WorkerPoolOptions, 'workerBin' | 'limits' | 'clock'>;

/** One worker process as the legs see it. */
export class MediaWorker {
  readonly router: types.Router;
  readonly direct: types.DirectTransport;
  readonly #worker: types.Worker;
  readonly #process: ChildProcess | null;
  readonly #limits: WorkerLimits;
  readonly #clock: Clock;
  readonly #pipe: WorkerPipe | null;
  readonly #reader: PacketReader | null;
  readonly #reads: TurnReads | null;
  readonly #mourners = new Set<(error: Error) => void>();
  #liveness: Liveness | null = null;
  #table = '';
  #ssrcs = 0;

  private constructor(
    { worker, process, pipe, reader, reads }: Spawned,
    { limits, clock }: Start,
    router: types.Router,
    direct: types.DirectTransport,
  ) {
    this.#worker = worker;
    this.#process = process;
    this.#limits = limits;
    this.#clock = clock;
    this.#pipe = pipe;
    this.#reader = reader;
    this.#reads = reads;
    this.router = router;
    this.direct = direct;
  }

  /** Spawns a worker. @throws Error when it does not start */
  static async start(start: Start): Promise<MediaWorker> {
    const { started, process, to, from } = spawn(start.workerBin);
    const timer = start.clock.after(start.limits.startMs, () => process?.kill('SIGKILL'));
    try {
      const worker = await started;
      try {
        const router = await worker.createRouter({ mediaCodecs: [] });
        const direct = await router.createDirectTransport();
        const reader = from && PacketReader.inFrontOf(from);
        const reads = reader && new TurnReads(from, reader);
        const pipe = to && new WorkerPipe(to, () => reads?.asked());
        return new MediaWorker({ worker, process, pipe, reader, reads }, start, router, direct);
      } catch (error) {
        worker.close();
        throw error;
      }
    } finally {
      timer.cancel();
    }
  }

  get pid(): number {
    return this.#worker.pid;
  }

  get closed(): boolean {
    return this.#worker.closed;
  }

  /** Legs on this worker. */
  get legs(): number {
    return this.#mourners.size;
  }

  /** Adds a leg. `died` is called when the worker dies under it. Returns the function that removes the leg. */
  enter(died: (error: Error) => void): () => void {
    this.#mourners.add(died);
    return () => void this.#mourners.delete(died);
  }

  /**
   * Makes the router list exactly the payload types of this session. `produce` reads the table before its first
   * await, so call this in the same turn of the event loop.
   */
  use(session: SessionPayloads): void {
    const key = tableKey(session);
    if (key === this.#table) return;
    this.router.updateMediaCodecs(routerCodecs(session));
    this.#table = key;
  }

  /** An SSRC for a stream to this worker: all legs send on one transport, where each needs its own. */
  newSsrc(): number {
    this.#ssrcs = (this.#ssrcs + 1) >>> 0 || 1;
    return this.#ssrcs;
  }

  /** Sends the packets of a stream of the shared transport. */
  sender(producer: types.Producer): PacketSender {
    return new PacketSender(producer, this.#pipe);
  }

  /** Hands each packet of a stream of the shared transport to `receiver`; it is overwritten after the call. */
  receive(consumer: types.Consumer, receiver: (packet: Buffer) => void): void {
    const end = this.#reader?.listen(consumer.id, receiver);
    if (end) consumer.observer.once('close', end);
    else consumer.on('rtp', receiver);
  }

  /**
   * A turn of the playout clock: what `work` sends is held back until it returns, and then written at once.
   * @param work returns the milliseconds until the next turn, and so does this
   */
  turn(work: () => number): number {
    this.#reads?.begin();
    const untilNextMs = this.#pipe ? this.#pipe.together(work) : work();
    this.#reads?.end(untilNextMs);
    return untilNextMs;
  }

  /** There are no more turns: packets are read when they come. */
  rest(): void {
    this.#reads?.atOnce();
  }

  /** CPU seconds that the process has used. */
  async cpuSeconds(): Promise<number> {
    const usage = await this.#worker.getResourceUsage();
    return (usage.ru_utime + usage.ru_stime) / 1000;
  }

  /** Handlers that the worker has registered, for leak checks. */
  async objects(): Promise<number> {
    const dump = await this.#worker.dump();
    return dump.channelMessageHandlers.channelRequestHandlers.length;
  }

  /** Asks for a sign of life from now on. @param listener called before the legs, with why; `hung`: it was killed for it */
  onDeath(listener: (error: Error, hung: boolean) => void): void {
    const { lookMs: everyMs, hangMs } = this.#limits;
    let hung: Error | null = null;
    this.#liveness = new Liveness({
      clock: this.#clock,
      everyMs,
      hangMs,
      ask: () => this.#worker.getResourceUsage(),
      hung: () => {
        hung = new Error(`it did not answer for ${hangMs / 1000} s and was ended`);
        this.#process?.kill('SIGKILL');
      },
    });
    this.#worker.once('died', (died) => {
      this.#liveness?.end();
      const error = hung ?? died;
      listener(error, hung !== null);
      for (const mourner of [...this.#mourners]) mourner(error);
      this.#mourners.clear();
    });
  }

  async close(): Promise<void> {
    this.#liveness?.end();
    if (this.#worker.subprocessClosed) return;
    const gone = new Promise<void>((resolve) => this.#worker.once('subprocessclose', resolve));
    this.#worker.close();
    // It ends when its pipes are closed, unless it hangs.
    const timer = this.#clock.after(this.#limits.stopMs, () => this.#process?.kill('SIGKILL'));
    await gone;
    timer.cancel();
  }
}

interface Spawned {
  readonly worker: types.Worker;
  readonly process: ChildProcess | null;
  readonly pipe: WorkerPipe | null;
  readonly reader: PacketReader | null;
  readonly reads: TurnReads | null;
}

/**
 * mediasoup closes its workers on SIGINT and SIGTERM to this process. The edge drains on these signals and calls
 * must continue, so the workers only end when the pool is closed.
 */
function spawn(workerBin: string) {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const before = signals.map((signal) => new Set(process.listeners(signal)));
  const caught = catchPipes(() => createWorker({ workerBin, logLevel: 'error' }));
  signals.forEach((signal, i) => {
    for (const listener of process.listeners(signal)) {
      if (!before[i]?.has(listener)) process.removeListener(signal, listener);
    }
  });
  return caught;
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Set<MediaWorker>();
  readonly #restarts: Timers;
  #deaths = 0;
  #hangs = 0;
  #closed = false;

  private constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#restarts = new Timers(options.clock);
  }

  /**
   * Starts all workers.
   * @throws Error that says what is wrong with the binary and what to do
   */
  static async start(options: WorkerPoolOptions): Promise<WorkerPool> {
    await checkWorkerBinary(options.workerBin, version, options.acceptUnmarked);
    const pool = new WorkerPool(options);
    try {
      await Promise.all(Array.from({ length: options.workers }, () => pool.#add()));
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** Workers that are up. */
  get workers(): readonly MediaWorker[] {
    return [...this.#workers];
  }

  /** Workers that died since the start. */
  get deaths(): number {
    return this.#deaths;
  }

  /** Those of them that hung. */
  get hangs(): number {
    return this.#hangs;
  }

  /** The worker with the fewest legs. @throws CallRefused 503 while none is up */
  leastLoaded(): MediaWorker {
    let best: MediaWorker | undefined;
    for (const worker of this.#workers) if (!best || worker.legs < best.legs) best = worker;
    if (!best)
      throw new CallRefused(503, "No media worker is up; see the edge's log for why the last one died.");
    return best;
  }

  /** A turn of the playout clock on all workers; see {@link MediaWorker.turn}. */
  turn(work: () => number): void {
    let all = work;
    for (const worker of this.#workers) {
      const inner = all;
      all = () => worker.turn(inner);
    }
    all();
  }

  /** There are no more turns until the next one. */
  rest(): void {
    for (const worker of this.#workers) worker.rest();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#restarts.stop();
    const workers = this.workers;
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.close()));
  }

  async #add(): Promise<void> {
    const worker = await MediaWorker.start(this.#options);
    if (this.#closed) return worker.close();
    this.#workers.add(worker);
    worker.onDeath((error, hung) => {
      this.#workers.delete(worker);
      this.#deaths++;
      if (hung) this.#hangs++;
      const fields = { pid: worker.pid, legs: worker.legs, error: error.message };
      this.#options.log.error(fields, 'a media worker died; its calls end and it is replaced');
      this.#replaceLater();
    });
  }

  #replaceLater(): void {
    if (this.#closed) return;
    this.#restarts.after(this.#options.restartDelayMs, () => {
      this.#add().catch((error: unknown) => {
        this.#options.log.error(
          { error: String(error) },
          'a media worker could not be started; trying again',
        );
        this.#replaceLater();
      });
    });
  }
}
