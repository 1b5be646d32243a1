import { expect, it } from 'vitest';
import { drawable } from './flow.ts';

const way = (source: string, target: string, value: number) => ({ source, target, value });

it('leaves out the less travelled way of a circle', () => {
  const ways = [way('b', 'a', 2), way('a', 'b', 9), way('b', 'c', 5), way('c', 'a', 1), way('a', 'a', 3)];
  expect(drawable(ways)).toEqual({ drawn: [way('a', 'b', 9), way('b', 'c', 5)], left: 3 });
});

it('draws the most travelled ways, and counts the others', () => {
  const ways = Array.from({ length: 200 }, (_, index) => way('a', `n${index}`, index));
  const { drawn, left } = drawable(ways);
  expect([drawn.length, left, drawn[0]?.value]).toEqual([120, 80, 199]);
});
