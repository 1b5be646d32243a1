/**
 * Carries out what is stored with a time at which it is due, such as deliveries:
 *
 *     stored --due--> running --> whatever the attempt stores: a later time, or none
 *
 * The state is in the database, so work outlives a restart. An attempt that throws, and what was running when the
 * program died, count as a try and wait, so that work that ends the program cannot keep it from starting.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { BackgroundWork } from './background-work.ts';
import type { Db } from './tables.ts';
import { beginWork, endWork, interruptedWork, pauseAfter, pauseAfterCrash } from './under-way.ts';

export interface DueItem {
  readonly id: string;
  readonly org_id: string;
}

/** What is not asked for: running items, and organizations that may not have more running. */
export interface Without {
  readonly ids: readonly string[];
  readonly organizations: readonly string[];
}

export interface DueWorkParts<Item extends DueItem> {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: { error(facts: object, message: string): void };
  /** For log lines, such as "webhook", and for what is under way: no two queues have the same. */
  readonly name: string;
  /** Running at the same time, of all organizations and of one, so that none holds up the others. */
  readonly mostRunning: number;
  readonly mostPerOrganization: number;
  /** Items that are due at `now` (ISO), longest due first. */
  due(now: string, without: Without, limit: number): Promise<Item[]>;
  /** When the next item after `now` (ISO) is due; null when there is none. */
  nextDue(now: string): Promise<string | null>;
  /** Does the work and stores what came of it, so that the item is not due any more. */
  attempt(item: Item, signal: AbortSignal): Promise<void>;
  /**
   * Counts a try that came to nothing, because it threw or the program died: stores the next one, due at `later`
   * (ISO) at the earliest, or none. Absent: nobody may drop the work. It waits longer after each such try (`pauseAfter`).
   * @param why a sentence for the reader of the item
   */
  failed?(id: string, later: string, why: string): Promise<void>;
  /** Has `wake` called when items were stored. Returns a function that ends this. */
  onStored(wake: () => void): () => void;
}

/** After a failure of the database, ms. */
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
  /** Work whose last try came to nothing: until when it waits, ms. */
  readonly #waiting = new Map<string, number>();
  #isHeld = false;
  /** Whether what a crash has left was counted. Nothing begins before. */
  #tookUp = false;

  /** Begins at once with what is due. */
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

  /** Breaks off what is running; it is done again after the next start. */
  async close(): Promise<void> {
    this.hold();
    this.#ending.abort(new Error('the control plane is ending'));
    await this.#look;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #takeUp(): Promise<void> {
    const { clock, db, log, name } = this.#parts;
    const left = await interruptedWork(db, name);
    for (const [place, { id, tries }] of left.entries()) {
      const until = clock.now() + pauseAfterCrash(place, this.#parts.failed ? 1 : tries);
      log.error({ id, tries }, `${name} was under way when the program died; it counts as a try and waits`);
      this.#waiting.set(id, until);
      await this.#count(id, until, crashed);
    }
    this.#tookUp = true;
  }

  /** Stores a try that came to nothing. What cannot be stored waits all the same, and is counted at the next start. */
  async #count(id: string, until: number, why: string): Promise<void> {
    const { db, failed, log, name } = this.#parts;
    if (!failed) return;
    try {
      await failed(id, new Date(until).toISOString(), why);
      await endWork(db, name, id);
    } catch (error) {
      log.error({ err: error, id }, `a try of ${name} could not be counted`);
    }
  }

  #wake(): void {
    this.#look = this.#look
      .then(() => this.#begin())
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error }, `what is due of ${this.#parts.name} could not be read`);
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
      // Also when that came while the database was read.
      if (items.length === 0 || this.#isHeld) break;
      for (const item of items) if (!this.#fullOrganizations().includes(item.org_id)) this.#run(item);
    }
    const next = await nextDue(now);
    const times = [...this.#waiting.values(), ...(next === null ? [] : [Date.parse(next)])];
    if (times.length > 0) this.#wakeAfter(Math.max(0, Math.min(...times) - clock.now()));
  }

  #run(item: Item): void {
    const done = this.#attempt(item).finally(() => {
      this.#running.delete(item.id);
      this.#wake();
    });
    this.#running.set(item.id, { orgId: item.org_id, done });
  }

  /** Organizations that may not have more running. */
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
      // What was broken off by the end of the program may throw, and is no failure.
      if (!signal.aborted) {
        log.error({ err: error, id, tries }, `${name} could not be handled`);
        // The item is still due; without a pause it would be taken up again at once.
        const until = clock.now() + (this.#parts.failed ? pauseMs : pauseAfter(tries));
        this.#waiting.set(id, until);
        return this.#count(id, until, thrown);
      }
    }
    // Also what was broken off: a program that ends in order is no crash.
    await endWork(db, name, id).catch((error: unknown) => {
      log.error({ err: error, id }, `the end of ${name} could not be written down`);
    });
  }
}
