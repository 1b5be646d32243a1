import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noiseKinds } from '#shared/agent-test-weather.ts';
import { chance } from '#shared/chance.ts';
import { Flite } from '#shared/models/flite.ts';
import { type Judging, startJudging } from '../../../test/kit/ears/judging.ts';
import { level, music } from '../../../test/kit/ears/scenes.ts';
import { decodeMulaw, encodeMulaw } from '../../../test/kit/fakes/audio.ts';
import { framesOf, inTurn, silence, together } from '../../../test/kit/fakes/sounds.ts';
import { frameLimits } from '../ears/activity.ts';
import type { Judged, VoiceDetectors } from '../ears/voice-detector.ts';
import { WebrtcDetectors } from '../ears/webrtc-detector.ts';
import { AgentVoice } from './agent-voice.ts';
import { TurnMeter } from './turn-meter.ts';
import { noiseOf } from './weather/noise.ts';

/** What a caller measures of this sound through G.711. */
async function measured(detectors: VoiceDetectors, sound: Int16Array, settled?: () => Promise<void>) {
  const meter = new TurnMeter(0);
  const voice = new AgentVoice(detectors, (speaks, at) => meter.heard(speaks, at));
  await voice.prepare();
  let now = 0;
  for (const frame of framesOf(decodeMulaw(encodeMulaw(sound)))) {
    now += 20;
    voice.write(frame, now);
    await settled?.();
    // Whoever waits for the end of a turn does not wait much longer.
    expect(now - voice.knownTo(now)).toBeLessThanOrEqual(240);
  }
  const stillSpeaks = meter.agentSpeaks;
  voice.close();
  return { firstAt: meter.firstAt, lastTo: meter.lastTo, stillSpeaks };
}

describe("the agent's voice", () => {
  const saidMs = 2 * 1000;
  let said: Int16Array;
  let sound: Int16Array;
  let judging: Judging;
  beforeAll(async () => {
    const tts = new Flite();
    const text = 'Which city are you flying to?';
    said = level(await tts.synthesize(text, { voice: 'slt', language: 'en-US', sampleRate: 8000 }), -20);
    await tts.close();
    sound = inTurn(silence(saidMs), said, silence(3000));
    judging = await startJudging();
  });
  afterAll(() => judging?.silero.close());

  /** ms of the first and the last loud sample. */
  const truth = () => {
    const isLoud = (sample: number) => Math.abs(sample) > 300;
    return { from: saidMs + said.findIndex(isLoud) / 8, to: saidMs + said.findLastIndex(isLoud) / 8 };
  };
  const noise = (kind: (typeof noiseKinds)[number], snrDb: number) => {
    const next = noiseOf(kind, chance(5), 8000);
    const rms = 32_768 * 10 ** ((-20 - snrDb) / 20);
    return sound.map(() => Math.round(next() * rms));
  };
  const withTwo = (heard: Int16Array) => measured(judging.detectors, heard, judging.settled);

  it.each(['loud', 'quiet'])('is measured to the word on a line without noise when it is %s', async (how) => {
    const heard = how === 'quiet' ? sound.map((sample) => sample / 8) : sound;
    for (const found of [await withTwo(heard), await measured(new WebrtcDetectors(), heard)]) {
      expect(Math.abs((found.firstAt ?? 0) - truth().from)).toBeLessThanOrEqual(60);
      expect(Math.abs((found.lastTo ?? 0) - truth().to)).toBeLessThanOrEqual(how === 'quiet' ? 120 : 80);
      expect(found.stillSpeaks).toBe(false);
    }
  });

  it.each(noiseKinds)('begins and ends in %s noise that is 5 dB weaker', async (kind) => {
    const found = await withTwo(together(sound, noise(kind, 5)));
    expect(Math.abs((found.firstAt ?? 0) - truth().from)).toBeLessThanOrEqual(320);
    expect(Math.abs((found.lastTo ?? 0) - truth().to)).toBeLessThanOrEqual(500);
    expect(found.stillSpeaks).toBe(false);
  });

  it.each([...noiseKinds, 'music'] as const)('is not in %s', async (kind) => {
    const heard = kind === 'music' ? music(sound.length, -25, 3) : noise(kind, 5);
    expect(await withTwo(heard)).toEqual({ firstAt: null, lastTo: null, stillSpeaks: false });
  });
});

describe('frames that are judged late', () => {
  /** Judges a frame so many frames later: loud ones are a voice if they are louder than 5000. */
  const late = (frames: number): VoiceDetectors => ({
    limits: { ...frameLimits, sure: 0.5 },
    tellsNoise: true,
    load: async () => undefined,
    create: (_, judged: Judged) => {
      const heard: number[] = [];
      return {
        write: (frame) => {
          heard.push(frame[0] ?? 0);
          const then = heard.at(-1 - frames);
          if (then !== undefined) judged(20, then > 5000 ? 1 : 0, frames, false);
        },
        close: () => undefined,
      };
    },
  });
  const frame = (sample: number) => new Int16Array(160).fill(sample);
  async function told(frames: number, samples: readonly number[]) {
    const seen: string[] = [];
    const voice = new AgentVoice(late(frames), (speaks, at) => seen.push(`${at}${speaks ? ' voice' : ''}`));
    await voice.prepare();
    for (const [i, one] of samples.entries()) voice.write(frame(one), (i + 1) * 20);
    return { voice, seen };
  }
  const [loud, spoken] = [1000, 8000];
  const longLoud = Array.from({ length: 16 }, () => loud);

  it.each([0, 2])('are told in order, with what happened between them, %i frames later', async (frames) => {
    const { voice, seen } = await told(frames, [0, spoken]);
    voice.moment(() => seen.push('the caller begins'));
    for (const at of [60, 80, 100, 120]) voice.write(frame(0), at);
    expect(voice.knownTo(120)).toBe(120 - frames * 20);
    expect(seen.slice(0, 4)).toEqual(['20', '40 voice', 'the caller begins', '60']);
    voice.close();
    expect(seen.slice(4)).toEqual(['80', '100', '120']);
  });

  it('are taken for what was judged last when the call ends before', async () => {
    const { voice, seen } = await told(40, [0, spoken]);
    voice.close();
    expect(seen).toEqual(['20', '40']);
  });

  it.each([
    ['before it', [0, loud, loud, spoken, 0], ['20', '40 voice', '60 voice', '80 voice', '100']],
    ['after it', [spoken, loud, loud, 0], ['20 voice', '40 voice', '60 voice', '80']],
    ['apart from it', [0, loud, 0, spoken, 0], ['20', '40', '60', '80 voice', '100']],
  ])('belong to a voice when they are loud and right %s', async (_, samples, expected) => {
    const { voice, seen } = await told(1, samples);
    voice.close();
    expect(seen).toEqual(expected);
  });

  it.each([
    ['before', [0, ...longLoud, spoken, 0], 18],
    ['after', [0, spoken, ...longLoud, 0], 2],
  ])('are noise when they are loud for long right %s a voice', async (_, samples, at) => {
    const { voice, seen } = await told(1, samples);
    voice.close();
    expect(seen.filter((one) => one.endsWith('voice'))).toEqual([`${at * 20} voice`]);
  });

  it('are not waited for when no sound follows them', async () => {
    const { voice, seen } = await told(2, []);
    voice.write(frame(0), 20);
    expect(voice.knownTo(1519)).toBe(0);
    expect(voice.knownTo(1520)).toBe(1520);
    expect(seen).toEqual(['20']);
  });
});
