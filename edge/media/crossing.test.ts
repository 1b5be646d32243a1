import { describe, expect, test } from 'vitest';
import { crossing, crossingRate, FrameQueue } from './crossing.ts';

const frameOf = (value: number) => new Int16Array(160).fill(value);

/** Output of the queue: the frames' first samples, null when it gave none. */
function take(queue: FrameQueue, count: number): (number | null)[] {
  const frame = new Int16Array(160);
  return Array.from({ length: count }, () => (queue.shift(frame) ? (frame[0] ?? 0) : null));
}

describe('a queue of frames', () => {
  test('returns frames in order, and nothing when it is empty', () => {
    const queue = new FrameQueue(160);
    const frame = frameOf(1);
    queue.push(frame);
    frame.fill(9);
    queue.push(frameOf(2));
    expect(take(queue, 3)).toEqual([1, 2, null]);
  });

  test('reports silence as nothing to read', () => {
    const queue = new FrameQueue(160);
    queue.push(frameOf(0));
    queue.push(frameOf(3));
    expect(take(queue, 2)).toEqual([null, 3]);
  });

  test("survives when one leg's catch-up turns all run before the other's", () => {
    const queue = new FrameQueue(160);
    for (let i = 1; i <= 6; i++) queue.push(frameOf(i));
    expect(take(queue, 6)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('drops the oldest frames when nobody reads', () => {
    const queue = new FrameQueue(160);
    for (let i = 1; i <= 20; i++) queue.push(frameOf(i));
    expect(queue.length).toBe(6);
    expect(take(queue, 6)).toEqual([15, 16, 17, 18, 19, 20]);
  });

  test('drops a frame that has only added delay for half a second', () => {
    const queue = new FrameQueue(160);
    queue.push(frameOf(100));
    const heard: (number | null)[] = [];
    for (let i = 1; i <= 40; i++) {
      queue.push(frameOf(i));
      heard.push(...take(queue, 1));
    }
    expect(queue.length).toBe(0);
    expect(heard.slice(0, 3)).toEqual([100, 1, 2]);
    expect(heard.slice(24, 27)).toEqual([24, 26, 27]);
    expect(heard.at(-1)).toBe(40);
  });
});

describe('a crossing', () => {
  test('carries audio to the other end and not back, and key presses to their recipient', () => {
    const pressed: string[] = [];
    const [one, other] = crossing(8000, {
      ofOne: ({ digit }) => void pressed.push(`one ${digit}`),
      ofOther: ({ digit }) => void pressed.push(`other ${digit}`),
    });
    one.write?.(frameOf(7));
    const frame = new Int16Array(160);
    expect(one.read(frame)).toBe(false);
    expect(other.read(frame)).toBe(true);
    expect(frame[0]).toBe(7);
    one.dtmf?.({ digit: '1', durationMs: 100 });
    other.dtmf?.({ digit: '2', durationMs: 100 });
    expect(pressed).toEqual(['one 1', 'other 2']);
  });

  test('uses 16 kHz only when both codecs are better than telephone quality', () => {
    expect(crossingRate('Opus', 'G.722')).toBe(16_000);
    expect(crossingRate('Opus', 'PCMU')).toBe(8000);
    expect(crossingRate('G.729', 'G.722')).toBe(8000);
  });
});
