import { expect, it } from 'vitest';
import { ToneDetector } from './answering/tone-detector.ts';
import { ringback } from './ringback.ts';

it('rings for 2 s with two tones and is silent for 4 s, repeatedly', () => {
  const endpoint = ringback();
  const detector = new ToneDetector();
  const frame = new Int16Array(160);
  const rings: boolean[] = [];
  const heard = new Set<string>();
  for (let i = 0; i < 700; i++) {
    rings.push(endpoint.read(frame));
    if (i > 0 && i < 100) heard.add(`${detector.hear(frame, true)} at ${detector.pitchHz}`);
  }
  expect(rings.flatMap((rang, i) => (rang === rings[i - 1] ? [] : [`${i} ${rang}`]))).toEqual([
    '0 true',
    '100 false',
    '300 true',
    '400 false',
    '600 true',
  ]);
  heard.delete('none at 450');
  for (const what of heard) expect(what).toMatch(/^several at 4(25|50|75)$/);
});

it("starts each caller's ring from the beginning", () => {
  const [one, other] = [ringback(), ringback()];
  const first = new Int16Array(160);
  one.read(first);
  one.read(new Int16Array(160));
  const frame = new Int16Array(160);
  other.read(frame);
  expect(frame).toEqual(first);
  expect(Math.max(...frame)).toBeGreaterThan(4000);
  expect(Math.max(...frame)).toBeLessThan(6000);
});
