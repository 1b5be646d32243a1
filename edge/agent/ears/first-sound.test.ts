import { describe, expect, it } from 'vitest';
import { FirstSound } from './first-sound.ts';

/** A line of which 5 s were heard. @param floor RMS of what sounds on it always */
function line(floor = 20) {
  const sounds = new FirstSound();
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) sounds.frame(floor, false, floor);
  };
  /** @returns whether a sound of 40 ms is taken for the first of a word */
  const hears = (level = 1000) => {
    const first = sounds.frame(level, true, floor);
    return sounds.frame(level, true, floor) && !first;
  };
  pass(5000);
  return { sounds, pass, hears };
}

describe('the first sound of a word', () => {
  it('is two loud frames that the first stage takes for a voice', () => {
    expect(line().hears()).toBe(true);
    expect(line().hears(200)).toBe(false);
    const { sounds, pass } = line();
    sounds.frame(1000, true, 20);
    pass(20);
    expect(sounds.frame(1000, true, 20)).toBe(false);
    expect(sounds.frame(1000, false, 20)).toBe(false);
  });

  it('is told once, and not at the end of a word', () => {
    const { sounds, pass, hears } = line();
    expect([hears(), hears()]).toEqual([true, false]);
    sounds.judged(0.9);
    pass(200);
    expect(hears()).toBe(false);
    pass(300);
    expect(hears()).toBe(true);
  });

  it('is not relied on before the line is known, and where something sounds always', () => {
    const sounds = new FirstSound();
    sounds.frame(1000, true, 20);
    expect(sounds.frame(1000, true, 20)).toBe(false);
    expect(line(61).hears()).toBe(false);
    expect(line(60).hears()).toBe(true);
  });

  it('is not relied on for a while after one that no voice has followed: twice as long each time', () => {
    const { sounds, pass, hears } = line();
    expect(hears()).toBe(true);
    pass(320 + 19_900);
    expect(hears()).toBe(false);
    // That one was no word either.
    pass(320 + 39_900);
    expect(hears()).toBe(false);
    sounds.judged(0.9);
    pass(100);
    pass(300);
    expect(hears()).toBe(true);
    pass(320 + 20_000);
    expect(hears()).toBe(true);
  });
});
