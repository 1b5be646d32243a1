import { expect, it } from 'vitest';
import { FakeClock } from './clock.ts';
import { Timers } from './timers.ts';

it('timers fire, and are stopped one by one or together', () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const fired: string[] = [];
  timers.after(1, () => fired.push('one'));
  const two = timers.after(2, () => fired.push('two'));
  timers.after(3, () => fired.push('three'));
  two.cancel();
  clock.advance(2);
  timers.stop();
  expect(clock.pending).toBe(0);
  timers.after(1, () => fired.push('four'));
  clock.advance(10);
  expect(fired).toEqual(['one', 'four']);
});

it('a timer may set and stop timers while it fires', () => {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const fired: string[] = [];
  timers.after(1, () => {
    timers.stop();
    timers.after(1, () => fired.push('next'));
  });
  timers.after(1, () => fired.push('stopped'));
  clock.advance(2);
  expect(fired).toEqual(['next']);
});
