import { describe, expect, test } from 'vitest';
import { Recording } from './recording.ts';

const frame = (first: number) => Int16Array.from({ length: 160 }, (_, index) => first + index);

describe('a recording', () => {
  test('holds nothing, and no memory, before the first frame', () => {
    const recording = new Recording(8000 * 30);
    expect(recording.length).toBe(0);
    expect(recording.take()).toEqual(new Int16Array(0));
  });

  test('returns what was appended, in order, and starts over', () => {
    const recording = new Recording(8000 * 30);
    // Longer than several of its buffers.
    const frames = Array.from({ length: 200 }, (_, index) => frame(index * 160 - 16_000));
    for (const one of frames) expect(recording.append(one)).toBe(true);
    expect(recording.take()).toEqual(Int16Array.from(frames.flatMap((one) => [...one])));
    recording.append(frame(7));
    expect(recording.take()).toEqual(frame(7));
  });

  test('drops the oldest samples', () => {
    const recording = new Recording(8000);
    recording.append(frame(0));
    recording.append(frame(160));
    recording.drop(160);
    expect(recording.length).toBe(160);
    expect(recording.take()).toEqual(frame(160));
    recording.drop(160);
    expect(recording.length).toBe(0);
  });

  test('takes frames up to its limit exactly, and none beyond', () => {
    const recording = new Recording(320);
    expect([0, 160, 320].map((first) => recording.append(frame(first)))).toEqual([true, true, false]);
    expect(recording.take()).toHaveLength(320);
    expect(recording.append(frame(0))).toBe(true);
  });

  test('changes of what it returned do not reach what follows', () => {
    const recording = new Recording(8000);
    recording.append(frame(0));
    const taken = recording.take();
    recording.append(frame(1));
    taken.fill(9);
    expect(recording.take()).toEqual(frame(1));
  });
});
