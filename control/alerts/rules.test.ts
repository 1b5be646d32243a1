import { describe, expect, it } from 'vitest';
import { nextRun, type ProbeRun } from './probe-rules.ts';
import { move, reachability, readings, type TrunkAlertKind, type TrunkFacts } from './rules.ts';

const minute = 60_000;
const now = Date.UTC(2030, 0, 1);
const thresholds = {
  unreachable_minutes: 5,
  failure_rate_percent: 20,
  failure_rate_window_minutes: 30,
  response_time_ms: 500,
};
const quiet: TrunkFacts = {
  direction: 'outbound',
  reachability: { state: 'healthy' },
  calls: { ended: 0, failed: 0 },
  responseTimes: null,
  certificate: null,
};

function read(kind: TrunkAlertKind, facts: Partial<TrunkFacts>, limits: Partial<typeof thresholds> = {}) {
  const all = readings({ ...quiet, ...facts }, { ...thresholds, ...limits }, now);
  return all.find((reading) => reading.kind === kind);
}
const unreachableFor = (ms: number): Partial<TrunkFacts> => ({
  reachability: { state: 'unreachable', since: now - ms },
});

describe('unreachable', () => {
  it.each([
    [5 * minute - 1, 'unknown', 5],
    [5 * minute, 'over', 5],
    [7 * minute + 30_000, 'over', 7.5],
  ] as const)('after %d ms is %s', (ms, state, value) => {
    expect(read('unreachable', unreachableFor(ms))).toEqual({
      kind: 'unreachable',
      state,
      value,
      threshold: 5,
      windowMinutes: null,
    });
  });

  it('ends with a healthy trunk, not while the state is unknown', () => {
    expect(read('unreachable', {})).toMatchObject({ state: 'under', value: 0 });
    expect(read('unreachable', { reachability: { state: 'unknown' } })).toMatchObject({ state: 'unknown' });
  });

  it('follows its threshold', () => {
    expect(read('unreachable', unreachableFor(minute), { unreachable_minutes: 1 })?.state).toBe('over');
    expect(read('unreachable', unreachableFor(minute), { unreachable_minutes: 2 })?.state).toBe('unknown');
  });
});

describe('failure_rate', () => {
  it.each([
    [{ ended: 0, failed: 0 }, 'under', 0],
    [{ ended: 4, failed: 4 }, 'under', 100],
    [{ ended: 5, failed: 1 }, 'over', 20],
    [{ ended: 6, failed: 1 }, 'under', 16.67],
    [{ ended: 1000, failed: 199 }, 'under', 19.9],
    [{ ended: 1000, failed: 200 }, 'over', 20],
  ] as const)('of %j is %s', (calls, state, value) => {
    expect(read('failure_rate', { calls })).toEqual({
      kind: 'failure_rate',
      state,
      value,
      threshold: 20,
      windowMinutes: 30,
    });
  });

  it('compares before rounding', () => {
    const calls = { ended: 100_000, failed: 19_999 };
    expect(read('failure_rate', { calls })).toMatchObject({ state: 'under', value: 20 });
  });
});

describe('certificate_expiring', () => {
  const day = 24 * 60 * minute;
  const valid = (from: number, to: number) => ({
    certificate: { validFrom: now + from * day, expiresAt: now + to * day },
  });

  it.each([
    [valid(-60, 30), 'under', 30, 14],
    [valid(-351, 14), 'over', 14, 14],
    [valid(-90, -1), 'over', -1, 14],
    // The last third of nine days.
    [valid(-5, 4), 'under', 4, 3],
    [valid(-6.5, 2.5), 'over', 2.5, 3],
  ] as const)('%j is %s', (facts, state, value, threshold) => {
    expect(read('certificate_expiring', facts)).toMatchObject({ state, value, threshold });
  });

  it('is unknown before a certificate was seen', () => {
    expect(read('certificate_expiring', {})?.state).toBe('unknown');
  });
});

describe('response_time', () => {
  it.each([
    [[500, 500, 500, 500, 500], 'under', 500],
    [[500, 500, 500, 500, 501], 'over', 500.2],
    [[9000, 100, 100, 100, 100, 100], 'under', 100],
    [[9000, 9000, 9000, 9000], 'unknown', 0],
  ] as const)('of %j is %s', (responseTimes, state, value) => {
    expect(read('response_time', { responseTimes })).toMatchObject({ state, value, threshold: 500 });
  });

  it('is unknown without recent probes', () => {
    expect(read('response_time', { responseTimes: null })?.state).toBe('unknown');
  });
});

