/**
 * Runs stored work when it is due, such as deliveries:
 *
 *     stored --due--> claimed by a replica --> the attempt stores a later time, or none
 *
 * The state is in the database, so work survives a restart, and any replica can do it. An attempt that throws, and work
 * running during a crash, count as an attempt and wait, so that work that crashes the program cannot keep it from
 * starting, nor end one replica after the other without a pause.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { BackgroundWork } from './background-work.ts';
import { FailureLog } from './failure-log.ts';
import { FenceLost, insideFence, outsideFences } from './fence.ts';
import { type Claimant, claimFence } from './leases.ts';
import type { Replica } from './replica.ts';
import type { Db } from './tables.ts';
import {
  claimWork,
  endWaiting,
  endWork,
  pauseAfter,
  pauseAfterCrash,
  postponeWork,
  takeOver,
  type UnderWay,
  underWay,
} from './under-way.ts';

export interface DueItem {
  readonly id: string;
  readonly org_id: string;
}

/** What to leave out: running items, and organizations at their limit. */
export interface Without {
  readonly ids: readonly string[];
  readonly organizations: readonly string[];
}

export interface DueWorkParts<Item extends DueItem> {
  readonly db: Db;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly log: { error(facts: object, message: string): void };
  /** For log lines, such as "webhook", and for work under way; unique per queue. */
  readonly name: string;
  /** Most running at a time on all replicas, in total and per organization, so that none blocks the others. */
  readonly mostRunning: number;
  readonly mostPerOrganization: number;
  /** Items due at `now` (ISO), longest due first; `db` may be a transaction. */
  due(db: Db, now: string, without: Without, limit: number): Promise<Item[]>;
  /** When the next item after `now` (ISO) is due; null if there is none. */
  nextDue(now: string): Promise<string | null>;
  /** Does the work and stores its result, so that the item is no longer due. */
  attempt(item: Item, signal: AbortSignal): Promise<void>;
  /**
   * Counts a failed attempt, which threw or was running during a crash: stores the next one, due at `later` (ISO) at
   * the earliest, or none. Absent: the work must not be dropped, and waits longer after each such attempt
   * (`pauseAfter`).
   * @param why a sentence for the reader of the item
   */
  failed?(id: string, later: string, why: string): Promise<void>;
  /** Calls `wake` when items were stored. Returns a function that unsubscribes. */
  onStored(wake: () => void): () => void;
}

/** After a database failure, ms. */
const pauseMs = 5_000;
const crashed = 'the service ended during the attempt';
const thrown = 'the attempt failed inside the service';

export class DueWork<Item extends DueItem> implements BackgroundWork {
  readonly #parts: DueWorkParts<Item>;
  readonly #running = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  readonly #stopListening: () => void;
  #look: Promise<void> = Promise.resolve();
  /** Whether a look waits for the one before it: it sees all that is stored until it begins. */
  #isWoken = false;
  #timer: Timer | undefined;
  #isHeld = false;
  readonly #unreadable: FailureLog;

  /** Starts at once with due items. */
  constructor(parts: DueWorkParts<Item>) {
    this.#parts = parts;
    this.#unreadable = new FailureLog(parts.log, `due ${parts.name} could not be read`);
    const stops = [parts.onStored(() => this.#wake()), parts.replica.onLook(() => this.#wake())];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    this.#wake();
  }

  hold(): void {
    this.#isHeld = true;
    this.#stopListening();
    this.#timer?.cancel();
  }

  /** Aborts running work; it is repeated, here after the next start or by another replica. */
  async close(): Promise<void> {
    this.hold();
    this.#ending.abort(new Error('the control plane is shutting down'));
    await this.#look;
    await Promise.all(this.#running.values());
  }

  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    const look = async () => {
      this.#isWoken = false;
      await this.#begin();
      this.#unreadable.worked();
    };
    this.#look = outsideFences(() => this.#look.then(look)).catch((error: unknown) => {
      this.#unreadable.failed(error);
      this.#wakeAfter(pauseMs);
    });
  }

