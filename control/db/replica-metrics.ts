import { Counter, Gauge, type Registry } from 'prom-client';
import { rejectedByFences } from './fence.ts';
import type { Replica } from './replica.ts';

export function measureReplica(replica: Replica, registry: Registry): void {
  new Gauge({
    name: 'trunkline_control_leases_held',
    help: 'Whether this replica has the lease on a kind of background work: 1, or no value.',
    labelNames: ['lease'],
    registers: [registry],
    collect() {
      this.reset();
      for (const lease of replica.held) this.set({ lease }, 1);
    },
  });
  new Counter({
    name: 'trunkline_control_lease_changes_total',
    help: 'Leases that this replica took, and that it lost because it was late to renew them.',
    labelNames: ['change'],
    registers: [registry],
    collect() {
      this.reset();
      for (const change of ['taken', 'lost'] as const) this.inc({ change }, replica.counts[change]);
    },
  });
  new Counter({
    name: 'trunkline_control_work_taken_over_total',
    help: 'Pieces of background work that were running on a replica, or on this one before a crash, and died with it.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(replica.counts.takenOver);
    },
  });
  new Counter({
    name: 'trunkline_control_fenced_writes_total',
    help: 'Writes rejected because another replica had taken over their work.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(rejectedByFences());
    },
  });
}
