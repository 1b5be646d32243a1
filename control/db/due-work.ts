/**
 * Carries out what is stored with a time at which it is due, such as deliveries:
 *
 *     stored --due--> running --> whatever the attempt stores: a later time, or none
 *
 * The state is in the database, so work outlives a restart; what was running then is done again.
 */
import type { Clock, Timer } from '#shared/clock.ts';

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
  readonly clock: Clock;
  readonly log: { error(facts: object, message: string): void };
  /** For log lines, such as "webhook". */
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
  /** Has `wake` called when items were stored. Returns a function that ends this. */
  onStored(wake: () => void): () => void;
}

/** After a failure of the database, ms. */
const pauseMs = 5_000;

export class DueWork<Item extends DueItem> {
  readonly #parts: DueWorkParts<Item>;
  readonly #running = new Map<string, { orgId: string; done: Promise<void> }>();
  readonly #ending = new AbortController();
  readonly #stopListening: () => void;
  #look: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  /** Begins at once with what is due. */
  constructor(parts: DueWorkParts<Item>) {
    this.#parts = parts;
    this.#stopListening = parts.onStored(() => this.#wake());
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
    for (;;) {
      const free = mostRunning - this.#running.size;
      const without = { ids: [...this.#running.keys()], organizations: this.#fullOrganizations() };
      const items = free > 0 ? await due(now, without, free) : [];
      if (items.length === 0) break;
      for (const item of items) if (!this.#fullOrganizations().includes(item.org_id)) this.#run(item);
    }
    const next = await nextDue(now);
    if (next !== null) this.#wakeAfter(Date.parse(next) - clock.now());
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
    const { attempt, clock, log, name, postpone } = this.#parts;
    try {
      await attempt(item, this.#ending.signal);
    } catch (error) {
      log.error({ err: error, id: item.id }, `${name} could not be handled`);
      // The item is still due; without a pause it would be taken up again at once.
      const later = new Date(clock.now() + pauseMs).toISOString();
      await postpone(item, later).catch(() => undefined);
    }
  }
}
