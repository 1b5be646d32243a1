/**
 * The media shards of the edge: starts and replaces them, and places each call on one (placement.ts). A call's legs and
 * agents, and those of its transfers, are on one shard, so that no audio crosses.
 *
 *     starting ──ready──> up ──ended, does not answer, breaks the protocol──> lost ──a second──> starting
 */
import type { CodecName } from '#shared/codecs.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { AgentHost, AgentLeg, Agents, CallFacts, Manner } from '../call/ports/agents.ts';
import type {
  AudioEndpoint,
  BridgeOptions,
  Media,
  MediaBridge,
  MediaLeg,
  MediaLegOptions,
  MediaRoom,
  MediaSupervision,
  RoomOptions,
  SupervisionOptions,
} from '../call/ports/media.ts';
import type { ConsultOrder } from '../call/ports/transfer.ts';
import { CallRefused, LegsApart } from '../call/refused.ts';
import type { ShardConfig, ShardState } from './messages.ts';
import { placesFor } from './placement.ts';
import { musicOnHold, RemoteLeg, waitingTone } from './remote-leg.ts';
import type { CallUse, Shard } from './shard.ts';
import { type ShardLoad, ShardSlot, type ShardSlotOptions } from './shard-slot.ts';

export interface MediaShardsOptions extends Omit<ShardSlotOptions, 'index' | 'used' | 'unused'> {
  readonly shards: number;
}

/** Where a call is. */
interface Place {
  readonly shard: Shard;
  readonly load: ShardLoad;
  readonly orgId: string | undefined;
  /** Its legs and agents that are in use. */
  uses: number;
}

/** Sums over all shards, since the start where they count. */
export interface ShardsStats {
  readonly shards: number;
  readonly deaths: number;
  readonly legs: number;
  readonly ports: { readonly inUse: number; readonly total: number };
  readonly workerDeaths: number;
  readonly workerHangs: number;
  readonly packetsHere: number;
  readonly legsWithoutKeys: number;
  readonly packetsBeyondRate: number;
  readonly skippedFrames: number;
}

export class MediaShards implements Media, Agents {
  readonly #slots: readonly ShardSlot[];
  readonly #places = new Map<string, Place>();
  /** Calls of each organization on each shard. */
  readonly #byOrganization = new Map<string, Map<Shard, number>>();

