import { expect, it } from 'vitest';
import { Metrics, ownMetrics } from './metrics.ts';

it('exports counters with their labels, and gauges with their current values', () => {
  const metrics = new Metrics();
  let calls = 1;
  metrics.gauge('calls', () => calls);
  metrics.count('refused_total', { reason: 'capacity' });
  metrics.count('refused_total', { reason: 'capacity' });
  metrics.count('restarts_total');
  calls = 2;
  expect(metrics.snapshot()).toEqual({
    'refused_total{reason="capacity"}': 2,
    restarts_total: 1,
    calls: 2,
  });
});

it('exports what the process uses, with the timers among it', () => {
  const { trunkline_edge_nodejs_active_timers: before = Number.NaN } = ownMetrics();
  const timers = Array.from({ length: 5 }, () => setTimeout(() => {}, 60_000));
  const now = ownMetrics();
  for (const timer of timers) clearTimeout(timer);
  expect(now.trunkline_edge_nodejs_active_timers).toBe(before + 5);
  expect(now.trunkline_edge_process_open_fds).toBeGreaterThan(2);
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes'])
    expect(now[`trunkline_edge_${name}`]).toBeGreaterThan(1_000_000);
});
