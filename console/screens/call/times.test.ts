import { expect, it } from 'vitest';
import { Axis, lastBegun, marks, markText, within } from './times.ts';

const whole = { fromMs: 0, toMs: 60_000 };

it('keeps the length of a span that it moves into the whole', () => {
  expect(within({ fromMs: -5000, toMs: 5000 }, whole)).toEqual({ fromMs: 0, toMs: 10_000 });
  expect(within({ fromMs: 55_000, toMs: 65_000 }, whole)).toEqual({ fromMs: 50_000, toMs: 60_000 });
});

it('shows nothing longer than the whole, and nothing too short to see', () => {
  expect(within({ fromMs: -5000, toMs: 90_000 }, whole)).toEqual(whole);
  expect(within({ fromMs: 1000, toMs: 1001 }, whole)).toEqual({ fromMs: 1000, toMs: 1200 });
});

it('grows with a call that goes on, unless a part of it was chosen', () => {
  const axis = new Axis();
  axis.stretch(10_000);
  expect(axis.shown.value).toEqual({ fromMs: 0, toMs: 10_000 });
  axis.stretch(20_000);
  expect(axis.shown.value).toEqual({ fromMs: 0, toMs: 20_000 });
  axis.show({ fromMs: 5000, toMs: 8000 });
  axis.stretch(30_000);
  expect(axis.shown.value).toEqual({ fromMs: 5000, toMs: 8000 });
});

it('zooms around the moment that is pointed at, else around the middle', () => {
  const axis = new Axis();
  axis.stretch(10_000);
  axis.zoom(0.5);
  expect(axis.shown.value).toEqual({ fromMs: 2500, toMs: 7500 });
  axis.pointed.value = 2500;
  axis.zoom(0.5);
  expect(axis.shown.value).toEqual({ fromMs: 2500, toMs: 5000 });
});

it('puts marks at round moments', () => {
  expect(marks({ fromMs: 0, toMs: 8000 }, 800)).toEqual([0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]);
  expect(marks({ fromMs: 1300, toMs: 3100 }, 180)).toEqual([2000, 3000]);
});

it('writes fractions only where marks are close', () => {
  expect(markText(65_000, whole)).toBe('1:05');
  expect(markText(2500, { fromMs: 0, toMs: 5000 })).toBe('0:02.5');
});

it('finds the item that began last', () => {
  expect(lastBegun([0, 10, 20], 15)).toBe(1);
  expect(lastBegun([5], 1)).toBe(-1);
});
