/**
 * This process among the replicas on one database: its presence, which dies with it, and the leases that it has.
 *
 *     made --start--> present --renewal failed, or too late--> absent --next beat--> present, with another fence
 *
 * Time here is real time, also where a test moves the clock by hand: it is compared with the database's.
 */
import { type Clock, systemClock, type Timer } from '#shared/clock.ts';
import type { BackgroundWork } from './background-work.ts';
import { dialectOf } from './dialect-name.ts';
import { FailureLog } from './failure-log.ts';
import { insideFence, outsideFences } from './fence.ts';
import {
  type Claimant,
  endLeasesOfDead,
  expelOthers,
  heldLeases,
  type Lease,
  leaseFence,
  presenceOf,
  pruneReplicas,
  releaseLease,
  renewLeases,
  takeLease,
} from './leases.ts';
import { type DatabaseLimits, databaseLimits } from './limits.ts';
import type { Db } from './tables.ts';

export interface ReplicaParts {
  /** Of statements that wait for no writer (`Database.apart`). */
  readonly db: Db;
  /** Used by no other start of any process. */
  readonly id: string;
  readonly log: { error(facts: object, message: string): void; info(facts: object, message: string): void };
  readonly limits?: Pick<DatabaseLimits, 'beatMs' | 'leaseMs'>;
  readonly clock?: Clock;
}

interface Wanted {
  readonly name: string;
  start(): BackgroundWork;
  lease: Lease | null;
  running: BackgroundWork | null;
  /** The end of work whose lease was lost, until it is over. */
  ending: Promise<void> | null;
}

export interface ReplicaCounts {
  taken: number;
  lost: number;
  /** Pieces of work of replicas that had died. */
  takenOver: number;
}

/** How long replicas that have ended are remembered, ms: their claims are taken over long before. */
const rememberedMs = 24 * 3_600_000;
/** Beats between two looks at others' work. */
const beatsPerLook = 2;
/** Beats without a renewal after which a replica without its session counts as dead: a new session takes less than one. */
const quietBeats = 1.5;
const beatsPerPrune = 3_600;

