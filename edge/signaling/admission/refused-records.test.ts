import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { entryDetail, RefusedRecords } from './refused-records.ts';

describe('entries about rejected calls', () => {
  it('are limited to three per source and organization, and the last one says so', () => {
    const records = new RefusedRecords(new FakeClock());
    const entries = Array.from({ length: 2000 }, () => records.ofStranger('203.0.113.5', 'acme'));
    expect(entries.filter((entry) => entry !== null)).toEqual([
      { leftOut: 0, last: false },
      { leftOut: 0, last: false },
      { leftOut: 0, last: true },
    ]);
  });

  it('give in the next window the number of those left out', () => {
    const clock = new FakeClock();
    const records = new RefusedRecords(clock);
    for (let i = 0; i < 10; i++) records.ofStranger('203.0.113.5', 'acme');
    clock.advance(600_000);
    expect(records.ofStranger('203.0.113.5', 'acme')).toEqual({ leftOut: 7, last: false });
    expect(records.ofStranger('203.0.113.5', 'acme')).toEqual({ leftOut: 0, last: false });
  });

  it('of one organization do not use up those of another, nor of its own sources', () => {
    const records = new RefusedRecords(new FakeClock());
    for (let i = 0; i < 10; i++) records.ofStranger('203.0.113.5', 'acme');
    expect(records.ofStranger('203.0.113.5', 'bolt')).toEqual({ leftOut: 0, last: false });
    expect(records.ofOwn('acme')).toEqual({ leftOut: 7, last: false });
  });

  it('are limited to twenty for all strangers of an organization, however many sources there are', () => {
    const records = new RefusedRecords(new FakeClock());
    const entries = Array.from({ length: 1000 }, (_, i) =>
      records.ofStranger(`203.0.${i >> 8}.${i & 255}`, 'acme'),
    );
    expect(entries.filter((entry) => entry !== null)).toHaveLength(20);
  });

  it('count the addresses of one /64 as one source', () => {
    const records = new RefusedRecords(new FakeClock());
    const entries = Array.from({ length: 10 }, (_, i) => records.ofStranger(`2001:db8::${i}`, 'acme'));
    expect(entries.filter((entry) => entry !== null)).toHaveLength(3);
  });

  it('are dropped beyond a maximum number of sources', () => {
    const records = new RefusedRecords(new FakeClock());
    for (let i = 0; i < 50_000; i++)
      records.ofStranger(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, `o${i}`);
    expect(records.size).toBeLessThanOrEqual(40_000);
  });
});

it.each([
  [{ leftOut: 0, last: false }, null],
  [{ leftOut: 7, last: false }, '7 earlier rejected calls are not in the call log.'],
  [{ leftOut: 0, last: true }, 'Rejected calls in the next 10 minutes are counted, not listed.'],
])('%j is described as %s', (entry, detail) => {
  expect(entryDetail(entry)).toBe(detail);
});
