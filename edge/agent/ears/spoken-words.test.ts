import { describe, expect, it } from 'vitest';
import { heardPart, wordStart } from './spoken-words.ts';

const rate = 8000;
/** A frame of 20 ms for each letter; a space is silent for one, a dot for ten. */
function speech(text: string): Int16Array {
  const frames = [...text].flatMap((letter) =>
    letter === '.' ? Array<number>(10).fill(0) : [letter === ' ' ? 0 : 1000],
  );
  return Int16Array.from(frames.flatMap((level) => Array<number>(160).fill(level)));
}
const text = 'Good day. This is Ada.';
const samples = speech(text);
const after = (frames: number) => heardPart(text, samples, frames * 160, rate);

describe('the words that were heard', () => {
  it.each([
    [0, ''],
    [1, ''],
    [2, 'Good'],
    [5, 'Good'],
    [7, 'Good day.'],
    // In the silence between two sentences.
    [16, 'Good day.'],
    [21, 'Good day. This'],
    [37, text],
  ])('after %i frames: %j', (frames, heard) => {
    expect(after(frames)).toBe(heard);
  });

  it('are all words once all was played, and none of silence', () => {
    expect(heardPart(text, new Int16Array(0), 0, rate)).toBe(text);
    expect(heardPart('One two', new Int16Array(1600), 100, rate)).toBe('');
  });

  it('begin where the letters say', () => {
    expect(wordStart(text, samples, 2 * 160, rate)).toBe(0);
    expect(wordStart(text, samples, 6 * 160, rate)).toBe(5 * 160);
    expect(wordStart(text, samples, 21 * 160, rate)).toBe(19 * 160);
  });
});
