/** The place of one media shard: runs its thread, watches it, and replaces it when it ends. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import { Liveness } from '#shared/liveness.ts';
import type { Log } from '../call/log.ts';
import { Channel, type Port } from './channel.ts';
import { type ShardConfig, type ShardState, toMain, toShard } from './messages.ts';
import { type CallUse, Shard, type ShardOptions } from './shard.ts';

/** A running shard. */
export interface ShardThread {
  readonly port: Port;
  /** Ends it at once. */
  kill(): void;
  /** @param ended called once, with why */
  onEnd(ended: (why: string) => void): void;
}

/** What a shard carries. */
export interface ShardLoad {
  calls: number;
}

export interface ShardSlotOptions extends Pick<ShardOptions, 'keyKnown'> {
  readonly index: number;
  /** Starts the thread of a shard. @param index of its slot */
  readonly start: (index: number) => ShardThread;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: ShardLimits;
  /** Connects a new shard to what all share. @returns releases what it holds, once it is gone */
  readonly serve: (channel: Channel) => () => void;
  /** A shard is gone: nobody writes any more what it recorded. @param recordings ids of those without an end */
  readonly gone: (index: number, recordings: readonly string[]) => void;
  readonly used: (call: CallUse, shard: Shard, load: ShardLoad) => void;
  readonly unused: (callId: string, shard: Shard) => void;
}

export interface ShardLimits {
  /** Time to start, ms */
  readonly startMs: number;
  /** Interval at which a shard is asked for its state, ms */
  readonly lookMs: number;
  /** Time without an answer after which a shard is ended, ms */
  readonly hangMs: number;
  /** Pause before a shard that ended is replaced, ms */
  readonly restartMs: number;
  /** Time to close everything when the edge stops, ms */
  readonly stopMs: number;
}

export const shardLimits: ShardLimits = {
  // Reading the programs and starting the media worker takes a second; a loaded machine more.
  startMs: 60_000,
  lookMs: 1_000,
  // Long enough for a stalled machine; its callers hear nothing meanwhile.
  hangMs: 5_000,
  restartMs: 1_000,
  stopMs: 5_000,
};

/** Customers and their peers are told this. Why is for the log: it may quote another customer's data. */
const lost = 'the media shard that carried the call ended';

interface Running {
  readonly thread: ShardThread;
  readonly shard: Shard;
  readonly load: ShardLoad;
  readonly release: () => void;
  /** Null until it is ready. */
  liveness: Liveness | null;
  killed: boolean;
}

const noState: ShardState = {
  legs: 0,
  ports_in_use: 0,
  worker_deaths: 0,
  worker_hangs: 0,
  packets_here: 0,
  legs_without_keys: 0,
  packets_beyond_rate: 0,
  skipped_frames: 0,
  counters: {},
  gauges: {},
};

export class ShardSlot {
  readonly #options: ShardSlotOptions;
  readonly #gone = Promise.withResolvers<void>();
  #running: Running | null = null;
  #timer: Timer | null = null;
  #config: ShardConfig | null = null;
  #codecs: readonly CodecName[] = [];
  #ports = 1;
  #state = noState;
  /** Last states of shards that ended. */
  readonly #past: ShardState[] = [];
  #deaths = 0;
  #closed = false;

  constructor(options: ShardSlotOptions) {
    this.#options = options;
  }

  /** Null while it is being replaced. */
  get up(): Shard | null {
    return this.#running?.liveness ? this.#running.shard : null;
  }

  get load(): ShardLoad {
    return this.#running?.load ?? { calls: 0 };
  }

  get codecs(): readonly CodecName[] {
    return this.#codecs;
  }

  /** Its port pairs. */
  get ports(): number {
    return this.#ports;
  }

  /** As told last. */
  get state(): ShardState {
    return this.#state;
  }

