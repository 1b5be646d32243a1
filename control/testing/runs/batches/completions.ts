/**
 * Reports ended batches, each at least once: after a restart also those of the last day, because a killed process may
 * not have reported them. Listeners must tolerate repeats.
 */
import type { Clock } from '#shared/clock.ts';
import type { Db } from '../../../db/index.ts';
import { type EndedBatch, endedAfter } from '../../records/batch-store.ts';

export type BatchListener = (batchId: string) => Promise<void>;

export interface CompletionParts {
  readonly db: Db;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: { error(facts: object, message: string): void };
}

/** After a start: what a killed process may not have reported. */
const windowMs = 24 * 60 * 60 * 1000;
/** How much later than its own time an end may be stored, on a host whose clock is late: looked at again each time. */
const lateMs = 10 * 60 * 1000;
const pageRows = 500;

export class BatchCompletions {
  readonly #parts: CompletionParts;
  readonly #listeners: BatchListener[] = [];
  /** When the reported batches ended, of those that are looked at again. */
  readonly #announced = new Map<string, string>();
  /** Every batch that ended before is reported, ISO; null: before the first look. */
  #since: string | null = null;
  #look: Promise<void> = Promise.resolve();

  constructor(parts: CompletionParts) {
    this.#parts = parts;
  }

  /** Call before the queue is started. */
  onBatchCompleted(listener: BatchListener): void {
    this.#listeners.push(listener);
  }

  /** Checks for ended batches. Never rejects; a failed listener is retried at the next check. */
  check(): Promise<void> {
    if (this.#listeners.length === 0) return this.#look;
    this.#look = this.#look.then(() => this.#tell());
    return this.#look;
  }

  async #tell(): Promise<void> {
    const { clock, log } = this.#parts;
    const before = (ms: number) => new Date(clock.now() - ms).toISOString();
    try {
      const next = before(lateMs);
      await this.#tellAfter(this.#since ?? before(windowMs));
      this.#since = next;
      for (const [id, completedAt] of this.#announced) if (completedAt < next) this.#announced.delete(id);
    } catch (error) {
      log.error({ err: error }, 'a listener for the end of a batch failed');
    }
  }

  async #tellAfter(since: string): Promise<void> {
    let last: EndedBatch = { id: '', completed_at: since };
    for (;;) {
      const page = await endedAfter(this.#parts.db, last, pageRows);
      for (const { id, completed_at } of page) {
        if (this.#announced.has(id)) continue;
        for (const listener of this.#listeners) await listener(id);
        this.#announced.set(id, completed_at);
      }
      const end = page.at(-1);
      if (!end || page.length < pageRows) return;
      last = end;
    }
  }
}
