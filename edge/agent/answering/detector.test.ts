import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { decodeMulaw, encodeMulaw } from '../../../test/kit/fakes/audio.ts';
import { framesOf, inTurn, noise, silence, together, tones } from '../../../test/kit/fakes/sounds.ts';
import { AnsweringDetector } from './detector.ts';
import { answeringLimits } from './limits.ts';

const flite = new Flite();
const say = (text: string, voice: string | null = null) =>
  flite.synthesize(text, { voice, language: 'en-US', sampleRate: 8000 });
const greeting =
  'Hi, you have reached the voice mail of John Smith. I am not available right now. ' +
  'Please leave your name and number after the tone, and I will call you back.';

let hello: Int16Array;
let recording: Int16Array;
beforeAll(async () => {
  hello = await say('Hello?');
  recording = await say(greeting);
});
afterAll(() => flite.close());

/** The detector's result for a sound passed through G.711, and when, ms. */
function heard(sound: Int16Array, limits = answeringLimits) {
  const detector = new AnsweringDetector(limits, null);
  let decidedAt = 0;
  let recordsAt = 0;
  for (const [index, frame] of framesOf(sound).entries()) {
    detector.write(decodeMulaw(encodeMulaw(frame)));
    if (decidedAt === 0 && detector.verdict !== null) decidedAt = (index + 1) * 20;
    if (recordsAt === 0 && detector.records) recordsAt = (index + 1) * 20;
  }
  return { verdict: detector.verdict, decidedAt, recordsAt };
}

describe('a person', () => {
  it('says hello and waits', () => {
    const { verdict, decidedAt } = heard(inTurn(silence(400), hello, silence(3000)));
    expect(verdict).toBe('human');
    const spoken = 400 + hello.length / 8;
    expect(decidedAt).toBeGreaterThan(spoken + answeringLimits.pauseMs - 400);
    expect(decidedAt).toBeLessThanOrEqual(spoken + answeringLimits.pauseMs + 100);
  });

  it.each([
    'Smith residence, this is John speaking.',
    'Yes?',
    'Good morning, Miller and sons, how can I help?',
  ])('answers %j', async (text) => {
    expect(heard(inTurn(silence(300), await say(text), silence(3000))).verdict).toBe('human');
  });

  const longHellos = [
    'Good afternoon, thank you for calling Miller and sons, you are speaking with Jonathan, how can I help you today?',
    'Hello, this is the Smith family, we are just having dinner, so if you could make it short, who is calling please?',
  ];
  it.each(longHellos.flatMap((text) => ['slt', 'kal', 'rms', 'awb'].map((voice) => [text, voice] as const)))(
    'answers with a long greeting: %j with the voice %s',
    async (text, voice) => {
      const speech = await say(text, voice);
      expect(speech.length / 8).toBeGreaterThan(answeringLimits.suspectMs + 200);
      const sound = inTurn(silence(300), speech, silence(3500));
      expect(heard(sound).verdict).toBe('human');
    },
  );

  it('answers with a long greeting, is asked something, and talks at length', async () => {
    const speech = await say(longHellos[0] ?? '');
    const sound = inTurn(silence(300), speech, silence(2000), speech, silence(500), speech, silence(3500));
    expect(heard(sound).verdict).toBe('human');
  });

  it.each([150, 300, 600])('is detected through noise of %i', (level) => {
    const sound = inTurn(silence(1400), hello, silence(3000));
    expect(heard(together(sound, noise(6000, level))).verdict).toBe('human');
  });

  it('is not mistaken for voicemail because of a breath or a click', () => {
    const click = noise(40, 4000);
    const sound = inTurn(silence(300), click, silence(3000), hello, silence(2000));
    const { verdict, decidedAt } = heard(sound);
    expect(verdict).toBe('human');
    expect(decidedAt).toBeGreaterThan(3340 + answeringLimits.pauseMs);
  });
});

