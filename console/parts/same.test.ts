/** Which answers say the same. */
import { expect, it } from 'vitest';
import { isSame } from './same.ts';

const answer = () => ({
  rows: [{ id: 1, at: null, tags: ['a', 'b'] }],
  more: false,
  names: new Map([['x', { y: 1 }]]),
});

it('finds equal answers equal, whatever the order of their members', () => {
  expect(isSame(answer(), answer())).toBe(true);
  const { rows, more, names } = answer();
  expect(isSame(answer(), { names, more, rows })).toBe(true);
});

it('finds each difference', () => {
  const [row] = answer().rows;
  const others = [
    { ...answer(), more: true },
    { ...answer(), next: undefined },
    { ...answer(), rows: [] },
    { ...answer(), rows: [row, row] },
    { ...answer(), rows: [{ ...row, at: '' }] },
    { ...answer(), rows: [{ ...row, tags: ['b', 'a'] }] },
    { ...answer(), rows: { 0: row } },
    { ...answer(), names: new Map([['x', { y: 2 }]]) },
    null,
    [],
  ];
  expect(others.filter((other) => isSame(answer(), other) || isSame(other, answer()))).toEqual([]);
});

it('takes what it does not know for different', () => {
  expect(isSame(new Date(0), new Date(0))).toBe(false);
});
