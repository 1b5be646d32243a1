/** Metrics of what replicas tell each other. */
import { Counter, type Registry } from 'prom-client';
import type { Bus } from './bus.ts';

export function measureBus(registry: Registry, { counts }: Bus): void {
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
}
