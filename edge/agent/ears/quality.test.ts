/** How well ears hear, on sound whose truth is known; `npm run bench ears` has the figures of more of it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { type Heard, hear, percentile } from '../../../test/kit/ears/judge.ts';
import { scenes } from '../../../test/kit/ears/scenes.ts';
import { WebrtcDetectors } from './webrtc-detector.ts';

describe("the ear with WebRTC's detector", () => {
  const heard: Record<string, Heard> = {};
  beforeAll(async () => {
    const tts = new Flite();
    const all = await scenes(tts, 1, 10);
    await tts.close();
    const detectors = new WebrtcDetectors();
    for (const [name, scene] of Object.entries(all)) heard[name] = await hear(detectors, scene);
  });
  const of = (name: string): Heard => {
    const found = heard[name];
    if (!found) throw new Error(`there is no scene "${name}"`);
    return found;
  };

  it.each([
    // name, utterances noticed of 10, at most this share of frames missed, median onset ms, false starts
    ['clean', 10, 0.04, 80, 0],
    ['quiet caller, -20 dB', 10, 0.08, 120, 0],
    ['loss of 5 %', 10, 0.04, 80, 0],
  ])('hears a caller: %s', (name, utterances, missed, onsetMs, falseStarts) => {
    const { onsetsMs, missedFrames, speechFrames, falseStarts: wrong } = of(name);
    expect(onsetsMs).toHaveLength(utterances);
    expect(missedFrames / speechFrames).toBeLessThan(missed);
    expect(percentile(onsetsMs, 0.5)).toBeLessThanOrEqual(onsetMs);
    expect(wrong).toBe(falseStarts);
  });

  it.each(['line noise alone', 'echo at 15 dB', 'echo at 25 dB', 'echo at 40 dB'])(
    'hears nobody in: %s',
    (name) => {
      expect(of(name).falseStarts).toBe(0);
    },
  );

  it.each([
    ['caller over an echo at 15 dB', 6],
    ['caller over an echo at 30 dB', 6],
    ['street noise at 10 dB', 7],
  ])('hears most of a %s', (name, utterances) => {
    expect(of(name).onsetsMs.length).toBeGreaterThanOrEqual(utterances);
  });
});
