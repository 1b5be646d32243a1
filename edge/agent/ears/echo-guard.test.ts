import { beforeAll, describe, expect, it } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { framesOf } from '../../../test/kit/fakes/sounds.ts';
import { EchoGuard } from './echo-guard.ts';

describe('the echo guard', () => {
  let ours: Int16Array;
  let caller: Int16Array;
  beforeAll(async () => {
    const tts = new Flite();
    const say = (text: string, voice: string) =>
      tts.synthesize(text, { voice, language: 'en-US', sampleRate: 8000 });
    ours = await say('We are open from nine to five on every day of the week, but not on Sunday.', 'rms');
    caller = await say('I would like to speak to somebody about my last bill, please.', 'slt');
    await tts.close();
  });

  /** The share of audible frames that are taken for an echo. @param received of the frame at a place */
  function judge(guard: EchoGuard, sent: Int16Array, received: (i: number) => number): number {
    const judged: boolean[] = [];
    framesOf(sent).forEach((frame, at) => {
      guard.sent(frame);
      const heard = Int16Array.from({ length: 160 }, (_, i) => Math.round(received(at * 160 + i)));
      guard.received(heard);
      if (heard.some((sample) => Math.abs(sample) > 200)) judged.push(guard.isEcho());
    });
    return judged.filter(Boolean).length / judged.length;
  }
  const echo = (gain: number, delayMs: number) => (i: number) => gain * (ours[i - 8 * delayMs] ?? 0);

  it.each([
    [0.2, 20],
    [0.2, 250],
    [0.05, 390],
  ])('knows our sound at a gain of %d after %d ms', (gain, delayMs) => {
    expect(judge(new EchoGuard(), ours, echo(gain, delayMs))).toBe(1);
  });

  it('knows it again when its way has become longer', () => {
    const guard = new EchoGuard();
    expect(judge(guard, ours, echo(0.2, 60))).toBe(1);
    expect(judge(guard, ours, echo(0.2, 200))).toBe(1);
  });

  it('lets a caller through, with and without an echo, and everything while we are silent', () => {
    const guard = new EchoGuard();
    const speaks = (i: number) => caller[i] ?? 0;
    const both = (i: number) => speaks(i) + echo(0.2, 60)(i);
    judge(guard, ours, echo(0.2, 60));
    // The caller pauses between its words, and what is heard then is the echo.
    expect(judge(guard, ours, both)).toBeLessThan(0.4);
    expect(judge(new EchoGuard(), ours, speaks)).toBeLessThan(0.3);
    expect(judge(new EchoGuard(), new Int16Array(ours.length), echo(0.2, 60))).toBe(0);
  });

  it('does not take a caller who sings our note for an echo: a telephone returns less than it gets', () => {
    const note = (i: number) => (i < 0 ? 0 : 3000 * Math.sin((2 * Math.PI * 220 * i) / 8000));
    const sent = Int16Array.from({ length: 8000 }, (_, i) => Math.round(note(i)));
    expect(judge(new EchoGuard(), sent, (i) => note(i - 400))).toBe(0);
    expect(judge(new EchoGuard(), sent, (i) => note(i - 400) / 5)).toBe(1);
  });
});
