import { Counter, type Registry } from 'prom-client';

/** Metrics of the deletion of old records. */
export interface RetentionMetrics {
  deleted(kind: string, rows: number): void;
  failed(kind: string): void;
}

export function retentionMetrics(registry: Registry): RetentionMetrics {
  const deleted = new Counter({
    name: 'trunkline_control_retention_deleted_total',
    help: 'Expired rows deleted, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  });
  const failures = new Counter({
    name: 'trunkline_control_retention_failures_total',
    help: 'Rounds of deletion that failed, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  });
  return {
    deleted: (kind, rows) => deleted.inc({ kind }, rows),
    failed: (kind) => failures.inc({ kind }),
  };
}
