/** Metrics of tornado sessions. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface TornadoMetrics {
  iterated(fixes: number, reverted: number): void;
  ended(status: string, ms: number): void;
}

/** @param active called when metrics are read */
export function tornadoMetrics(registry: Registry, active: () => number): TornadoMetrics {
  const registers = [registry];
  new Gauge({
    name: 'trunkline_control_tornado_sessions',
    help: 'Tornado sessions that are running.',
    registers,
    collect() {
      this.set(active());
    },
  });
  const ended = new Counter({
    name: 'trunkline_control_tornado_sessions_ended_total',
    help: 'Tornado sessions that ended, by status.',
    labelNames: ['status'],
    registers,
  });
  const fixes = new Counter({
    name: 'trunkline_control_tornado_fixes_total',
    help: 'Fixes of tornado sessions, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'trunkline_control_tornado_session_seconds',
    help: 'Time that tornado sessions took.',
    buckets: [1, 5, 15, 60, 300, 900, 3600],
    registers,
  });
  return {
    iterated: (applied, reverted) => {
      fixes.inc({ outcome: 'applied' }, applied);
      fixes.inc({ outcome: 'reverted' }, reverted);
    },
    ended: (status, ms) => {
      ended.inc({ status });
      seconds.observe(ms / 1000);
    },
  };
}
