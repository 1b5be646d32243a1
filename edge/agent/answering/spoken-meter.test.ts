import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { type Judging, startJudging } from '../../../test/kit/ears/judging.ts';
import { level, street } from '../../../test/kit/ears/scenes.ts';
import { framesOf, inTurn, silence, together, tones } from '../../../test/kit/fakes/sounds.ts';
import { AnsweringDetector } from './detector.ts';
import { answeringLimits } from './limits.ts';
import { SpokenMeter } from './spoken-meter.ts';

describe('speech that a voice detector judges', () => {
  it('lasts while its pieces are probably voices; the softest end of a word belongs to it', () => {
    const meter = new SpokenMeter();
    const hear = (probability: number, times = 1) => {
      for (let i = 0; i < times; i++) meter.judged(20, probability);
      return [meter.voiceMs, meter.quietMs];
    };
    expect(hear(0.69)).toEqual([0, 0]);
    expect(hear(0.7, 5)).toEqual([100, 0]);
    expect(hear(0.35, 5)).toEqual([200, 0]);
    expect(hear(0.34, 5)).toEqual([200, 0]);
    expect(hear(0, 5)).toEqual([200, 100]);
    expect(hear(0.69)).toEqual([200, 120]);
    meter.reset();
    expect(hear(0.9)).toEqual([20, 0]);
  });

  it('is no tone, however it is judged', () => {
    const meter = new SpokenMeter();
    for (let i = 0; i < 15; i++) {
      meter.write('single', 1000);
      meter.judged(20, 0.9);
    }
    expect([meter.voiceMs, meter.quietMs]).toEqual([0, 0]);
  });
});

describe('who answers', () => {
  let judging: Judging;
  let hello: Int16Array;
  let greeting: Int16Array;
  beforeAll(async () => {
    const flite = new Flite();
    const say = async (text: string) =>
      level(await flite.synthesize(text, { voice: 'slt', language: 'en-US', sampleRate: 8000 }), -20);
    hello = await say('Hello?');
    greeting = await say('The person is not available. At the tone, please record your message.');
    await flite.close();
    judging = await startJudging();
    await judging.detectors.load();
  });
  afterAll(() => judging?.silero.close());

  async function heard(sound: Int16Array) {
    const detector = new AnsweringDetector(answeringLimits, judging.detectors);
    for (const frame of framesOf(sound)) {
      detector.write(frame);
      await judging.settled();
    }
    detector.close();
    detector.close();
    return detector.verdict;
  }

  /** In noise that is 5 dB below the speech: by loudness, most persons are not found in it. */
  const inStreet = (sound: Int16Array) => together(sound, street(sound.length, -25, 2));

  it('in the noise of a street is a person who says hello', async () => {
    expect(await heard(inStreet(inTurn(silence(400), hello, silence(1700))))).toBe('human');
  });

  it('in the noise of a street is not known before somebody speaks', async () => {
    expect(await heard(inStreet(silence(3000)))).toBeNull();
  });

  it('is a mailbox that beeps', async () => {
    expect(await heard(inTurn(silence(400), greeting, silence(900), tones([1000], 400)))).toBe('voicemail');
  });
});
