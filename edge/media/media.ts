/**
 * Media of the edge: SRTP legs on mediasoup workers.
 *
 *     createMedia -> WorkerPool (processes) -> Leg -> SrtpPath (ports, keys, worker objects)
 *                    RtpPorts, Playout          \---> AudioExchange (codec, jitter buffer, key presses)
 *                                     Bridge -> two legs: Relay in the worker, or crossing here
 */
import { availableParallelism } from 'node:os';
import { type Clock, systemClock } from '#shared/clock.ts';
import { type CodecName, codecNames } from '#shared/codecs.ts';
import { isAnyAddress } from '#shared/networks.ts';
import type {
  BridgeOptions,
  LocalLeg,
  LocalMedia,
  MediaBridge,
  MediaLeg,
  MediaLegOptions,
  MediaRoom,
  MediaSupervision,
  RoomOptions,
  SupervisionOptions,
} from '../call/ports/media.ts';
import { CallRefused, LegsApart } from '../call/refused.ts';
import { Bridge } from './bridge.ts';
import { availableCodecs, codecAvailable } from './codec/codecs.ts';
import { Inspections } from './inspections.ts';
import { Leg } from './leg.ts';
import type { LegSurroundings } from './leg-surroundings.ts';
import { type MediaLog, silentLog } from './log.ts';
import { Playout } from './playout.ts';
import { DiskSync } from './recording/disk-sync.ts';
import type { RecorderParts } from './recording/leg-recorder.ts';
import { Room } from './room/room.ts';
import type { RoomVoices } from './room/talk.ts';
import { RtpPorts } from './rtp-ports.ts';
import { SupervisorDesk } from './supervision/desk.ts';
import { type WorkerLimits, workerLimits } from './worker-limits.ts';
import { WorkerPool } from './worker-pool.ts';

export interface MediaOptions {
  /** Local address for RTP; `0.0.0.0` binds all, and then `publicIp` is required. */
  readonly listenIp: string;
  /** Address announced to peers; null: `listenIp`. */
  readonly publicIp: string | null;
  readonly portMin?: number;
  readonly portMax?: number;
  /** Milliseconds for which a port pair stays unused after a call. */
  readonly portRestMs?: number;
  /** Path of the media worker. */
  readonly workerBin: string;
  /** Accepts a worker without the mark of our patches. */
  readonly acceptUnmarkedWorker?: boolean;
  /** Worker processes; default: one per core. */
  readonly workers?: number;
  /** Milliseconds before a dead worker is replaced. */
  readonly workerRestartDelayMs?: number;
  readonly workerLimits?: WorkerLimits;
  /** Milliseconds for which the old path of a call still receives after a re-INVITE moved it. */
  readonly drainMs?: number;
  /** Its time must not go back; default: the system's monotonic clock. */
  readonly clock?: Clock;
  readonly log?: MediaLog;
  /**
   * Called with every SRTP key of a call, ours and the peer's, as written in SDP: used to keep them out of
   * everything that is stored.
   */
  readonly keyKnown?: (callId: string, key: string) => void;
  /** Where recordings are written; absent: legs cannot be recorded. */
  readonly recordings?: Omit<RecorderParts, 'clock' | 'syncs'>;
  /** Hears who speaks in a conference; absent: nobody is heard to speak. */
  readonly voices?: RoomVoices;
}

interface MediaStats {
  readonly legs: number;
  /** RTP port pairs. */
  readonly ports: { readonly inUse: number; readonly total: number };
  readonly workers: readonly { readonly pid: number; readonly legs: number }[];
  readonly workerDeaths: number;
  /** Those of them that hung. */
  readonly workerHangs: number;
  /** RTP packets from peers that entered this process since the start; those of relayed bridges do not. */
  readonly packetsHere: number;
  /** Legs since the start whose peer has no telephone-event: key presses cannot be sent on them. */
  readonly legsWithoutKeys: number;
  /** RTP packets that were dropped since the start because their peer sent too many. */
  readonly packetsBeyondRate: number;
  /** Frames of 20 ms lost to stalls of this process. */
  readonly skippedFrames: number;
}

export interface RunningMedia extends LocalMedia {
  /** Codecs whose libraries are installed: others are never offered or accepted. */
  availableCodecs(): CodecName[];
  stats(): MediaStats;
  /** Objects in each worker, for leak checks. */
  workerObjects(): Promise<number[]>;
  /** CPU seconds that each worker has used. */
  workerCpuSeconds(): Promise<number[]>;
  /** Closes all legs and stops the workers. */
  close(): Promise<void>;
}

/** Read once: the property is computed anew each time, and the clock is asked for each packet. */
const { timeOrigin } = performance;

/** Wall-clock scale, monotonic pace: playout and silence must not jump when the system time is set. */
const monotonicClock: Clock = {
  now: () => timeOrigin + performance.now(),
  elapsed: systemClock.elapsed,
  after: systemClock.after,
};

/**
 * Starts the workers.
 * @throws Error that says what is wrong with a setting or with the worker, and what to do
 */
