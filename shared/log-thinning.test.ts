import { expect, it } from 'vitest';
import { LogThinning } from './log-thinning.ts';

it('passes one line per minute and source, with the number of suppressed ones', () => {
  const thinning = new LogThinning();
  expect(thinning.next('a', 0)).toEqual({ leftOut: 0 });
  expect(thinning.next('a', 1)).toBeNull();
  expect(thinning.next('b', 2)).toEqual({ leftOut: 0 });
  expect(thinning.next('a', 59_999)).toBeNull();
  expect(thinning.next('a', 60_000)).toEqual({ leftOut: 2 });
  expect(thinning.next('a', 60_001)).toBeNull();
});

it('remembers no more sources than its limit', () => {
  const thinning = new LogThinning();
  // 600 lines a minute, so each source gets one.
  const minuteOf = (source: number) => Math.floor(source / 600) * 60_000;
  for (let source = 0; source < 10_000; source++) thinning.next(String(source), minuteOf(source));
  const now = minuteOf(9_999) + 60_000;
  expect(thinning.next('9999', now - 1)).toBeNull();
  expect(thinning.next('one more', now)).toEqual({ leftOut: 0 });
  expect(thinning.next('9999', now)).toEqual({ leftOut: 0 });
});

it('suppresses lines that many sources cause together, and counts them', () => {
  const thinning = new LogThinning();
  const lines = Array.from({ length: 1000 }, (_, i) => thinning.next(`192.0.${i >> 8}.${i & 255}`, 0));
  expect(lines.filter((line) => line !== null)).toHaveLength(600);
  expect(thinning.next('203.0.113.1', 59_999)).toBeNull();
  expect(thinning.next('203.0.113.1', 60_000)).toEqual({ leftOut: 401 });
});

it('treats the addresses of one /64 as one source', () => {
  const thinning = new LogThinning();
  expect(thinning.next('2001:db8::1', 0)).toEqual({ leftOut: 0 });
  expect(thinning.next('2001:db8::2', 0)).toBeNull();
});