it('inbound configurations have only failure_rate', () => {
  const facts: TrunkFacts = { ...quiet, ...unreachableFor(60 * minute), direction: 'inbound' };
  expect(readings(facts, thresholds, now).map(({ kind }) => kind)).toEqual(['failure_rate']);
});

describe('an alert', () => {
  const step = (kind: TrunkAlertKind, state: 'over' | 'under' | 'unknown', calm?: number) =>
    move(
      { kind, state, value: 0, threshold: 0, windowMinutes: null },
      calm === undefined ? undefined : { calm },
    );

  it.each(['unreachable', 'failure_rate', 'response_time', 'certificate_expiring'] as const)(
    '%s is raised once',
    (kind) => {
      expect(step(kind, 'over')).toEqual({ to: 'raised' });
      expect(step(kind, 'over', 0)).toEqual({ to: 'same' });
      expect(step(kind, 'under')).toEqual({ to: 'same' });
      expect(step(kind, 'unknown')).toEqual({ to: 'same' });
    },
  );

  it('unreachable ends with the first healthy evaluation', () => {
    expect(step('unreachable', 'unknown', 0)).toEqual({ to: 'same' });
    expect(step('unreachable', 'under', 0)).toEqual({ to: 'resolved' });
  });

  it.each(['failure_rate', 'response_time'] as const)(
    '%s ends after two normal evaluations in a row',
    (kind) => {
      expect(step(kind, 'under', 0)).toEqual({ to: 'calm', calm: 1 });
      expect(step(kind, 'under', 1)).toEqual({ to: 'resolved' });
      expect(step(kind, 'over', 1)).toEqual({ to: 'calm', calm: 0 });
      expect(step(kind, 'unknown', 1)).toEqual({ to: 'calm', calm: 0 });
    },
  );
});

describe('reachability', () => {
  const gap = 3 * minute;
  const endpoint = (host: string) => ({ host, port: 5061 });
  const probe = (host: string, failingSince: number | null, checkedAt = now) => ({
    ...endpoint(host),
    checkedAt,
    healthy: failingSince === null,
    failingSince,
  });

  it('is healthy when one endpoint answers', () => {
    const probed = [probe('a', now - 9 * minute), probe('b', null)];
    expect(reachability([endpoint('a'), endpoint('b')], probed, now, gap)).toEqual({ state: 'healthy' });
  });

  it('ends with the endpoint that failed last', () => {
    const probed = [probe('a', now - 9 * minute), probe('b', now - 2 * minute)];
    expect(reachability([endpoint('a'), endpoint('b')], probed, now, gap)).toEqual({
      state: 'unreachable',
      since: now - 2 * minute,
    });
  });

  it('ignores endpoints that calls may not use', () => {
    const probed = [probe('a', now - 9 * minute), probe('b', null)];
    expect(reachability([endpoint('a')], probed, now, gap)).toMatchObject({ state: 'unreachable' });
  });

  it('is unknown once the last probe is too old', () => {
    const probed = [probe('a', now - 60 * minute, now - gap)];
    expect(reachability([endpoint('a')], probed, now, gap).state).toBe('unreachable');
    expect(reachability([endpoint('a')], probed, now + 1, gap)).toEqual({ state: 'unknown' });
    expect(reachability([endpoint('a')], [], now, gap)).toEqual({ state: 'unknown' });
  });
});

describe('a run of probes', () => {
  const gap = 3 * minute;
  const run = (...probes: [at: number, ms: number | null][]): ProbeRun | null =>
    probes.reduce<ProbeRun | null>(
      (before, [at, ms]) =>
        nextRun(before, { at: at * minute, healthy: ms !== null, response_time_ms: ms }, gap) ?? before,
      null,
    );

  it('fails since its first failure, until a success', () => {
    expect(run([1, null], [2, null], [3, null])).toMatchObject({ failingSince: minute });
    expect(run([1, null], [2, 40], [3, null])).toMatchObject({ failingSince: 3 * minute });
    expect(run([1, null], [2, 40])).toMatchObject({ failingSince: null });
  });

  it('starts over after a gap', () => {
    expect(run([1, null], [4, null])).toMatchObject({ failingSince: minute });
    expect(run([1, null], [4.1, null])).toMatchObject({ failingSince: 4.1 * minute });
  });

  it('keeps the times of five successes, whatever failed in between', () => {
    expect(run([1, 10], [2, 20], [3, null], [4, 30], [5, 40], [6, 50], [7, 60])).toMatchObject({
      responseTimes: [20, 30, 40, 50, 60],
    });
  });

  it('ignores a probe older than the last', () => {
    expect(run([2, 40], [1, null])).toMatchObject({ checkedAt: 2 * minute, failingSince: null });
  });
});
