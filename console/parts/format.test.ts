import { expect, it } from 'vitest';
import { duration, figure, linesOf, offset, valueText } from './format.ts';

it('writes durations like a clock', () => {
  expect([0, 7.9, 65, 3723].map(duration)).toEqual(['0:00', '0:07', '1:05', '1:02:03']);
});

it('writes offsets in seconds, then in minutes', () => {
  expect([0, 34, -18, 62_500].map(offset)).toEqual(['+0.000 s', '+0.034 s', '−0.018 s', '+1:02.5']);
});

it('shows a dash for what was not measured', () => {
  expect([figure(null, 2), figure(undefined, 0, 'ms')]).toEqual(['–', '–']);
  expect(figure(3, 1, 'ms')).toBe('3.0 ms');
});

it('takes one value a line, without spaces and empty lines', () => {
  expect(linesOf(' https://a.example\r\n\n https://b.example ')).toEqual([
    'https://a.example',
    'https://b.example',
  ]);
});

it('leaves a text as it is, and writes other values as JSON', () => {
  expect(['a "b"', 4, null, { c: [true] }].map(valueText)).toEqual(['a "b"', '4', 'null', '{"c":[true]}']);
});