  private constructor(options: MediaShardsOptions) {
    this.#slots = Array.from(
      { length: options.shards },
      (_, index) =>
        new ShardSlot({
          ...options,
          index,
          used: (...use) => this.#used(...use),
          unused: (...use) => this.#unused(...use),
        }),
    );
  }

  /** Resolves when all shards are up. @throws Error that says what is wrong and what to do */
  static async start(options: MediaShardsOptions): Promise<MediaShards> {
    const shards = new MediaShards(options);
    try {
      await Promise.all(shards.#slots.map((slot) => slot.start()));
      return shards;
    } catch (error) {
      await shards.close();
      throw error;
    }
  }

  /** Every call that begins from now on uses this configuration. */
  configure(config: ShardConfig): void {
    for (const slot of this.#slots) slot.configure(config);
  }

  /** Codecs whose libraries are installed. */
  availableCodecs(): CodecName[] {
    return [...(this.#slots[0]?.codecs ?? [])];
  }

  /** Calls that have a place on a shard. */
  get placed(): number {
    return this.#places.size;
  }

  stats(): ShardsStats {
    const sum = (value: (state: ShardState) => number) =>
      this.#slots.reduce(
        (total, { states }) => total + states.reduce((part, one) => part + value(one), 0),
        0,
      );
    return {
      shards: this.#up().length,
      deaths: this.#slots.reduce((total, { deaths }) => total + deaths, 0),
      legs: this.#up().reduce((total, { legs }) => total + legs, 0),
      ports: {
        inUse: this.#slots.reduce((total, { state }) => total + (state?.ports_in_use ?? 0), 0),
        total: this.#slots.reduce((total, { ports }) => total + ports, 0),
      },
      workerDeaths: sum(({ worker_deaths }) => worker_deaths),
      workerHangs: sum(({ worker_hangs }) => worker_hangs),
      packetsHere: sum(({ packets_here }) => packets_here),
      legsWithoutKeys: sum(({ legs_without_keys }) => legs_without_keys),
      packetsBeyondRate: sum(({ packets_beyond_rate }) => packets_beyond_rate),
      skippedFrames: sum(({ skipped_frames }) => skipped_frames),
    };
  }

  /** Counters and gauges of agents and language models in all shards, by Prometheus series. */
  metrics(): Record<string, number> {
    const total: Record<string, number> = {};
    for (const { counters, gauges } of this.#slots.flatMap(({ states }) => states)) {
      for (const [series, value] of [...Object.entries(counters), ...Object.entries(gauges)])
        total[series] = (total[series] ?? 0) + value;
    }
    return total;
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  // ---------------------------------------------------------------- media

  async createLeg(options: MediaLegOptions): Promise<MediaLeg> {
    const placed = this.#placeOf(options.callId, options.parentId);
    if (placed) return placed.createLeg(options);
    let refused: unknown = noShard();
    for (const shard of this.#placesFor(options.orgId)) {
      try {
        return await shard.createLeg(options);
      } catch (error) {
        // Its ports are all in use: those of another one may not be.
        if (!(error instanceof CallRefused) || error.sipStatus !== 503) throw error;
        refused = error;
      }
    }
    throw refused;
  }

  async bridge(one: MediaLeg, other: MediaLeg, options: BridgeOptions): Promise<MediaBridge> {
    const shard = this.#up().find(({ channel }) => one instanceof RemoteLeg && one.channel === channel);
    if (!shard) throw new Error('the media of a leg to bridge is gone');
    return shard.bridge(one, other, options);
  }

  openRoom(beside: MediaLeg, options?: RoomOptions): MediaRoom {
    return this.#shardWith(beside).openRoom(beside, options);
  }

  supervise(leg: MediaLeg, ...how: [supervisor: MediaLeg, options: SupervisionOptions]): MediaSupervision {
    return this.#shardWith(leg).supervise(leg, ...how);
  }

  /** @throws LegsApart when it is gone */
  #shardWith(leg: MediaLeg): Shard {
    const shard = this.#up().find(({ channel }) => leg instanceof RemoteLeg && leg.channel === channel);
    if (!shard) throw new LegsApart();
    return shard;
  }

  // ---------------------------------------------------------------- agents

  create(settings: AgentSettings, call: CallFacts, host: AgentHost): AgentLeg {
    return this.#shardOf(call).create(settings, call, host);
  }

  consult(order: ConsultOrder, call: CallFacts, host: AgentHost, manner?: Manner): AgentLeg {
    return this.#shardOf(call).consult(order, call, host, manner);
  }

  waiting(): AudioEndpoint {
    return waitingTone;
  }

  music(): AudioEndpoint {
    return musicOnHold;
  }

  /** @throws Error when no shard is up */
  #shardOf({ callId, parentId, orgId }: CallFacts): Shard {
    const shard = this.#placeOf(callId, parentId) ?? this.#placesFor(orgId)[0];
    if (!shard) throw noShard();
    return shard;
  }

  // ---------------------------------------------------------------- places

  /** The shards that are up. */
  #up(): Shard[] {
    return this.#slots.flatMap(({ up }) => up ?? []);
  }

  /** The same, in the order in which a new call of the organization asks them for a place. */
  #placesFor(orgId: string | undefined): Shard[] {
    const own = orgId === undefined ? undefined : this.#byOrganization.get(orgId);
    const shards = this.#slots.flatMap(({ up, load, ports }) =>
      up ? [{ up, calls: load.calls, own: own?.get(up) ?? 0, ports }] : [],
    );
    return placesFor(shards).map(({ up }) => up);
  }

  #placeOf(callId: string, parentId: string | undefined): Shard | null {
    const place = this.#places.get(callId) ?? this.#places.get(parentId ?? callId);
    return place?.shard ?? null;
  }

  #used({ callId, orgId }: CallUse, shard: Shard, load: ShardLoad): void {
    const place = this.#places.get(callId);
    if (place) place.uses++;
    else {
      this.#places.set(callId, { shard, load, orgId, uses: 1 });
      load.calls++;
      this.#count(orgId, shard, 1);
    }
  }

  #unused(callId: string, shard: Shard): void {
    const place = this.#places.get(callId);
    if (place?.shard !== shard || --place.uses > 0) return;
    this.#places.delete(callId);
    place.load.calls--;
    this.#count(place.orgId, shard, -1);
  }

  #count(orgId: string | undefined, shard: Shard, change: 1 | -1): void {
    if (orgId === undefined) return;
    const own = this.#byOrganization.get(orgId) ?? new Map<Shard, number>();
    const calls = (own.get(shard) ?? 0) + change;
    if (calls > 0) own.set(shard, calls);
    else own.delete(shard);
    if (own.size > 0) this.#byOrganization.set(orgId, own);
    else this.#byOrganization.delete(orgId);
  }
}

function noShard(): CallRefused {
  return new CallRefused(503, "No media shard is up; see the edge's log for why the last one ended.");
}
