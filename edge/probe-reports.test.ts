import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { ProbeReports } from './probe-reports.ts';

function probe(trunkId: string): HealthProbe {
  return {
    trunk_id: trunkId,
    endpoint: { host: 'trunk.example.com', port: 5061, priority: 0 },
    at: '2030-01-01T00:00:00.000Z',
    healthy: true,
    response_time_ms: 12,
    sip_code: 200,
    error: null,
    consecutive_failures: 0,
    active: true,
  };
}

describe('ProbeReports', () => {
  it('collects the probes of a second into one report', () => {
    const clock = new FakeClock();
    const reports: ReportBody[] = [];
    const gathering = new ProbeReports(clock, (body) => reports.push(body));
    gathering.add(probe('t1'));
    clock.advance(999);
    gathering.add(probe('t2'));
    expect(reports).toEqual([]);
    clock.advance(1);
    expect(reports).toEqual([{ type: 'health', probes: [probe('t1'), probe('t2')] }]);
    clock.advance(5_000);
    expect(reports).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('limits the size of a report', () => {
    const reports: ReportBody[] = [];
    const gathering = new ProbeReports(new FakeClock(), (body) => reports.push(body));
    for (let i = 0; i < 501; i++) gathering.add(probe('t1'));
    expect(reports.map((body) => (body.type === 'health' ? body.probes.length : 0))).toEqual([500]);
    gathering.flush();
    expect(reports).toHaveLength(2);
  });

  it('reports a failover at once, with the probes before it', () => {
    const clock = new FakeClock();
    const reports: ReportBody[] = [];
    const gathering = new ProbeReports(clock, (body) => reports.push(body));
    gathering.add(probe('t1'));
    gathering.moved('t1', 1);
    gathering.moved('t2', 0);
    expect(reports).toEqual([
      { type: 'health', probes: [probe('t1')], moves: [{ trunk_id: 't1', active_priority: 1 }] },
      { type: 'health', probes: [], moves: [{ trunk_id: 't2', active_priority: 0 }] },
    ]);
    expect(clock.pending).toBe(0);
  });
});
