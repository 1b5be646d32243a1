import { expect, it } from 'vitest';
import { failuresAfter, lostLine, restartPause } from '../scripts/supervisor/restart-rules.ts';

it.each([
  [1, 500],
  [2, 1_000],
  [3, 2_000],
  [4, 4_000],
  [5, 5_000],
  [6, 5_000],
  [1_000, 5_000],
])('after %i early exits in a row the program restarts in %i ms', (failures, ms) => {
  expect(restartPause(failures)).toBe(ms);
});

it.each([
  [0, 0, 1],
  [3, 59_999, 4],
  [3, 60_000, 1],
])('%i early exits and then a run of %i ms count as %i', (failures, ranMs, after) => {
  expect(failuresAfter(failures, ranMs)).toBe(after);
});

it('names the log after five early exits, and at each doubling', () => {
  const reported = Array.from({ length: 45 }, (_, index) => index + 1).filter((failures) =>
    /faults\//.test(lostLine('edge', 'ended with exit code 70', 5_000, failures)),
  );
  expect(reported).toEqual([5, 10, 20, 40]);
  expect(lostLine('edge', 'was killed by SIGKILL', 500, 1)).toBe(
    'edge was killed by SIGKILL; restarting in 0.5 s',
  );
});