export class Replica {
  readonly id: string;
  readonly counts: ReplicaCounts = { taken: 0, lost: 0, takenOver: 0 };
  readonly #parts: ReplicaParts;
  readonly #clock: Clock;
  readonly #limits: Pick<DatabaseLimits, 'beatMs' | 'leaseMs'>;
  readonly #wanted = new Map<string, Wanted>();
  readonly #looks = new Set<() => void>();
  #presence: Lease | null = null;
  #started: Promise<void> | null = null;
  /** When what is held counts as lost, on the clock's elapsed time. */
  #until = 0;
  #beats = 0;
  #beating: Promise<void> = Promise.resolve();
  /** A beat that waits for the one before it: all that is wanted until it begins is part of it. */
  #nextBeat: Promise<void> | null = null;
  #timer: Timer | undefined;
  #isHeld = false;
  #isClosed = false;
  readonly #unrenewed: FailureLog;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    this.#unrenewed = new FailureLog(parts.log, 'the leases of this replica could not be renewed');
    this.#clock = parts.clock ?? systemClock;
    this.#limits = parts.limits ?? databaseLimits;
    this.id = parts.id;
  }

  /** Whether other processes may use the database at the same time. */
  get hasOthers(): boolean {
    return dialectOf(this.#parts.db) !== 'sqlite';
  }

  /** Whether it counts as living: not while the database cannot be written. */
  get isPresent(): boolean {
    return this.#presence !== null;
  }

  /** Names of the leases that it has, without its presence. */
  get held(): string[] {
    return [...this.#wanted.values()].filter(({ lease }) => lease !== null).map(({ name }) => name);
  }

  /** Makes it present; later calls return the same promise, until one fails. */
  start(): Promise<void> {
    this.#started ??= outsideFences(() => this.#begin())
      .catch((error: unknown) => {
        this.#started = null;
        throw error;
      })
      .finally(() => this.#beatLater());
    return this.#started;
  }

  /** Who claims work now. @throws Error when the database cannot be reached, or another replica has the id */
  async claimant(): Promise<Claimant> {
    await this.start();
    if (this.#presence === null) await this.#beatNow();
    if (this.#presence === null) throw new Error(`the replica ${this.id} is not present`);
    return this.#presence;
  }

  /** Calls `look` every few seconds while others may have left or stored work. Returns a function that stops it. */
  onLook(look: () => void): () => void {
    this.#looks.add(look);
    return () => this.#looks.delete(look);
  }

  /**
   * Runs background work while this replica has the lease `name`, inside its fence: on one replica at a time, and on
   * another within seconds when this one ends, hangs or loses the database.
   */
  whileHeld(name: string, start: () => BackgroundWork): BackgroundWork {
    const wanted: Wanted = { name, start, lease: null, running: null, ending: null };
    if (this.#wanted.has(name)) throw new Error(`the lease ${name} is wanted twice`);
    this.#wanted.set(name, wanted);
    void this.#beatNow();
    return {
      hold: () => {
        this.#wanted.delete(name);
        wanted.running?.hold();
      },
      close: async () => {
        this.#wanted.delete(name);
        await this.#beating;
        await this.#stop(wanted);
        await wanted.ending;
        if (wanted.lease) await this.#release(wanted.lease);
      },
    };
  }

  /** Ends the work under all its leases and frees them, for good: other replicas take them with their next beat. */
  async handOver(): Promise<void> {
    const all = [...this.#wanted.values()];
    this.#wanted.clear();
    await this.#beating;
    for (const wanted of all) {
      await this.#stop(wanted);
      await wanted.ending;
      if (wanted.lease) await this.#release(wanted.lease);
      wanted.lease = null;
    }
  }

  /** Resolves when every lease that is free now is taken. */
  settled(): Promise<void> {
    return this.#beatNow();
  }

  /** Ends its presence. Close what it works on before. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#beating;
    if (this.#presence) await this.#release(this.#presence);
    this.#presence = null;
  }

  /** Takes and renews nothing more, as if the process were stopped; for tests. */
  freeze(): void {
    this.#isHeld = true;
    this.#timer?.cancel();
  }

  async #begin(): Promise<void> {
    if (!this.hasOthers) await expelOthers(this.#parts.db, this.id);
    await this.#takePresence();
  }

  async #takePresence(): Promise<void> {
    const { db, id } = this.#parts;
    const began = this.#clock.elapsed();
    this.#presence = await takeLease(db, presenceOf(id), id, this.#limits.leaseMs);
    if (this.#presence) this.#until = began + this.#limits.leaseMs;
  }

  #beatLater(): void {
    if (this.#timer || this.#isHeld || this.#isClosed) return;
    // On SQLite nothing expires: what is there stays.
    const isMissing = !this.#presence || [...this.#wanted.values()].some(({ lease }) => lease === null);
    if (!this.hasOthers && !isMissing) return;
    this.#timer = this.#clock.after(this.#limits.beatMs, () => {
      this.#timer = undefined;
      void this.#beatNow();
    });
  }

  /** Resolves when a beat that begins after the call is over. Never rejects. */
  #beatNow(): Promise<void> {
    this.#nextBeat ??= this.#beating
      .then(() => {
        this.#nextBeat = null;
        return outsideFences(() => this.#beat());
      })
      .then(() => this.#beatLater());
    this.#beating = this.#nextBeat;
    return this.#nextBeat;
  }

  async #beat(): Promise<void> {
    if (this.#isHeld || this.#isClosed) return;
    try {
      await this.start();
      if (this.hasOthers) await this.#renew();
      if (this.hasOthers && (await this.#someDied())) this.#lookNow();
      if (this.#presence === null) await this.#takePresence();
      await this.#takeFree();
      this.#beats += 1;
      if (this.#beats % beatsPerPrune === 0) await pruneReplicas(this.#parts.db, rememberedMs);
      if (this.#beats % beatsPerLook === 0) this.#lookNow();
      this.#unrenewed.worked();
    } catch (error) {
      this.#unrenewed.failed(error);
      if (this.hasOthers && this.#clock.elapsed() >= this.#until) this.#loseAll();
    }
  }

  #lookNow(): void {
    for (const look of this.#looks) look();
  }

  async #someDied(): Promise<boolean> {
    const { beatMs, leaseMs } = this.#limits;
    const dead = await endLeasesOfDead(this.#parts.db, leaseMs, quietBeats * beatMs);
    for (const replica of dead) this.#parts.log.info({ replica }, 'a replica has died');
    return dead.length > 0;
  }

  async #renew(): Promise<void> {
    const began = this.#clock.elapsed();
    const renewed = await renewLeases(this.#parts.db, this.id, this.#limits.leaseMs);
    const has = (lease: Lease | null) =>
      renewed.some(({ name, fence }) => name === lease?.name && fence === lease.fence);
    if (!has(this.#presence)) this.#presence = null;
    this.#until = began + this.#limits.leaseMs;
    for (const wanted of this.#wanted.values()) if (wanted.lease && !has(wanted.lease)) this.#lose(wanted);
  }

  #loseAll(): void {
    this.#presence = null;
    for (const wanted of this.#wanted.values()) if (wanted.lease) this.#lose(wanted);
  }

  #lose(wanted: Wanted): void {
    this.counts.lost += 1;
    this.#parts.log.error({ lease: wanted.name }, 'a lease was lost: another replica may have the work');
    wanted.lease = null;
    void this.#stop(wanted);
  }

  async #takeFree(): Promise<void> {
    const { db, id, log } = this.#parts;
    // What it did under an earlier lease has to be over.
    const missing = [...this.#wanted.values()].filter(({ ending, lease }) => !lease && !ending);
    if (missing.length === 0) return;
    const held = await heldLeases(
      db,
      missing.map(({ name }) => name),
    );
    for (const wanted of missing) {
      if (held.includes(wanted.name)) continue;
      const lease = await takeLease(db, wanted.name, id, this.#limits.leaseMs);
      if (!lease) continue;
      // Closed meanwhile.
      if (this.#wanted.get(wanted.name) !== wanted) {
        await this.#release(lease);
        continue;
      }
      this.counts.taken += 1;
      // Without others there is nobody to tell apart, and a first start says what a person needs.
      if (this.hasOthers) log.info({ lease: wanted.name, fence: lease.fence }, 'a lease was taken');
      wanted.lease = lease;
      wanted.running = insideFence(leaseFence(db, lease), wanted.start);
    }
  }

  async #stop(wanted: Wanted): Promise<void> {
    const { running } = wanted;
    wanted.running = null;
    if (!running) return;
    running.hold();
    wanted.ending = running
      .close()
      .catch((error: unknown) =>
        this.#parts.log.error({ err: error, lease: wanted.name }, 'work did not end cleanly'),
      )
      .then(() => {
        wanted.ending = null;
      });
    await wanted.ending;
  }

  async #release(lease: Lease): Promise<void> {
    await releaseLease(this.#parts.db, lease).catch((error: unknown) =>
      this.#parts.log.error({ err: error, lease: lease.name }, 'a lease could not be released'),
    );
  }
}
