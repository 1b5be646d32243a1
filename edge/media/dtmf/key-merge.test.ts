import { describe, expect, it } from 'vitest';
import { KeyMerge, type KeyWay } from './key-merge.ts';

/** Reports at these times, ms, of presses with these durations. @returns the keys that are new */
function heard(...reports: readonly [KeyWay, digit: string, atMs: number, durationMs?: number][]): string {
  const merge = new KeyMerge();
  return reports
    .filter(([way, digit, atMs, durationMs = 100]) => merge.isNew(way, { digit, durationMs }, atMs))
    .map(([, digit]) => digit)
    .join('');
}

describe('keys that come as RFC 4733 event and as INFO', () => {
  it('count once, whichever is first', () => {
    expect(heard(['event', '1', 100], ['info', '1', 130])).toBe('1');
    expect(heard(['info', '1', 20], ['event', '1', 100])).toBe('1');
  });

  it('count twice when the caller has pressed twice, also when the INFOs come late', () => {
    expect(heard(['event', '1', 100], ['info', '1', 130], ['event', '1', 300], ['info', '1', 330])).toBe(
      '11',
    );
    expect(heard(['event', '1', 100], ['event', '1', 300], ['info', '1', 800], ['info', '1', 810])).toBe(
      '11',
    );
  });

  it('count once for a key that is held for long, of which INFO tells the beginning', () => {
    expect(heard(['info', '5', 0], ['event', '5', 8_000, 8_000])).toBe('5');
  });

  it('are kept apart by their digit and by time', () => {
    expect(heard(['event', '1', 100], ['info', '2', 130])).toBe('12');
    expect(heard(['event', '1', 100], ['info', '1', 5_000])).toBe('11');
  });

  it('of one way alone are never dropped', () => {
    expect(
      heard(...Array.from({ length: 200 }, (_, i): [KeyWay, string, number] => ['info', '3', i * 10])),
    ).toBe('3'.repeat(200));
  });
});
