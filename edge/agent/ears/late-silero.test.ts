/** The second stage answers late, as on a machine that is busy: no noise may stop an agent then, and callers are heard. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { hear } from '../../../test/kit/ears/judge.ts';
import { type Judging, startJudging } from '../../../test/kit/ears/judging.ts';
import { LateSilero } from '../../../test/kit/ears/late-silero.ts';
import { RememberedSilero } from '../../../test/kit/ears/remembered-silero.ts';
import { type Scene, scenes } from '../../../test/kit/ears/scenes.ts';
import { isLong } from '../../../test/kit/is-long.ts';
import { mostFramesLate } from './echo-guard.ts';
import { TwoStageDetectors } from './two-stage-detector.ts';
import { WebrtcDetectors } from './webrtc-detector.ts';

const never = Number.POSITIVE_INFINITY;

let judging: Judging;
let silero: RememberedSilero;
let all: Record<string, Scene>;
beforeAll(async () => {
  const tts = new Flite();
  all = await scenes(tts, 1, 5);
  await tts.close();
  judging = await startJudging();
  silero = new RememberedSilero(judging.silero);
});
afterAll(() => judging?.silero.close());

const scene = (name: string): Scene => {
  const found = all[name];
  if (!found) throw new Error(`there is no scene "${name}"`);
  return found;
};

/** @param after frames after which it is that late; until then it answers at once */
function hearLate(heard: Scene, lateFrames: number, after = 0) {
  const late = new LateSilero(silero, after > 0 ? 0 : lateFrames);
  let frame = 0;
  const settled = async () => {
    await judging.settled();
    late.pass();
    if (++frame === after) late.lateFrames = lateFrames;
  };
  const detectors = new TwoStageDetectors(new WebrtcDetectors(), late);
  return hear(detectors, heard, settled, 20 * Math.min(lateFrames, mostFramesLate));
}

describe.each(isLong ? [2, 10, 45] : [10])('judgements that are %i frames late', (lateFrames) => {
  it.each(['street noise alone', 'music alone'])('make no voice of %s', async (name) => {
    expect((await hearLate(scene(name), lateFrames)).falseStarts).toBe(0);
  });

  it.each(['street noise at 10 dB', 'caller over an echo at 15 dB'])(
    'let a caller be heard, as much later: %s',
    async (name) => {
      const { onsetsMs: inTime } = await hearLate(scene(name), 0);
      const { onsetsMs, falseStarts } = await hearLate(scene(name), lateFrames);
      expect(inTime).toHaveLength(5);
      expect(onsetsMs).toEqual(inTime.map((ms) => ms + 20 * lateFrames));
      expect(falseStarts).toBe(0);
    },
  );
});

describe('judgements that do not come any more', () => {
  const known = 250;

  it.each(['street noise alone', 'music alone'])('make no voice of %s that is known', async (name) => {
    expect((await hearLate(scene(name), never, known)).falseStarts).toBe(0);
  });

  it.each([
    ['clean', 0, 5],
    ['street noise at 10 dB', 0, 4],
    ['street noise at 10 dB, which is known', known, 4],
  ])('leave a caller to the first stage after a second: %s', async (name, after, utterances) => {
    const { onsetsMs } = await hearLate(scene(name.replace(', which is known', '')), never, after);
    expect(onsetsMs.length).toBeGreaterThanOrEqual(utterances);
  });
});
