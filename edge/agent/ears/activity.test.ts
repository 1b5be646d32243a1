import { describe, expect, it } from 'vitest';
import { Activity, chunkLimits, frameLimits } from './activity.ts';

/** `v`: a voice, `.`: none; each 20 ms. @returns what was seen after each piece */
function follow(pieces: string) {
  const activity = new Activity(frameLimits);
  return [...pieces].map((piece) => {
    const begins = activity.take(20, piece === 'v' ? 1 : 0);
    const { voice, voicedMs, quietMs } = activity;
    return { begins, voice, voicedMs, quietMs };
  });
}

describe('the activity of a voice', () => {
  it('begins with three of the last four pieces', () => {
    expect(follow('v.v.vv').map(({ begins }) => begins)).toEqual([false, false, false, false, false, true]);
    expect(follow('v..v..v..v').some(({ begins }) => begins)).toBe(false);
  });

  it('counts the voice without its gaps, and the gap', () => {
    expect(follow('vvv..v').at(-1)).toEqual({ begins: false, voice: true, voicedMs: 80, quietMs: 0 });
    expect(follow('vvv..').at(-1)).toEqual({ begins: false, voice: true, voicedMs: 60, quietMs: 40 });
  });

  it('pauses after a gap of more than 240 ms, and begins again with as much voice as at first', () => {
    const seen = follow(`vvv${'.'.repeat(12)}.v.v.vvv`);
    expect(seen.map(({ voice }, i) => (voice ? i : -1)).filter((i) => i >= 0)).toEqual([
      ...Array.from({ length: 13 }, (_, i) => i + 2),
      21,
      22,
    ]);
    expect(seen[20]).toMatchObject({ voice: false, quietMs: 360 });
    expect(seen[21]).toEqual({ begins: true, voice: true, voicedMs: 60, quietMs: 0 });
  });

  it('stays with a weaker voice than it begins with', () => {
    const activity = new Activity(frameLimits);
    for (let i = 0; i < 10; i++) activity.take(20, 0.4);
    expect(activity.spoken).toBe(false);
    for (let i = 0; i < 3; i++) activity.take(20, 0.5);
    activity.take(20, 0.4);
    expect([activity.voicedMs, activity.quietMs]).toEqual([80, 0]);
    activity.forget();
    expect([activity.spoken, activity.voice, activity.quietMs]).toEqual([false, false, 0]);
  });

  it('begins with one piece that is surely a voice, or with two of three that may be', () => {
    const begins = (...probabilities: number[]) => {
      const activity = new Activity(chunkLimits);
      return probabilities.map((one) => activity.take(32, one));
    };
    expect(begins(0.2, 0.55)).toEqual([false, true]);
    expect(begins(0.45, 0.2, 0.45)).toEqual([false, false, true]);
    expect(begins(0.45, 0.1, 0.1, 0.45)).toEqual([false, false, false, false]);
  });

  it('needs a surer voice where much else sounds', () => {
    const begins = (...probabilities: number[]) => {
      const activity = new Activity(chunkLimits);
      return probabilities.map((one) => activity.take(32, one, true));
    };
    expect(begins(0.65, 0.65, 0.9, 0.65)).toEqual([false, false, false, false]);
    expect(begins(0.75, 0.2, 0.75)).toEqual([false, false, true]);
    expect(begins(0.97)).toEqual([true]);
  });
});
