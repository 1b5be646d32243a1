import { expect, it } from 'vitest';
import { framesOf, inTurn, noise, silence, together } from '../../../test/kit/fakes/sounds.ts';
import { chunkLimits } from '../ears/activity.ts';
import type { VoiceDetectors } from '../ears/voice-detector.ts';
import { AfterWords } from './after-words.ts';
import { AnsweringDetector } from './detector.ts';
import { answeringLimits } from './limits.ts';

it.each([
  ['silence', 0, false],
  ['noise 5 dB below the words', 560, false],
  ['music', 1000, true],
])('after words comes %s', (_, level, goesOn) => {
  const after = new AfterWords();
  for (let ms = 20; ms <= 400; ms += 20) after.write(1000, ms, 0);
  expect(after.goesOn).toBe(false);
  for (let ms = 20; ms <= 1200; ms += 20) after.write(level, 400, ms);
  expect(after.goesOn).toBe(goesOn);
  after.write(1000, 420, 0);
  expect(after.goesOn).toBe(false);
});

/** Takes the sound from `fromMs` to `toMs` for a voice. */
function voiceFrom(fromMs: number, toMs: number): VoiceDetectors {
  return {
    limits: chunkLimits,
    tellsNoise: true,
    load: async () => undefined,
    create: (_, judged) => {
      let ms = 0;
      return {
        write: () => {
          ms += 20;
          judged(20, ms > fromMs && ms <= toMs ? 0.9 : 0, 0, false);
        },
        close: () => undefined,
      };
    },
  };
}

function answerer(sound: Int16Array): { verdict: string | null; atMs: number } {
  const detector = new AnsweringDetector(answeringLimits, voiceFrom(1000, 1400));
  for (const [index, frame] of framesOf(sound).entries()) {
    detector.write(frame);
    if (detector.verdict !== null) return { verdict: detector.verdict, atMs: (index + 1) * 20 };
  }
  return { verdict: null, atMs: 0 };
}

it('music of which a part sounds like a voice is nobody', () => {
  expect(answerer(noise(20_000, 3000))).toEqual({ verdict: 'unknown', atMs: answeringLimits.watchMs });
});

it('a person is one in the noise of a street too, at once', () => {
  const words = inTurn(silence(1000), noise(400, 3000), silence(3000));
  for (const level of [0, 1680]) {
    const { verdict, atMs } = answerer(together(words, noise(4400, level).reverse()));
    expect(verdict).toBe('human');
    expect(atMs).toBeLessThanOrEqual(1400 + answeringLimits.pauseMs + 120);
  }
});
