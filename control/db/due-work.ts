/**
 * Runs stored work when it is due, such as deliveries:
 *
 *     stored --due--> running --> the attempt stores a later time, or none
 *
 * The state is in the database, so work survives a restart. An attempt that throws, and work running during a crash,
 * count as an attempt and wait, so that work that crashes the program cannot keep it from starting.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { Db } from './tables.ts';
import { beginWork, endWork, interruptedWork, pauseAfter, pauseAfterCrash } from './under-way.ts';

export interface BackgroundWork {
  /**
   * Starts nothing more. Running work continues and stays recorded as under way: it may have caused the fault, and then
   * counts as an attempt.
   */
  hold(): void;
  /** Starts nothing more, aborts running work, and resolves when none is left. */
  close(): Promise<void>;
}

/** Several as one; they close at the same time. */
export function together(parts: readonly BackgroundWork[]): BackgroundWork {
  return {
    hold: () => {
      for (const part of parts) part.hold();
    },
    close: async () => {
      await Promise.all(parts.map((part) => part.close()));
    },
  };
}

/** For rounds that leave nothing behind when stopped. @param stop may be called twice */
export function rounds(stop: () => Promise<void>): BackgroundWork {
  return { hold: () => void stop(), close: stop };
}

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
  readonly clock: Clock;
  readonly log: { error(facts: object, message: string): void };
  /** For log lines, such as "webhook", and for work under way; unique per queue. */
  readonly name: string;
  /** Most running at a time, in total and per organization, so that none blocks the others. */
  readonly mostRunning: number;
  readonly mostPerOrganization: number;
  /** Items due at `now` (ISO), longest due first. */
  due(now: string, without: Without, limit: number): Promise<Item[]>;
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
  readonly #running = new Map<string, { orgId: string; done: Promise<void> }>();
  readonly #ending = new AbortController();
  readonly #stopListening: () => void;
  #look: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  /** Work whose last attempt failed: when its wait ends, ms. */
  readonly #waiting = new Map<string, number>();
  #isHeld = false;
  /** Whether the work left by a crash was counted. Nothing starts before. */
  #tookUp = false;

  /** Starts at once with due items. */
  constructor(parts: DueWorkParts<Item>) {
    this.#parts = parts;
    this.#stopListening = parts.onStored(() => this.#wake());
    this.#wake();
  }

  hold(): void {
    this.#isHeld = true;
    this.#stopListening();
    this.#timer?.cancel();
  }

  /** Aborts running work; it is repeated after the next start. */
  async close(): Promise<void> {
    this.hold();
    this.#ending.abort(new Error('the control plane is shutting down'));
    await this.#look;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #takeUp(): Promise<void> {
    const { clock, db, log, name } = this.#parts;
    const left = await interruptedWork(db, name);
    for (const [place, { id, tries }] of left.entries()) {
      const until = clock.now() + pauseAfterCrash(place, this.#parts.failed ? 1 : tries);
      log.error(
        { id, tries },
        `${name} was running when the program crashed; it counts as an attempt and will be retried later`,
      );
      this.#waiting.set(id, until);
      await this.#count(id, until, crashed);
    }
    this.#tookUp = true;
  }

  /** Stores a failed attempt. If that fails, the work still waits, and is counted at the next start. */
  async #count(id: string, until: number, why: string): Promise<void> {
    const { db, failed, log, name } = this.#parts;
    if (!failed) return;
    try {
      await failed(id, new Date(until).toISOString(), why);
      await endWork(db, name, id);
    } catch (error) {
      log.error({ err: error, id }, `an attempt of ${name} could not be counted`);
    }
  }

  #wake(): void {
    this.#look = this.#look
      .then(() => this.#begin())
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error }, `due ${this.#parts.name} could not be read`);
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
    const { clock, due, mostRunning, nextDue } = this.#parts;
    if (!this.#tookUp) await this.#takeUp();
    const now = new Date(clock.now()).toISOString();
    for (const [id, until] of this.#waiting) if (until <= clock.now()) this.#waiting.delete(id);
    for (;;) {
      const free = mostRunning - this.#running.size;
      const without = {
        ids: [...this.#running.keys(), ...this.#waiting.keys()],
        organizations: this.#fullOrganizations(),
      };
      const items = free > 0 ? await due(now, without, free) : [];
      // Also when that happened during the database read.
      if (items.length === 0 || this.#isHeld) break;
      for (const item of items) if (!this.#fullOrganizations().includes(item.org_id)) this.#run(item);
    }
    const next = await nextDue(now);
    const times = [...this.#waiting.values(), ...(next === null ? [] : [Date.parse(next)])];
    if (times.length === 0) return;
    const waitMs = Math.min(...times) - clock.now();
    if (waitMs > 0) this.#wakeAfter(waitMs);
    // It fell due during the reads.
    else this.#wake();
  }

  #run(item: Item): void {
    const done = this.#attempt(item).finally(() => {
      this.#running.delete(item.id);
      this.#wake();
    });
    this.#running.set(item.id, { orgId: item.org_id, done });
  }

  /** Organizations at their limit. */
  #fullOrganizations(): string[] {
    const byOrganization = Map.groupBy(this.#running.values(), ({ orgId }) => orgId);
    return [...byOrganization]
      .filter(([, running]) => running.length >= this.#parts.mostPerOrganization)
      .map(([orgId]) => orgId);
  }

  async #attempt(item: Item): Promise<void> {
    const { attempt, clock, db, log, name } = this.#parts;
    const { id } = item;
    const { signal } = this.#ending;
    let tries = 1;
    try {
      tries = await beginWork(db, name, id, clock.now());
      await attempt(item, signal);
    } catch (error) {
      // Work aborted by the shutdown may throw; that is not a failure.
      if (!signal.aborted) {
        log.error({ err: error, id, tries }, `${name} could not be handled`);
        // The item is still due; without a pause it would start again at once.
        const until = clock.now() + (this.#parts.failed ? pauseMs : pauseAfter(tries));
        this.#waiting.set(id, until);
        return this.#count(id, until, thrown);
      }
    }
    // Also for aborted work: an orderly shutdown is not a crash.
    await endWork(db, name, id).catch((error: unknown) => {
      log.error({ err: error, id }, `the end of ${name} could not be stored`);
    });
  }
}
