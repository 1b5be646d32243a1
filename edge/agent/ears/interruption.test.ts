import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Flite } from '#shared/models/flite.ts';
import { framesOf } from '../../../test/kit/fakes/sounds.ts';
import { Ear } from './ear.ts';
import { Interruption } from './interruption.ts';
import { WebrtcDetectors } from './webrtc-detector.ts';

function setUp({ partialWords = false } = {}) {
  const clock = new FakeClock();
  const seen: string[] = [];
  const state = { playing: true, allowed: true };
  const interruption = new Interruption({
    sound: {
      get playing() {
        return state.playing;
      },
      hold: () => seen.push('hold'),
      resume: (heldMs) => seen.push(`resume after ${heldMs}`),
      lower: () => seen.push('lower'),
      raise: () => seen.push('raise'),
    },
    clock,
    allowed: () => state.allowed,
    cut: (by) => seen.push(`cut by ${by}`),
    partialWords,
  });
  return { clock, interruption, seen, state };
}

describe('an interruption', () => {
  it('waits 250 ms for words that are on their way, where words are known while they are spoken', () => {
    const { clock, interruption, seen } = setUp({ partialWords: true });
    interruption.voice();
    clock.advance(400);
    interruption.pause();
    clock.advance(249);
    expect(seen).toEqual(['hold']);
    clock.advance(1);
    expect(seen).toEqual(['hold', 'resume after 650']);
    interruption.voice();
    interruption.pause();
    clock.advance(200);
    interruption.word();
    clock.advance(1000);
    expect(seen.slice(2)).toEqual(['hold', 'cut by the caller']);
    expect([clock.pending, interruption.suspected]).toEqual([0, false]);
  });

  it('is judged by its length where no words are known', () => {
    const { clock, interruption, seen } = setUp();
    interruption.voice();
    clock.advance(300);
    interruption.pause();
    expect(seen).toEqual(['hold', 'resume after 300']);
    interruption.voice();
    interruption.longVoice();
    expect(seen.slice(2)).toEqual(['hold', 'cut by the caller']);
  });

  it('stops nothing while the agent must not be interrupted; a speech that is held goes on', () => {
    const { interruption, seen, state } = setUp();
    state.allowed = false;
    interruption.voice();
    interruption.longVoice();
    interruption.key();
    expect(seen).toEqual([]);
    state.allowed = true;
    interruption.voice();
    state.allowed = false;
    interruption.longVoice();
    expect(seen).toEqual(['hold', 'resume after 0']);
  });

  it('ends the turn of an agent that is silent by a long voice or a key, not by a short one', () => {
    const { interruption, seen, state } = setUp();
    state.playing = false;
    interruption.voice();
    expect(seen).toEqual([]);
    interruption.longVoice();
    interruption.key();
    expect(seen).toEqual(['cut by the caller', 'cut by a key press']);
  });

  it('holds the speech at the first sound of a word, and lets it go on when no voice follows in 240 ms', () => {
    const { clock, interruption, seen } = setUp();
    for (let time = 0; time < 3; time++) {
      interruption.firstSound();
      interruption.firstSound();
      clock.advance(239);
      expect(interruption.suspected).toBe(true);
      clock.advance(1);
      expect(interruption.suspected).toBe(false);
    }
    // None of them was a false interruption.
    expect(seen).toEqual(Array.from({ length: 3 }, () => ['hold', 'resume after 240']).flat());
    interruption.firstSound();
    clock.advance(200);
    interruption.voice();
    clock.advance(1000);
    interruption.firstSound();
    interruption.word();
    expect(seen.slice(6)).toEqual(['hold', 'cut by the caller']);
    expect([clock.pending, interruption.suspected]).toEqual([0, false]);
  });

  it('takes no first sound for an interruption of a silent agent, or after two false interruptions', () => {
    const { clock, interruption, seen, state } = setUp();
    state.playing = false;
    interruption.firstSound();
    state.playing = true;
    state.allowed = false;
    interruption.firstSound();
    expect(seen).toEqual([]);
    state.allowed = true;
    for (let time = 0; time < 2; time++) {
      interruption.voice();
      interruption.pause();
    }
    interruption.firstSound();
    expect(seen).toEqual(['hold', 'resume after 0', 'hold', 'resume after 0']);
    clock.advance(10_000);
    interruption.firstSound();
    interruption.played();
    expect(seen.slice(4)).toEqual(['hold', 'resume after 0']);
    expect(clock.pending).toBe(0);
  });

  it('lowers the speech after two false interruptions, until one is confirmed or ten seconds pass', () => {
    const { clock, interruption, seen } = setUp();
    for (let time = 0; time < 3; time++) {
      interruption.voice();
      interruption.pause();
      clock.advance(1000);
    }
    expect(seen).toEqual(['hold', 'resume after 0', 'hold', 'resume after 0', 'lower', 'raise']);
    interruption.voice();
    interruption.word();
    interruption.voice();
    expect(seen.slice(6)).toEqual(['lower', 'raise', 'cut by the caller', 'hold']);
  });
});

describe('real voices', () => {
  const tts = new Flite();
  const detectors = new WebrtcDetectors();
  beforeAll(() => detectors.load());
  afterAll(() => tts.close());

  /** What happens to the speech when a caller says this, judged by the length alone. */
  async function said(text: string, voice: string, sampleRate: 8000 | 16000): Promise<string[]> {
    const { interruption, seen } = setUp();
    const ear = new Ear(detectors, sampleRate, {
      firstSound: () => interruption.firstSound(),
      begins: () => interruption.voice(),
      voiced: (ms) => {
        if (ms >= 500) interruption.longVoice();
      },
      paused: () => interruption.pause(),
    });
    await ear.prepare();
    const samples = await tts.synthesize(text, { voice, language: 'en-US', sampleRate });
    const second = new Int16Array(sampleRate);
    for (const sound of [second, samples, second])
      for (const one of framesOf(sound, sampleRate)) ear.write(one);
    ear.close();
    return seen;
  }

  // The voice `slt` draws out single words to 0.6 s, which is an interruption.
  it.each(['rms', 'awb'])('of %s: a sentence cuts the speech, a short word does not', async (voice) => {
    for (const sampleRate of [8000, 16000] as const) {
      const cut = await said('Excuse me, I have another question about that.', voice, sampleRate);
      expect(cut.slice(0, 2)).toEqual(['hold', 'cut by the caller']);
      const short = await said('Mm.', voice, sampleRate);
      expect(short.filter((what) => what !== 'hold' && !what.startsWith('resume'))).toEqual([]);
    }
  });
});
