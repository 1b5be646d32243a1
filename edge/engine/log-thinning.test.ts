import { expect, it } from 'vitest';
import { LogThinning } from './log-thinning.ts';

it('lets one line a minute and source through, with the number of those left out', () => {
  const thinning = new LogThinning();
  expect(thinning.tell('a', 0)).toEqual({ leftOut: 0 });
  expect(thinning.tell('a', 1)).toBeNull();
  expect(thinning.tell('b', 2)).toEqual({ leftOut: 0 });
  expect(thinning.tell('a', 59_999)).toBeNull();
  expect(thinning.tell('a', 60_000)).toEqual({ leftOut: 2 });
  expect(thinning.tell('a', 60_001)).toBeNull();
});

it('goes on when the clock is set back', () => {
  const thinning = new LogThinning();
  thinning.tell('a', 3_600_000);
  expect(thinning.tell('a', 0)).toEqual({ leftOut: 0 });
});

it('remembers no more sources than it may', () => {
  const thinning = new LogThinning();
  for (let source = 0; source < 10_000; source++) thinning.tell(String(source), 0);
  expect(thinning.tell('0', 1)).toBeNull();
  expect(thinning.tell('one more', 1)).toEqual({ leftOut: 0 });
  expect(thinning.tell('0', 2)).toEqual({ leftOut: 0 });
});
