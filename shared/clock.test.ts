import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeClock, systemClock } from './clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([
  ['longest delay of a Node timer', 2 ** 31 - 1],
  ['one millisecond more', 2 ** 31],
  ['100 days', 100 * 86_400_000],
])('fires on time after the %s', (_name, ms) => {
  const fire = vi.fn();
  systemClock.after(ms, fire);
  vi.advanceTimersByTime(ms - 1);
  expect(fire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fire).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

it('can be canceled after it was set again', () => {
  const fire = vi.fn();
  const timer = systemClock.after(2 ** 33, fire);
  vi.advanceTimersByTime(2 ** 32);
  timer.cancel();
  expect(vi.getTimerCount()).toBe(0);
});

it('a clock moved by hand passes time in which no timer falls due', () => {
  const clock = new FakeClock(0);
  const fire = vi.fn();
  clock.after(10, fire);
  clock.pass(60_000);
  expect([clock.now(), clock.elapsed()]).toEqual([60_000, 60_000]);
  clock.advance(9);
  expect(fire).not.toHaveBeenCalled();
  clock.advance(1);
  expect(fire).toHaveBeenCalledOnce();
});
