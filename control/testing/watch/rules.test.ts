import { describe, expect, it } from 'vitest';
import { alarmMove, driftOf, isSampled, type JudgedCall, sharesOf, statusOf } from './rules.ts';
import { madeUpKeys } from './to-scenario.ts';

/** Of a version: so many passed, so many failed, newest first; each is a conversation of its own. */
const calls = (version: number, passed: number, failed: number, minute: number): JudgedCall[] =>
  Array.from({ length: passed + failed }, (_, place) => ({
    version,
    status: place < passed ? 'PASSED' : 'FAILED',
    conversation: `${version} ${place}`,
    ended_at: `2030-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`,
  }));

const drift = (...versions: JudgedCall[][]) => driftOf(sharesOf(versions.flat(), 20), 20);

describe('the verdict on a call', () => {
  const results = (...statuses: ('PASSED' | 'FAILED' | 'INCONCLUSIVE' | 'ERROR')[]) =>
    statuses.map((status) => ({ status, is_required: true }));

  it('is a failure, an error or undecided only by what is required', () => {
    expect(statusOf(results('PASSED', 'INCONCLUSIVE', 'FAILED'))).toBe('FAILED');
    expect(statusOf(results('PASSED', 'INCONCLUSIVE', 'ERROR'))).toBe('ERROR');
    expect(statusOf(results('PASSED', 'INCONCLUSIVE'))).toBe('INCONCLUSIVE');
    expect(statusOf([{ status: 'FAILED', is_required: false }])).toBe('PASSED');
  });
});

describe('the sample', () => {
  it('is the same at each look, and has about its share', () => {
    const ids = Array.from({ length: 4000 }, (_, place) => `call ${place}`);
    const sampled = (rate: number) => ids.filter((id) => isSampled('w', id, rate));
    expect(sampled(1)).toHaveLength(4000);
    expect(sampled(0.25)).toEqual(sampled(0.25));
    // 1,000 expected, with a standard deviation of 27.
    expect(Math.abs(sampled(0.25).length - 1000)).toBeLessThan(150);
    expect(ids.filter((id) => isSampled('other', id, 0.25))).not.toEqual(sampled(0.25));
  });
});

describe('shares by version', () => {
  it('count what was decided, over distinct conversations, the last called version first', () => {
    const undecided: JudgedCall = {
      version: 2,
      status: 'INCONCLUSIVE',
      conversation: 'x',
      ended_at: '2030-01-01T00:09:00.000Z',
    };
    const [second, first] = sharesOf([undecided, ...calls(2, 3, 1, 5), ...calls(1, 4, 0, 1)], 20);
    // Wilson, 3 of 4.
    expect(second).toMatchObject({
      version: 2,
      calls: 4,
      passed: 3,
      failed: 1,
      undecided: 1,
      pass_rate: 0.75,
      pass_rate_interval: { low: 0.3006, high: 0.9544 },
    });
    expect(first).toMatchObject({ version: 1, calls: 4, pass_rate: 1 });
    const alike = calls(1, 5, 0, 1).map((one) => ({ ...one, conversation: 'same' }));
    expect(sharesOf(alike, 20)[0]).toMatchObject({ distinct_conversations: 1, pass_rate_interval: null });
  });

  it('look at the newest 200 calls of a version, so that it can recover', () => {
    expect(sharesOf([...calls(1, 200, 0, 9), ...calls(1, 0, 50, 1)], 20)[0]).toMatchObject({ failed: 0 });
  });
});

describe('drift', () => {
  // Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10: 56/70 − 48/80: 0.0524 to 0.3339.
  it('compares the version in use with the last good one as published', () => {
    expect(drift(calls(2, 48, 32, 5), calls(1, 56, 14, 1))).toEqual({
      state: 'drifted',
      compared: {
        version: 2,
        good_version: 1,
        difference: -0.2,
        interval: { low: -0.3339, high: -0.0524 },
      },
    });
    expect(drift(calls(2, 56, 14, 5), calls(1, 48, 32, 1)).state).toBe('ok');
  });

  it('is not known with too few distinct calls on one side, or without an earlier version', () => {
    expect(drift(calls(2, 0, 19, 5), calls(1, 20, 0, 1)).state).toBe('unknown');
    expect(drift(calls(2, 0, 20, 5), calls(1, 19, 0, 1)).state).toBe('unknown');
    const alike = calls(2, 0, 100, 5).map((one) => ({ ...one, conversation: 'same' }));
    expect(drift(alike, calls(1, 20, 0, 1)).state).toBe('unknown');
    expect(drift(calls(1, 0, 100, 1)).state).toBe('unknown');
  });

  it('passes over a version that had drifted itself', () => {
    const found = drift(calls(3, 5, 25, 9), calls(2, 4, 26, 5), calls(1, 30, 0, 1));
    expect(found).toMatchObject({ state: 'drifted', compared: { version: 3, good_version: 1 } });
  });
});

describe('the alarm', () => {
  const drifted = drift(calls(2, 0, 30, 5), calls(1, 30, 0, 1));
  const ok = drift(calls(2, 30, 0, 5), calls(1, 30, 0, 1));
  const unknown = drift(calls(3, 1, 0, 9), calls(2, 0, 30, 5), calls(1, 30, 0, 1));
  const alarm = { version: 2, good_version: 1 };

  it('is raised by drift alone, and ends when the version recovers', () => {
    expect(alarmMove(null, drifted, 2)).toBe('raise');
    expect(alarmMove(null, ok, 2)).toBe('keep');
    expect(alarmMove(null, unknown, 3)).toBe('keep');
    expect(alarmMove(alarm, drifted, 2)).toBe('keep');
    expect(alarmMove(alarm, ok, 2)).toBe('resolve');
  });

  it('stays while a new version has too few calls, and ends when the good one is called again', () => {
    expect(alarmMove(alarm, unknown, 3)).toBe('keep');
    expect(alarmMove(alarm, { state: 'unknown', compared: null }, 1)).toBe('resolve');
  });
});

it('keys that a scenario presses in place of a number of the caller are as many', () => {
  expect(madeUpKeys('4711#')).toBe('1234#');
  expect(madeUpKeys('*99887766554433#')).toBe('*12345678901234#');
});