  /** Counted by this shard and by those before it in this place. */
  get states(): readonly ShardState[] {
    return [...this.#past, this.#state];
  }

  get deaths(): number {
    return this.#deaths;
  }

  configure(config: ShardConfig): void {
    this.#config = config;
    // One that is not ready gets the last one when it is: those in between would wait in memory.
    this.up?.channel.tell(toShard.configure, config);
  }

  /** Resolves when it is up. @throws Error that says why it cannot be */
  async start(): Promise<void> {
    const { index, start, limits, serve, keyKnown, used, unused } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const thread = start(index);
    const channel = new Channel(thread.port, (error) => this.#kill(running, error.message));
    const load: ShardLoad = { calls: 0 };
    const shard: Shard = new Shard({
      channel,
      keyKnown,
      used: (call) => used(call, shard, load),
      unused: (callId) => unused(callId, shard),
    });
    const running: Running = { thread, shard, load, release: serve(channel), liveness: null, killed: false };
    this.#running = running;
    channel.onTell(toMain.ready, ({ codecs, ports }) => {
      this.#codecs = codecs;
      this.#ports = ports;
      this.#timer?.cancel();
      running.liveness = this.#watch(running);
      if (this.#config) channel.tell(toShard.configure, this.#config);
      resolve();
    });
    channel.onTell(toMain.unusable, ({ why }) => reject(new Error(why)));
    thread.onEnd((why) => {
      reject(new Error(`the media shard ended: ${why}`));
      this.#ended(running, why);
    });
    this.#after(limits.startMs, () => this.#kill(running, `it was not ready within ${limits.startMs} ms`));
    return promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = this.#running;
    this.#timer?.cancel();
    if (!running) return;
    running.liveness?.end();
    const timer = this.#options.clock.after(this.#options.limits.stopMs, () => running.thread.kill());
    if (running.liveness) {
      const kill = () => running.thread.kill();
      running.shard.channel.ask(toShard.stop, {}).then(kill, kill);
    } else running.thread.kill();
    await this.#gone.promise;
    timer.cancel();
  }

  #after(ms: number, fire: () => void): void {
    if (this.#closed) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, fire);
  }

  #kill(running: Running, why: string): void {
    if (running.killed) return;
    running.killed = true;
    const { index, log, limits } = this.#options;
    log.error({ shard: index, why }, 'a media shard is ended');
    this.#unplace(running);
    running.thread.kill();
    // A library of the system cannot be interrupted, and the ports are free only after its thread.
    this.#after(limits.stopMs, () => {
      log.error({ shard: index, why }, 'a media shard does not end: its calls end, and it takes no others');
      running.shard.lost(new Error(lost));
    });
  }

  /** It gets no more calls. */
  #unplace(running: Running): void {
    running.liveness?.end();
    running.liveness = null;
  }

  /** Asks for its state, again and again. */
  #watch(running: Running): Liveness {
    const { clock, limits } = this.#options;
    const { lookMs: everyMs, hangMs } = limits;
    return new Liveness({
      clock,
      everyMs,
      hangMs,
      ask: async () => {
        const state = await running.shard.channel.ask(toShard.state, {});
        // The last messages of a thread come with its end: what was remembered then is not counted twice.
        if (running.liveness) this.#state = state;
      },
      hung: () => this.#kill(running, `it did not answer within ${hangMs} ms`),
    });
  }

  #ended(running: Running, why: string): void {
    const { index, log, gone } = this.#options;
    const { shard, load, release } = running;
    this.#running = null;
    this.#timer?.cancel();
    this.#unplace(running);
    release();
    const { calls } = load;
    gone(index, shard.lost(new Error(lost)));
    if (this.#closed) {
      this.#gone.resolve();
      return;
    }
    this.#deaths++;
    this.#remember();
    log.error({ shard: index, why, calls }, 'a media shard ended; its calls end and it is replaced');
    this.#replaceLater();
  }

  #replaceLater(): void {
    const { index, log, limits } = this.#options;
    this.#after(limits.restartMs, () => {
      this.start().catch((error: unknown) => {
        log.error({ err: error, shard: index }, 'a media shard could not be started; trying again');
        // There was no thread whose end would do it: the system makes no more of them, or memory is short.
        if (!this.#running && !this.#closed) this.#replaceLater();
      });
    });
  }

  /** Counters must not go back when a shard is replaced; its gauges are over. */
  #remember(): void {
    const [earlier = noState] = this.#past;
    const last = this.#state;
    const summed: Record<string, number> = { ...earlier.counters };
    for (const [series, value] of Object.entries(last.counters))
      summed[series] = (summed[series] ?? 0) + value;
    this.#past[0] = {
      legs: 0,
      ports_in_use: 0,
      worker_deaths: earlier.worker_deaths + last.worker_deaths,
      worker_hangs: earlier.worker_hangs + last.worker_hangs,
      packets_here: earlier.packets_here + last.packets_here,
      legs_without_keys: earlier.legs_without_keys + last.legs_without_keys,
      packets_beyond_rate: earlier.packets_beyond_rate + last.packets_beyond_rate,
      skipped_frames: earlier.skipped_frames + last.skipped_frames,
      counters: summed,
      gauges: {},
    };
    this.#state = noState;
  }
}
