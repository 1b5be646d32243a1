import { expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { RunTimer } from './run-timer.ts';

test('the time of a run stands still while it waits, and is over for good when it is stopped', () => {
  const clock = new FakeClock();
  let over = 0;
  const timer = new RunTimer(clock, 1000, () => over++);
  clock.advance(400);
  timer.pause();
  timer.pause();
  clock.advance(5000);
  timer.resume();
  timer.resume();
  clock.advance(599);
  expect(over).toBe(0);
  clock.advance(1);
  expect(over).toBe(1);
  const stopped = new RunTimer(clock, 1000, () => over++);
  stopped.pause();
  stopped.stop();
  stopped.resume();
  clock.advance(5000);
  expect([over, clock.pending]).toEqual([1, 0]);
});
