/**
 * Carries out what is stored with a time at which it is due, such as deliveries:
 *
 *     stored --due--> running --> whatever the attempt stores: a later time, or none
 *
 * The state is in the database, so work outlives a restart. What was running when the program died counts as a try
 * (`interrupted`) and waits, so that work that ends the program cannot keep it from starting.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { Db } from './tables.ts';
import { beginWork, crashPauseMs, endWork, interruptedWork } from './under-way.ts';

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
  /** Makes an item due at `later` (ISO) whose attempt threw. */
  postpone(item: Item, later: string): Promise<void>;
  /**
   * Counts a try that a crash has ended: stores the next one, due at `later` (ISO) at the earliest, or none. Absent:
   * the work is tried again after a pause that grows with each crash.
   */
  interrupted?(id: string, later: string): Promise<void>;
  /** Has `wake` called when items were stored. Returns a function that ends this. */
  onStored(wake: () => void): () => void;
}

/** After a failure of the database, ms. */
const pauseMs = 5_000;
/** Longest pause of work without a limit of tries that has ended the program, ms. */
const longestCrashPauseMs = 3_600_000;

export class DueWork<Item extends DueItem> {
  readonly #parts: DueWorkParts<Item>;
  readonly #running = new Map<string, { orgId: string; done: Promise<void> }>();
  readonly #ending = new AbortController();
  readonly #stopListening: () => void;
  #look: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  /** Work that waits after a crash: until when, ms. */
  readonly #waiting = new Map<string, number>();

  /** Begins at once with what is due. */
  constructor(parts: DueWorkParts<Item>) {
    this.#parts = parts;
    this.#stopListening = parts.onStored(() => this.#wake());
    this.#look = this.#takeUp().catch((error: unknown) => {
      parts.log.error({ err: error }, `what a crash has left of ${parts.name} could not be read`);
    });
    this.#wake();
  }

  /** Breaks off what is running; it is done again after the next start. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('the control plane is ending'));
    this.#stopListening();
    this.#timer?.cancel();
    await this.#look;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #takeUp(): Promise<void> {
    const { clock, db, interrupted, log, name } = this.#parts;
    for (const { id, tries } of await interruptedWork(db, name)) {
      const pause = interrupted
        ? crashPauseMs
        : Math.min(longestCrashPauseMs, crashPauseMs * 4 ** (tries - 1));
      log.error({ id, tries }, `${name} was under way when the program died; it counts as a try and waits`);
      this.#waiting.set(id, clock.now() + pause);
      if (!interrupted) continue;
      await interrupted(id, new Date(clock.now() + pause).toISOString());
      await endWork(db, name, id);
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
    if (this.#ending.signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(ms, () => this.#wake());
  }

  async #begin(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const { clock, due, mostRunning, nextDue } = this.#parts;
    const now = new Date(clock.now()).toISOString();
    for (const [id, until] of this.#waiting) if (until <= clock.now()) this.#waiting.delete(id);
    for (;;) {
      const free = mostRunning - this.#running.size;
      const without = {
        ids: [...this.#running.keys(), ...this.#waiting.keys()],
        organizations: this.#fullOrganizations(),
      };
      const items = free > 0 ? await due(now, without, free) : [];
      if (items.length === 0) break;
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
    const { attempt, clock, db, log, name, postpone } = this.#parts;
    try {
      await beginWork(db, name, item.id, clock.now());
      await attempt(item, this.#ending.signal);
    } catch (error) {
      log.error({ err: error, id: item.id }, `${name} could not be handled`);
      // The item is still due; without a pause it would be taken up again at once.
      const later = new Date(clock.now() + pauseMs).toISOString();
      await postpone(item, later).catch(() => undefined);
    }
    // Also what was broken off: a program that ends in order is no crash.
    await endWork(db, name, item.id).catch((error: unknown) => {
      log.error({ err: error, id: item.id }, `the end of ${name} could not be written down`);
    });
  }
}
