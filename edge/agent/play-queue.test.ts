import { expect, it } from 'vitest';
import { PlayQueue } from './play-queue.ts';

const ramp = (from: number, length: number) => Int16Array.from({ length }, (_, i) => from + i);

function read(queue: PlayQueue, size = 4): number[] | null {
  const frame = new Int16Array(size).fill(-1);
  return queue.read(frame) ? [...frame] : null;
}

it('plays audio of any length in order, and pads with silence', () => {
  const queue = new PlayQueue(100);
  queue.push(ramp(1, 3));
  queue.push(ramp(4, 6));
  expect(queue.queuedSamples).toBe(9);
  expect([read(queue), read(queue), read(queue), read(queue)]).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 0, 0, 0],
    null,
  ]);
  expect(queue.queuedSamples).toBe(0);
});

it('fires a mark in the read after the one that took the last sample before it', () => {
  const queue = new PlayQueue(100);
  const events: string[] = [];
  queue.push(ramp(1, 4));
  queue.mark(() => events.push('first'));
  queue.push(ramp(5, 2));
  queue.mark(() => events.push('second'));
  read(queue);
  expect(events).toEqual([]);
  expect(queue.playing).toBe(true);
  read(queue);
  expect(events).toEqual(['first']);
  read(queue);
  expect(events).toEqual(['first', 'second']);
  expect(queue.playing).toBe(false);
});

it('fires a mark without audio before it in the next read', () => {
  const queue = new PlayQueue(100);
  let fired = 0;
  queue.mark(() => fired++);
  expect(read(queue)).toBeNull();
  expect(fired).toBe(1);
});

it('fires all marks once, in order, when it is cleared', () => {
  const queue = new PlayQueue(100);
  const events: number[] = [];
  queue.push(ramp(1, 4));
  queue.mark(() => events.push(1));
  queue.push(ramp(1, 40));
  queue.mark(() => events.push(2));
  queue.mark(() => events.push(3));
  read(queue);
  queue.clear();
  expect(events).toEqual([1, 2, 3]);
  expect(read(queue)).toBeNull();
  expect(events).toEqual([1, 2, 3]);
});

it('drops what exceeds its size and reports how much', () => {
  const queue = new PlayQueue(6);
  expect(queue.push(ramp(1, 4))).toBe(0);
  expect(queue.push(ramp(5, 4))).toBe(2);
  expect(queue.push(ramp(9, 1))).toBe(1);
  expect([read(queue), read(queue)]).toEqual([
    [1, 2, 3, 4],
    [5, 6, 0, 0],
  ]);
});

it('keeps its order when it is rarely empty', () => {
  const queue = new PlayQueue(100_000);
  const heard: number[] = [];
  let marks = 0;
  for (let i = 0; i < 2000; i++) {
    queue.push(ramp(4 * i, 4));
    queue.mark(() => marks++);
    if (i > 0) heard.push(...(read(queue) ?? []));
  }
  expect(heard).toEqual(Array.from({ length: 7996 }, (_, i) => i));
  expect(marks).toBe(1998);
});

it('when it was full, has room again once a hundredth of it has been played', () => {
  const queue = new PlayQueue(800);
  expect(queue.hasRoom).toBe(true);
  queue.push(ramp(1, 800));
  expect(queue.hasRoom).toBe(false);
  read(queue);
  expect(queue.hasRoom).toBe(false);
  read(queue);
  expect(queue.hasRoom).toBe(true);
});

it('a source that has played without a gap for 4 s is not taken for a slow one at the next gap', () => {
  const queue = new PlayQueue(100_000);
  const silentAfterGap = () => {
    let silent = 0;
    do queue.push(ramp(1, 4));
    while (read(queue) === null && ++silent);
    while (read(queue));
    return silent;
  };
  queue.push(ramp(1, 4));
  queue.begin();
  while (read(queue));
  // Frames that are gathered: 10, 20, 40, 50, and the first of them after sound that is steady.
  expect([silentAfterGap(), silentAfterGap(), silentAfterGap(), silentAfterGap()]).toEqual([9, 19, 39, 49]);
  queue.push(ramp(1, 4 * 250));
  while (read(queue));
  expect(silentAfterGap()).toBe(9);
});
