import { expect, it } from 'vitest';
import { SoundPace } from './sound-pace.ts';

/** How many pieces come in time, of 1000. */
function piecesOf(waitedMs: number, soundMs: number): number {
  const pace = new SoundPace();
  let pieces = 0;
  while (pieces < 1000 && pace.takes(waitedMs, soundMs)) pieces++;
  return pieces;
}

it('lets sound come as slowly as a quarter of its length, and more slowly for 8 s', () => {
  expect(piecesOf(400, 100)).toBe(1000);
  expect(piecesOf(8_000, 0)).toBe(1);
  expect(piecesOf(4_000, 1)).toBe(2);
});
