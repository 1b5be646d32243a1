/**
 * The mediasoup workers: one process per core, each with one router and one DirectTransport that all its legs
 * share (one DirectTransport per leg costs a third more CPU).
 *
 *     start -> up -> died -> (back-off) -> start
 *               \--> closed
 *
 * A leg stays on the worker where it started. When that worker dies, the leg is notified and the worker is replaced.
 */
import type { Writable } from 'node:stream';
import { createWorker, type types, version } from 'mediasoup';
import type { Clock } from '#shared/clock.ts';
import { Timers } from '#shared/timers.ts';
import { CallRefused } from '../call/refused.ts';
import type { MediaLog } from './log.ts';
import { PacketReader } from './packet-reader.ts';
import { routerCodecs, type SessionPayloads, tableKey } from './payloads.ts';
import { checkWorkerBinary } from './worker-binary.ts';
import { catchPipes, PacketSender } from './worker-pipe.ts';

export interface WorkerPoolOptions {
  /** Path of the worker executable. */
  readonly workerBin: string;
  /** Accepts a worker without the mark of our patches. */
  readonly acceptUnmarked: boolean;
  /** Number of processes. */
  readonly workers: number;
  /** Milliseconds before a dead worker is replaced. */
  readonly restartDelayMs: number;
  readonly clock: Clock;
  readonly log: MediaLog;
}

/** One worker process as the legs see it. */
export class MediaWorker {
  readonly router: types.Router;
  readonly direct: types.DirectTransport;
  readonly #worker: types.Worker;
  readonly #pipe: Writable | null;
  readonly #reader: PacketReader | null;
  readonly #mourners = new Set<(error: Error) => void>();
  #table = '';
  #ssrcs = 0;

  private constructor(
    { worker, pipe, reader }: Spawned,
    router: types.Router,
    direct: types.DirectTransport,
  ) {
    this.#worker = worker;
    this.#pipe = pipe;
    this.#reader = reader;
    this.router = router;
    this.direct = direct;
  }

  /** Spawns a worker. @throws Error when it does not start */
  static async start(workerBin: string): Promise<MediaWorker> {
    const spawned = await spawn(workerBin);
    const { worker } = spawned;
    try {
      const router = await worker.createRouter({ mediaCodecs: [] });
      return new MediaWorker(spawned, router, await router.createDirectTransport());
    } catch (error) {
      worker.close();
      throw error;
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

  /** Hands the packets of a stream of the shared transport to it as soon as they arrive. */
  receive(consumer: types.Consumer): void {
    const end = this.#reader?.listen(consumer.id, (packet) => void consumer.safeEmit('rtp', packet));
    if (end) consumer.observer.once('close', end);
  }

  /** What `work` sends is held back until it returns, and then written at once. */
  together(work: () => void): void {
    this.#pipe?.cork();
    try {
      work();
    } finally {
      this.#pipe?.uncork();
    }
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

  onDeath(listener: (error: Error) => void): void {
    this.#worker.once('died', (error) => {
      listener(error);
      for (const mourner of [...this.#mourners]) mourner(error);
      this.#mourners.clear();
    });
  }

  async close(): Promise<void> {
    if (this.#worker.subprocessClosed) return;
    const gone = new Promise<void>((resolve) => this.#worker.once('subprocessclose', resolve));
    this.#worker.close();
    await gone;
  }
}

interface Spawned {
  readonly worker: types.Worker;
  readonly pipe: Writable | null;
  readonly reader: PacketReader | null;
}

/**
 * mediasoup closes its workers on SIGINT and SIGTERM to this process. The edge drains on these signals and calls
 * must continue, so the workers only end when the pool is closed.
 */
async function spawn(workerBin: string): Promise<Spawned> {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const before = signals.map((signal) => new Set(process.listeners(signal)));
  const { started, to, from } = catchPipes(() => createWorker({ workerBin, logLevel: 'error' }));
  signals.forEach((signal, i) => {
    for (const listener of process.listeners(signal)) {
      if (!before[i]?.has(listener)) process.removeListener(signal, listener);
    }
  });
  const worker = await started;
  return { worker, pipe: to, reader: from && PacketReader.inFrontOf(from) };
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Set<MediaWorker>();
  readonly #restarts: Timers;
  #deaths = 0;
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

  /** The worker with the fewest legs. @throws CallRefused 503 while none is up */
  leastLoaded(): MediaWorker {
    let best: MediaWorker | undefined;
    for (const worker of this.#workers) if (!best || worker.legs < best.legs) best = worker;
    if (!best)
      throw new CallRefused(503, "No media worker is up; see the edge's log for why the last one died.");
    return best;
  }

  /** What `work` sends to a worker is written at once, when it returns. */
  together(work: () => void): void {
    let all = work;
    for (const worker of this.#workers) {
      const inner = all;
      all = () => worker.together(inner);
    }
    all();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#restarts.stop();
    const workers = this.workers;
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.close()));
  }

  async #add(): Promise<void> {
    const worker = await MediaWorker.start(this.#options.workerBin);
    if (this.#closed) return worker.close();
    this.#workers.add(worker);
    worker.onDeath((error) => {
      this.#workers.delete(worker);
      this.#deaths++;
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