describe('voicemail', () => {
  it.each(['slt', 'kal', 'rms', 'awb'])('has a long greeting with the voice %s, and beeps', async (voice) => {
    const speech = await say(greeting, voice);
    const beepEnds = 600 + Math.ceil(speech.length / 8) + 700 + 400;
    const sound = inTurn(silence(600), speech, silence(700), tones([1000], 400), silence(3000));
    const { verdict, decidedAt, recordsAt } = heard(sound);
    expect(verdict).toBe('voicemail');
    expect(decidedAt).toBeGreaterThan(600 + speech.length / 8 + 700);
    expect(decidedAt).toBeLessThan(beepEnds + 20);
    expect(recordsAt).toBeGreaterThanOrEqual(beepEnds);
    expect(recordsAt).toBeLessThan(beepEnds + 120);
  });

  it.each([
    [352, 300],
    [425, 500],
    [440, 2000],
    [880, 300],
    [1412, 400],
    [2190, 300],
  ])('beeps at %i Hz for %i ms', (hz, ms) => {
    const before = inTurn(silence(600), recording, silence(703));
    const { verdict, recordsAt } = heard(inTurn(before, tones([hz], ms, 2000), silence(1000)));
    expect(verdict).toBe('voicemail');
    expect(recordsAt).toBeGreaterThanOrEqual(before.length / 8 + ms);
    expect(recordsAt).toBeLessThan(before.length / 8 + ms + 120);
  });

  it('is detected by the beep alone when its greeting is short', async () => {
    const speech = await say('Please leave a message.');
    const before = inTurn(silence(300), speech, silence(800));
    const { verdict, decidedAt, recordsAt } = heard(inTurn(before, tones([1000], 500), silence(1000)));
    expect(verdict).toBe('voicemail');
    expect(decidedAt).toBeLessThan(before.length / 8 + 400);
    expect(recordsAt).toBeGreaterThanOrEqual(before.length / 8 + 500);
  });

  it('is detected by its beep after a long pause, when its greeting was long', () => {
    const sound = inTurn(silence(300), recording, silence(2500), tones([1000], 400), silence(1000));
    expect(heard(sound)).toMatchObject({ verdict: 'voicemail' });
  });

  it.each(['slt', 'rms'])(
    'is detected by the length of its greeting without a beep, with the voice %s',
    async (voice) => {
      const speech = await say(greeting, voice);
      const { verdict, decidedAt } = heard(inTurn(silence(600), speech, speech));
      expect(verdict).toBe('voicemail');
      expect(decidedAt).toBeGreaterThan(600 + answeringLimits.greetingMs - 200);
      expect(decidedAt).toBeLessThan(600 + answeringLimits.greetingMs + 600);
    },
  );

  it('counts as recording after a long silence without a beep', () => {
    const long = inTurn(recording, recording);
    const spoken = 300 + long.length / 8;
    const { verdict, recordsAt } = heard(inTurn(silence(300), long, silence(4000)));
    expect(verdict).toBe('voicemail');
    expect(recordsAt).toBeGreaterThan(spoken + answeringLimits.silenceMs - 700);
    expect(recordsAt).toBeLessThan(spoken + answeringLimits.silenceMs + 100);
  });

  it('gets its message eventually, even if it never stops', () => {
    const limits = { ...answeringLimits, patienceMs: 5000 };
    const { decidedAt, recordsAt } = heard(inTurn(silence(300), recording, recording), limits);
    expect(recordsAt - decidedAt).toBe(5000);
  });

  it('is detected through noise', () => {
    const sound = inTurn(silence(600), recording, silence(700), tones([1000], 400), silence(2000));
    expect(heard(together(sound, noise(20_000, 400)))).toMatchObject({ verdict: 'voicemail' });
  });
});

describe('neither', () => {
  const often = (count: number, ...parts: Int16Array[]) =>
    inTurn(...Array.from({ length: count }, () => inTurn(...parts)));

  it.each([
    ['silence', () => silence(21_000)],
    ['North American ringing', () => often(4, tones([440, 480], 2000, 2500), silence(4000))],
    ['European ringing', () => often(5, tones([425], 1000), silence(4000))],
    [
      'British ringing',
      () => often(8, tones([400, 450], 400), silence(200), tones([400, 450], 400), silence(2000)),
    ],
    ['a busy tone', () => often(21, tones([480, 620], 500, 3000), silence(500))],
    ['a dial tone', () => tones([350, 440], 21_000, 3000)],
    ['noise', () => inTurn(silence(100), noise(21_000, 1000))],
    ['loud noise', () => inTurn(silence(100), noise(21_000, 6000))],
  ])('is %s', (_name, sound) => {
    expect(heard(sound())).toEqual({
      verdict: 'unknown',
      decidedAt: answeringLimits.watchMs,
      recordsAt: 0,
    });
  });

  it('does not hide the greeting after the ringing', () => {
    const ringing = inTurn(tones([440, 480], 2000, 2500), silence(4000));
    const sound = inTurn(ringing, recording, silence(700), tones([1000], 400), silence(1000));
    expect(heard(sound)).toMatchObject({ verdict: 'voicemail' });
    expect(heard(inTurn(ringing, hello, silence(3000)))).toMatchObject({ verdict: 'human' });
  });
});
