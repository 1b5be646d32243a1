import { describe, expect, it } from 'vitest';
import { FirstSound } from './first-sound.ts';

/** A line of which 5 s were heard. @param floor RMS of what sounds on it always */
function line(floor = 20, heardMs = 5000) {
  const sounds = new FirstSound();
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) sounds.frame(floor, false, floor);
  };
  /** @returns the frames of a sound with which it was told */
  const hears = (level = 1000, frames = 3) => {
    const told: number[] = [];
    // A loud sound raises the floor of the line.
    for (let i = 1; i <= frames; i++) if (sounds.frame(level, true, floor + (i - 1) * 50)) told.push(i);
    return told;
  };
  pass(heardMs);
  return { sounds, pass, hears };
}

describe('the first sound of a word', () => {
  it('is three loud frames that the first stage takes for a voice', () => {
    expect(line().hears(1000)).toEqual([3]);
    expect(line().hears(199)).toEqual([]);
    const { sounds, pass, hears } = line();
    expect(hears(1000, 2)).toEqual([]);
    pass(20);
    expect(hears(1000, 2)).toEqual([]);
    expect(sounds.frame(1000, false, 20)).toBe(false);
  });

  it('is two softer frames when Silero hears a little of a voice in them', () => {
    const { sounds, pass, hears } = line(10);
    expect(hears(120, 1)).toEqual([]);
    expect(sounds.judged(0.1)).toBe(false);
    expect(sounds.frame(120, true, 10)).toBe(true);
    sounds.judged(0.9);
    pass(400);
    // The judgement may come after the frames.
    expect(hears(120, 2)).toEqual([]);
    expect(sounds.judged(0.09)).toBe(false);
    expect(sounds.judged(0.1)).toBe(true);
    expect(sounds.judged(0.2)).toBe(false);
  });

  it('is none when Silero hears nothing of a voice in it, however loud it is', () => {
    const { sounds, pass, hears } = line();
    sounds.frame(5000, true, 20);
    sounds.judged(0.02);
    expect(hears(5000, 10)).toEqual([]);
    pass(20);
    // Nor does it count as a mistake.
    pass(400);
    expect(hears()).toEqual([3]);
  });

  it('is told once, and not at the end of a word', () => {
    const { sounds, pass, hears } = line();
    expect(hears(1000, 6)).toEqual([3]);
    sounds.judged(0.9);
    pass(200);
    expect(hears()).toEqual([]);
    pass(300);
    expect(hears()).toEqual([3]);
  });

  it('is relied on before the line is known only when Silero is sure of a voice', () => {
    const early = line(20, 1000);
    expect(early.hears()).toEqual([]);
    expect(early.sounds.judged(0.49)).toBe(false);
    expect(early.sounds.judged(0.7)).toBe(true);
    const sure = line(20, 1000);
    expect(sure.hears(1000, 2)).toEqual([]);
    expect(sure.sounds.judged(0.9)).toBe(true);
    const first = line(20, 900);
    first.hears(1000, 2);
    expect(first.sounds.judged(0.9)).toBe(false);
  });

  it('is not relied on where something sounds always', () => {
    expect(line(61).hears()).toEqual([]);
    expect(line(60).hears()).toEqual([3]);
  });

  it('is not relied on for a while after one that no voice has followed: twice as long each time', () => {
    const { sounds, pass, hears } = line();
    expect(hears()).toEqual([3]);
    pass(320 + 19_900);
    expect(hears()).toEqual([]);
    // That one was no word either.
    pass(320 + 39_900);
    expect(hears()).toEqual([]);
    sounds.judged(0.9);
    pass(100);
    pass(300);
    expect(hears()).toEqual([3]);
    pass(320 + 20_000);
    expect(hears()).toEqual([3]);
  });
});
