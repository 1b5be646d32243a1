/** Metrics of what replicas tell each other. */
import { Counter, type Registry } from 'prom-client';
import type { Bus } from './bus.ts';

export function measureBus(registry: Registry, { counts, transients }: Bus): void {
  new Counter({
    name: 'trunkline_control_replica_messages_total',
    help: 'Messages between replicas: sent, received, dropped because too many waited, and times that some were missed.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const outcome of ['sent', 'received', 'dropped', 'missed'] as const)
        this.inc({ outcome }, counts[outcome]);
    },
  });
  new Counter({
    name: 'trunkline_control_replica_transients_total',
    help: 'Messages between replicas that are stored nowhere: sent, received, and dropped because too many waited or the server could not be reached.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const outcome of ['sent', 'received', 'dropped'] as const)
        this.inc({ outcome }, transients.counts[outcome]);
    },
  });
}
