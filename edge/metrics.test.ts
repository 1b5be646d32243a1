import { expect, it } from 'vitest';
import { Metrics } from './metrics.ts';

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
