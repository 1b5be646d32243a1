import { expect, test } from 'vitest';
import { HeardLevels } from './heard-levels.ts';

const frame = (amplitude: number) => new Int16Array(160).fill(amplitude);

test('the loudest and the quietest tenth are averaged', () => {
  const levels = new HeardLevels();
  for (let i = 0; i < 80; i++) levels.add(frame(1000));
  for (let i = 0; i < 10; i++) levels.add(frame(32_767));
  for (let i = 0; i < 10; i++) levels.add(frame(10));
  expect([levels.loud, levels.quiet]).toEqual([0, -70]);
});

test('of equal frames both are the same', () => {
  const levels = new HeardLevels();
  for (let i = 0; i < 33; i++) levels.add(frame(3277));
  expect([levels.loud, levels.quiet]).toEqual([-20, -20]);
});

test('where nothing arrives, before, between or after packets, no level is counted', () => {
  const levels = new HeardLevels();
  for (const amplitude of [0, 3277, 0, 3277, 0]) {
    for (let i = 0; i < 10; i++) levels.add(frame(amplitude));
  }
  expect([levels.loud, levels.quiet]).toEqual([-20, -20]);
});

test('who heard nothing has no levels', () => {
  const levels = new HeardLevels();
  levels.add(frame(0));
  expect([levels.loud, levels.quiet]).toEqual([null, null]);
});
