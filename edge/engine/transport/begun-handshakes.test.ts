import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { BegunHandshakes } from './begun-handshakes.ts';

function scene() {
  const clock = new FakeClock();
  const told = { times: 0 };
  const begun = new BegunHandshakes(() => {
    told.times++;
  }, clock);
  const begin = (from: number, count: number) => {
    for (let index = from; index < from + count; index++) begun.began(`peer ${index}`);
  };
  return { clock, begun, begin, told };
}

it('has room for 64, and for more as they end', () => {
  const { begun, begin, told } = scene();
  begin(0, 63);
  expect(begun.room).toBe(1);
  begun.ended('peer 3');
  begun.ended('peer 3');
  begun.ended('an unknown one');
  expect(begun.room).toBe(2);
  expect(told.times).toBe(0);
  begin(63, 2);
  expect(begun.room).toBe(0);
  begun.ended('peer 5');
  expect([begun.room, told.times]).toEqual([1, 1]);
});

it('counts nobody longer than a quarter of a second, and tells of it once', () => {
  const { clock, begun, begin, told } = scene();
  begin(0, 32);
  clock.advance(100);
  begin(32, 32);
  expect(begun.room).toBe(0);
  clock.advance(149);
  expect([begun.room, told.times]).toEqual([0, 0]);
  clock.advance(1);
  expect([told.times, begun.room]).toEqual([1, 32]);
  clock.advance(100);
  expect([told.times, begun.room]).toEqual([1, 64]);
});

it('sets no timer without need, and leaves none behind', () => {
  const { clock, begun, begin, told } = scene();
  begin(0, 64);
  expect(begun.room).toBe(0);
  begun.close();
  clock.advance(1_000);
  expect(told.times).toBe(0);
  expect(begun.room).toBe(64);
});