export async function createMedia(options: MediaOptions): Promise<RunningMedia> {
  const clock = options.clock ?? monotonicClock;
  const log = options.log ?? silentLog;
  const announcedIp = options.publicIp ?? options.listenIp;
  if (isAnyAddress(announcedIp)) {
    throw new Error(
      'peers cannot send media to 0.0.0.0: set RTP_PUBLIC_IP, or RTP_HOST to one address of this host',
    );
  }
  const ports = new RtpPorts({
    min: options.portMin ?? 10_000,
    max: options.portMax ?? 20_000,
    restMs: options.portRestMs ?? 5000,
    clock,
  });
  const pool = await WorkerPool.start({
    workerBin: options.workerBin,
    acceptUnmarked: options.acceptUnmarkedWorker ?? false,
    workers: options.workers ?? availableParallelism(),
    restartDelayMs: options.workerRestartDelayMs ?? 1000,
    limits: options.workerLimits ?? workerLimits,
    clock,
    log,
  });
  for (const name of codecNames) {
    const found = codecAvailable(name);
    if (!found.available) log.warn({ codec: name, reason: found.reason }, 'a codec is not available');
  }
  const shared: LegSurroundings = {
    ports,
    playout: new Playout({ clock, together: (turns) => pool.turn(turns), rest: () => pool.rest() }),
    clock,
    log,
    listenIp: options.listenIp,
    announcedIp,
    drainMs: options.drainMs ?? 300,
    traffic: { packets: 0, legsWithoutKeys: 0, packetsBeyondRate: 0 },
    keyKnown: options.keyKnown ?? (() => {}),
    recordings: options.recordings ? { ...options.recordings, syncs: new DiskSync(clock) } : null,
  };
  return new MediasoupMedia(shared, pool, options.voices ?? null);
}

class MediasoupMedia implements RunningMedia {
  readonly #shared: LegSurroundings;
  readonly #pool: WorkerPool;
  readonly #voices: RoomVoices | null;
  readonly #legs = new Set<Leg>();
  readonly #codecs: readonly CodecName[];
  readonly #inspections: Inspections;
  #closed = false;

  constructor(shared: LegSurroundings, pool: WorkerPool, voices: RoomVoices | null) {
    this.#voices = voices;
    this.#shared = shared;
    this.#pool = pool;
    this.#codecs = availableCodecs();
    this.#inspections = new Inspections(shared.clock, this.#legs, (error) =>
      shared.log.warn({ error: String(error) }, 'the state of a media leg could not be read'),
    );
  }

  async createLeg(options: MediaLegOptions): Promise<LocalLeg> {
    if (this.#closed) throw new CallRefused(503, 'media is shut down');
    const { ports } = this.#shared;
    if (ports.inUse === ports.capacity) {
      throw new CallRefused(503, `no RTP port is free: all ${ports.capacity} pairs are in use`);
    }
    const codecs = options.codecs.filter((name) => this.#codecs.includes(name));
    if (codecs.length === 0) {
      const text = `None of the codecs ${options.codecs.join(', ')} is available here`;
      throw new CallRefused(488, text, text);
    }
    const { beside } = options;
    const worker = beside && this.#has(beside) ? beside.worker : this.#pool.leastLoaded();
    const leg: Leg = new Leg({ ...options, codecs }, this.#shared, worker, () => this.#legs.delete(leg));
    this.#legs.add(leg);
    this.#inspections.begin();
    return leg;
  }

  async bridge(one: MediaLeg, other: MediaLeg, options: BridgeOptions): Promise<MediaBridge> {
    if (!this.#has(one) || !this.#has(other) || one === other) {
      throw new Error('a bridge needs two open legs of this media');
    }
    return Bridge.open(one, other, options, this.#shared.log);
  }

  openRoom(_beside: MediaLeg | null, options: RoomOptions = {}): MediaRoom {
    const { heard = () => {}, failed = () => {} } = options;
    const { playout, log } = this.#shared;
    const agentFailed = (err: Error) => {
      log.error({ err }, 'an agent in a conference failed and has left it');
      options.agentFailed?.(err);
    };
    const deaf = (error: unknown) => log.warn({ err: error }, 'nobody hears who speaks in a conference');
    return new Room(playout, this.#voices && { voices: this.#voices, heard, deaf }, { failed, agentFailed });
  }

  supervise(leg: MediaLeg, supervisor: MediaLeg, options: SupervisionOptions): MediaSupervision {
    if (!this.#has(leg) || !this.#has(supervisor) || leg === supervisor) throw new LegsApart();
    const desk = new SupervisorDesk(supervisor, options);
    leg.tap(desk, true);
    let isOver = false;
    return {
      setMode: (mode) => {
        desk.mode = mode;
      },
      close: () => {
        if (isOver) return;
        isOver = true;
        leg.tap(desk, false);
        desk.close();
      },
    };
  }

  availableCodecs(): CodecName[] {
    return [...this.#codecs];
  }

  stats(): MediaStats {
    const { ports, playout, traffic } = this.#shared;
    return {
      legs: this.#legs.size,
      ports: { inUse: ports.inUse, total: ports.capacity },
      workers: this.#pool.workers.map(({ pid, legs }) => ({ pid, legs })),
      workerDeaths: this.#pool.deaths,
      workerHangs: this.#pool.hangs,
      packetsHere: traffic.packets,
      legsWithoutKeys: traffic.legsWithoutKeys,
      packetsBeyondRate: traffic.packetsBeyondRate,
      skippedFrames: playout.skipped,
    };
  }

  workerObjects(): Promise<number[]> {
    return Promise.all(this.#pool.workers.map((worker) => worker.objects()));
  }

  workerCpuSeconds(): Promise<number[]> {
    return Promise.all(this.#pool.workers.map((worker) => worker.cpuSeconds()));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#inspections.close();
    for (const leg of [...this.#legs]) leg.close();
    await this.#pool.close();
  }

  #has(leg: MediaLeg): leg is Leg {
    return leg instanceof Leg && this.#legs.has(leg);
  }
}
