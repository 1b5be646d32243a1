/** Metrics of recordings in S3-compatible storage. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Database } from '../../db/index.ts';
import { countWaiting } from './objects-store.ts';

export interface StorageMetrics {
  /** Counts one attempt. */
  attempt(work: 'move' | 'delete', outcome: 'done' | 'again' | 'given_up'): void;
}

export function storageMetrics(registry: Registry, { db }: Pick<Database, 'db'>): StorageMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'trunkline_control_recording_storage_attempts_total',
    help: 'Attempts to bring recordings to S3-compatible storage or to delete them there: done, to be repeated, or given up.',
    labelNames: ['work', 'outcome'],
    registers,
  });
  new Gauge({
    name: 'trunkline_control_recording_storage_waiting',
    help: 'Recordings that are to be brought to S3-compatible storage, and objects that are to be deleted there.',
    labelNames: ['work'],
    registers,
    async collect() {
      // While the database is away, the other metrics are still of use.
      const counts = await countWaiting(db).catch(() => null);
      if (counts === null) return;
      this.set({ work: 'move' }, (counts.get('moving') ?? 0) + (counts.get('clearing') ?? 0));
      this.set({ work: 'delete' }, counts.get('deleting') ?? 0);
    },
  });
  return { attempt: (work, outcome) => attempts.inc({ work, outcome }) };
}