  #wakeAfter(ms: number): void {
    if (this.#isHeld) return;
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(ms, () => this.#wake());
  }

  async #begin(): Promise<void> {
    if (this.#isHeld) return;
    const { clock, db, name, nextDue, replica } = this.#parts;
    const claimant = await replica.claimant();
    let work = await this.#takeOver();
    const now = new Date(clock.now()).toISOString();
    for (;;) {
      // Also when that happened during the database read.
      if (this.#isHeld || (await this.#dueNow(db, work, now)).length === 0) break;
      const claimed = await db.transaction().execute((trx) => this.#claim(trx, now, claimant));
      for (const [item, tries] of claimed) this.#run(item, tries, claimant);
      work = await underWay(db, name);
      if (claimed.length === 0) break;
    }
    if (this.#isHeld) return;
    const next = await nextDue(now);
    const waits = work.map(({ waits_until }) => waits_until);
    const times = [next, ...waits].flatMap((time) => (time !== null && time > now ? [Date.parse(time)] : []));
    if (times.length === 0) return;
    const waitMs = Math.min(...times) - clock.now();
    if (waitMs > 0) this.#wakeAfter(waitMs);
    // It fell due during the reads.
    else this.#wake();
  }

  /**
   * Counts what was running on replicas that have died, and what this one could not end. Resolves with the work under
   * way after that.
   */
  async #takeOver(): Promise<UnderWay[]> {
    const { clock, db, failed, log, name, replica } = this.#parts;
    const isAbandoned = ({ id, owner }: UnderWay) => owner === replica.id && !this.#running.has(id);
    const work = await underWay(db, name);
    const left = await takeOver(db, name, work, isAbandoned, clock.now(), (place, tries) =>
      pauseAfterCrash(place, failed ? 1 : tries),
    );
    replica.counts.takenOver += left.length;
    for (const { id, tries, until } of left) {
      log.error(
        { id, tries },
        `${name} was running when the program crashed; it counts as an attempt and will be retried later`,
      );
      await this.#count(id, until, crashed);
    }
    return left.length > 0 ? underWay(db, name) : work;
  }

  /** Stores a failed attempt. If that fails, the work still waits. */
  async #count(id: string, until: number, why: string): Promise<void> {
    const { db, failed, log, name } = this.#parts;
    if (!failed) return;
    try {
      await failed(id, new Date(until).toISOString(), why);
      await endWaiting(db, name, id);
    } catch (error) {
      log.error({ err: error, id }, `an attempt of ${name} could not be counted`);
    }
  }

  /** Due items that nobody works on, within the limits. */
  async #dueNow(db: Db, work: readonly UnderWay[], now: string): Promise<Item[]> {
    const { due, mostPerOrganization, mostRunning } = this.#parts;
    const rows = work.filter(({ waits_until }) => !(waits_until && waits_until <= now));
    const running = rows.filter(({ waits_until }) => waits_until === null);
    const free = mostRunning - running.length;
    if (free <= 0) return [];
    const counts = new Map<string | null, number>();
    const isFull = (orgId: string | null) => (counts.get(orgId) ?? 0) >= mostPerOrganization;
    for (const { org_id } of running) counts.set(org_id, (counts.get(org_id) ?? 0) + 1);
    const without = {
      // What is running here may be recorded no more, because another replica took it over.
      ids: [...new Set([...rows.map(({ id }) => id), ...this.#running.keys()])],
      organizations: [...counts.keys()].filter((id) => id !== null).filter(isFull),
    };
    const items = await due(db, now, without, free);
    return items.filter(({ org_id }) => {
      if (isFull(org_id)) return false;
      counts.set(org_id, (counts.get(org_id) ?? 0) + 1);
      return true;
    });
  }

  /** In a transaction, which has the order of all writes: no two replicas claim one item, or pass a limit together. */
  async #claim(db: Db, now: string, claimant: Claimant): Promise<[Item, number][]> {
    const { clock, name } = this.#parts;
    const items = await this.#dueNow(db, await underWay(db, name), now);
    if (items.length === 0 || this.#isHeld) return [];
    const tries = await claimWork(db, name, items, claimant, clock.now());
    return items.map((item) => [item, tries.get(item.id) ?? 1]);
  }

  #run(item: Item, tries: number, claimant: Claimant): void {
    const done = this.#attempt(item, tries, claimant).finally(() => {
      this.#running.delete(item.id);
      this.#wake();
    });
    this.#running.set(item.id, done);
  }

  async #attempt(item: Item, tries: number, claimant: Claimant): Promise<void> {
    const { attempt, clock, db, failed, log, name } = this.#parts;
    const { id } = item;
    const { signal } = this.#ending;
    try {
      await insideFence(claimFence(db, name, id, claimant), () => attempt(item, signal));
    } catch (error) {
      if (error instanceof FenceLost) {
        log.error({ id }, `another replica took over ${name}; what this one did is not stored`);
        return;
      }
      // Work aborted by the shutdown may throw; that is not a failure.
      if (!signal.aborted) {
        log.error({ err: error, id, tries }, `${name} could not be handled`);
        // The item is still due; without a pause it would start again at once.
        const until = clock.now() + (failed ? pauseMs : pauseAfter(tries));
        return this.#postpone(id, claimant, until);
      }
    }
    // Also for aborted work: an orderly shutdown is not a crash.
    await endWork(db, name, id, claimant).catch((error: unknown) => {
      log.error({ err: error, id }, `the end of ${name} could not be stored`);
    });
  }

  async #postpone(id: string, claimant: Claimant, until: number): Promise<void> {
    const { db, log, name } = this.#parts;
    try {
      await postponeWork(db, name, id, claimant, new Date(until).toISOString());
    } catch (error) {
      log.error({ err: error, id }, `a failed attempt of ${name} could not be stored`);
      return;
    }
    await this.#count(id, until, thrown);
  }
}
