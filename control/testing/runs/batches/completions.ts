/**
 * Reports ended batches, each at least once: after a restart also those of the last day, because a killed process may
 * not have reported them. Listeners must tolerate repeats.
 */
import type { Clock } from '#shared/clock.ts';
import type { Db } from '../../../db/index.ts';
import { completedSince } from '../../records/batch-store.ts';

export type BatchListener = (batchId: string) => Promise<void>;

export interface CompletionParts {
  readonly db: Db;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: { error(facts: object, message: string): void };
}

const windowMs = 24 * 60 * 60 * 1000;

export class BatchCompletions {
  readonly #parts: CompletionParts;
  readonly #listeners: BatchListener[] = [];
  #announced = new Set<string>();
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
    const { clock, db, log } = this.#parts;
    try {
      const ended = await completedSince(db, new Date(clock.now() - windowMs).toISOString());
      const known = this.#announced;
      this.#announced = new Set(ended.filter((id) => known.has(id)));
      for (const id of ended) {
        if (this.#announced.has(id)) continue;
        for (const listener of this.#listeners) await listener(id);
        this.#announced.add(id);
      }
    } catch (error) {
      log.error({ err: error }, 'a listener for the end of a batch failed');
    }
  }
}
