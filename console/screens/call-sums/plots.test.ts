import { expect, it } from 'vitest';
import { shownTimes, spanOf } from './plots.ts';

const now = Date.parse('2030-03-01T10:00:00.000Z');

it('asks for the last 30 days by day', () => {
  expect(spanOf('', '', now)).toEqual({ by: 'day', from_date: '2030-01-30' });
  expect(spanOf('', '2030-02-14', now)).toEqual({
    by: 'day',
    from_date: '2030-01-16',
    to_date: '2030-02-14',
  });
});

it('asks for a week or less by hour', () => {
  expect(spanOf('2030-02-26', '', now)).toEqual({ by: 'hour', from_date: '2030-02-26' });
  expect(spanOf('2030-02-01', '2030-02-07', now).by).toBe('hour');
  expect(spanOf('2030-02-01', '2030-02-08', now).by).toBe('day');
});

it('gives a single period an axis of its own length', () => {
  expect(shownTimes([7200], 'hour')).toEqual([3600, 10_800]);
  expect(shownTimes([86_400], 'day')).toEqual([0, 172_800]);
  expect(shownTimes([0, 86_400, 345_600], 'day')).toEqual([0, 345_600]);
});

it('leaves a date that is none to the API', () => {
  expect(spanOf('x', '', now).from_date).toBe('x');
});
