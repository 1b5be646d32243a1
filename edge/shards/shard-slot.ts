/** The place of one media shard: runs its thread, watches it, and replaces it when it ends. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
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

interface Running {
  readonly thread: ShardThread;
  readonly shard: Shard;
  readonly load: ShardLoad;
  readonly release: () => void;
  isReady: boolean;
}

const noState: ShardState = {
  legs: 0,
  ports_in_use: 0,
  worker_deaths: 0,
  packets_here: 0,
  legs_without_keys: 0,
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
    return this.#running?.isReady ? this.#running.shard : null;
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
    this.#running?.shard.channel.tell(toShard.configure, config);
  }

  /** Resolves when it is up. @throws Error that says why it cannot be */
  start(): Promise<void> {
    const { index, start, log, limits, serve, keyKnown, used, unused } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const thread = start(index);
    const channel = new Channel(thread.port, (error) => {
      log.error({ err: error, shard: index }, 'a media shard broke the protocol; it is ended');
      thread.kill();
    });
    const load: ShardLoad = { calls: 0 };
    const shard: Shard = new Shard({
      channel,
      keyKnown,
      used: (call) => used(call, shard, load),
      unused: (callId) => unused(callId, shard),
    });
    const running: Running = { thread, shard, load, release: serve(channel), isReady: false };
    this.#running = running;
    channel.onTell(toMain.ready, ({ codecs, ports }) => {
      this.#codecs = codecs;
      this.#ports = ports;
      running.isReady = true;
      this.#watch(running);
      resolve();
    });
    channel.onTell(toMain.unusable, ({ why }) => reject(new Error(why)));
    thread.onEnd((why) => {
      reject(new Error(`the media shard ended: ${why}`));
      this.#ended(running, why);
    });
    if (this.#config) channel.tell(toShard.configure, this.#config);
    this.#after(limits.startMs, () => this.#kill(running, `it was not ready within ${limits.startMs} ms`));
    return promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = this.#running;
    this.#timer?.cancel();
    if (!running) return;
    const timer = this.#options.clock.after(this.#options.limits.stopMs, () => running.thread.kill());
    if (running.isReady) {
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

  #kill({ thread }: Running, why: string): void {
    this.#options.log.error({ shard: this.#options.index, why }, 'a media shard is ended');
    thread.kill();
  }

  /** Asks for its state, again and again. */
  #watch(running: Running): void {
    const { lookMs, hangMs } = this.#options.limits;
    // In steps: a pause of the main thread itself, whose end finds the answer waiting, is one step at most.
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(lookMs, leftMs);
      this.#after(stepMs, () => {
        if (leftMs > stepMs) wait(leftMs - stepMs);
        else this.#kill(running, `it did not answer within ${hangMs} ms`);
      });
    };
    wait(hangMs);
    running.shard.channel.ask(toShard.state, {}).then(
      (state) => {
        this.#state = state;
        this.#after(lookMs, () => this.#watch(running));
      },
      // It ended.
      () => {},
    );
  }

  #ended({ shard, load, release }: Running, why: string): void {
    const { index, log, limits, gone } = this.#options;
    this.#running = null;
    this.#timer?.cancel();
    release();
    const { calls } = load;
    // Customers and their peers are told this. Why is for the log: it may quote another customer's data.
    gone(index, shard.lost(new Error('the media shard that carried the call ended')));
    if (this.#closed) {
      this.#gone.resolve();
      return;
    }
    this.#deaths++;
    this.#remember();
    log.error({ shard: index, why, calls }, 'a media shard ended; its calls end and it is replaced');
    this.#after(limits.restartMs, () => {
      this.start().catch((error: unknown) => {
        log.error({ err: error, shard: index }, 'a media shard could not be started; trying again');
      });
    });
  }

  /** Counters must not go back when a shard is replaced; its gauges are over. */
  #remember(): void {
    const [earlier = noState] = this.#past;
    const { counters, worker_deaths, packets_here, legs_without_keys, skipped_frames } = this.#state;
    const summed: Record<string, number> = { ...earlier.counters };
    for (const [series, value] of Object.entries(counters)) summed[series] = (summed[series] ?? 0) + value;
    this.#past[0] = {
      legs: 0,
      ports_in_use: 0,
      worker_deaths: earlier.worker_deaths + worker_deaths,
      packets_here: earlier.packets_here + packets_here,
      legs_without_keys: earlier.legs_without_keys + legs_without_keys,
      skipped_frames: earlier.skipped_frames + skipped_frames,
      counters: summed,
      gauges: {},
    };
    this.#state = noState;
  }
}
