import { setTimeout as pause } from 'node:timers/promises';
import { setEnvironmentData } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Flite } from '#shared/models/flite.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { type Heard, hear } from '../../../test/kit/ears/judge.ts';
import { type Judging, startJudging } from '../../../test/kit/ears/judging.ts';
import { level, type Scene, scenes } from '../../../test/kit/ears/scenes.ts';
import { RecordingLog } from '../../../test/kit/edge/agent.ts';
import { framesOf, inTurn, silence } from '../../../test/kit/fakes/sounds.ts';
import { Silero, type SileroState } from './silero.ts';
import { chunkSamples } from './silero-messages.ts';
import { SileroModel } from './silero-model.ts';
import { TwoStageDetectors } from './two-stage-detector.ts';
import { Upsampler } from './upsampler.ts';
import { WebrtcDetectors } from './webrtc-detector.ts';

const hum = (hz: number, at: number) =>
  Float32Array.from(
    { length: chunkSamples },
    (_, i) => 0.2 * Math.sin((2 * Math.PI * hz * (at * chunkSamples + i)) / 16_000),
  );

describe('the model', () => {
  it('judges streams in a batch as it judges each alone', async () => {
    const model = await SileroModel.load();
    const place = [0];
    const alone: number[][] = [];
    for (const hz of [200, 700]) {
      const seen: number[] = [];
      for (let at = 0; at < 4; at++) seen.push((await model.judge([hz], hum(hz, at), place))[0] ?? -1);
      alone.push(seen);
    }
    for (let at = 0; at < 4; at++) {
      const both = new Float32Array(2 * chunkSamples);
      both.set(hum(200, at));
      both.set(hum(700, at), chunkSamples);
      const found = await model.judge([1, 2], both, [0, chunkSamples]);
      expect(found[0]).toBeCloseTo(alone[0]?.[at] ?? -1, 4);
      expect(found[1]).toBeCloseTo(alone[1]?.[at] ?? -1, 4);
    }
  });
});

/** Words whose first sound has no voice, in our own speech of which nothing comes back. */
async function hissingWords(tts: TextToSpeech): Promise<Scene> {
  const say = async (text: string, voice: string, db: number) =>
    level(await tts.synthesize(text, { voice, language: 'en-US', sampleRate: 8000 }), db);
  const received = [silence(6000)];
  const begins: number[] = [];
  for (const text of ['Sixty.', 'She is.', 'Chess.', 'Stop.']) {
    const length = received.reduce((sum, part) => sum + part.length, 0);
    const word = await say(text, 'rms', -20);
    begins.push(Math.floor((length + word.findIndex((sample) => Math.abs(sample) > 200)) / 160));
    received.push(word, silence(1500));
  }
  const ours = await say('And so on and on, as long as the caller says nothing to it, we speak.', 'slt', -20);
  const samples = inTurn(...received);
  return {
    received: samples,
    sent: inTurn(...Array.from({ length: Math.ceil(samples.length / ours.length) }, () => ours)),
    speaks: framesOf(samples).map((frame) => frame.some((sample) => Math.abs(sample) > 200)),
    begins,
  };
}

describe('the ear with both stages', () => {
  const heard: Record<string, Heard> = {};
  let judging: Judging;
  beforeAll(async () => {
    const tts = new Flite();
    const all = await scenes(tts, 1, 5);
    const hissing = await hissingWords(tts);
    await tts.close();
    judging = await startJudging();
    const names = ['quiet caller, -20 dB', 'street noise at 10 dB', 'music at 10 dB', 'music alone'];
    for (const name of [...names, 'echo at 25 dB']) {
      const scene = all[name];
      if (scene) heard[name] = await hear(judging.detectors, scene, judging.settled);
    }
    heard.hissing = await hear(judging.detectors, hissing, judging.settled);
  });
  afterAll(() => judging?.silero.close());

  it.each(['quiet caller, -20 dB', 'street noise at 10 dB', 'music at 10 dB'])(
    'hears a caller: %s',
    (name) => {
      expect(heard[name]).toMatchObject({ utterances: 5, falseStarts: 0 });
      expect(heard[name]?.onsetsMs).toHaveLength(5);
    },
  );

  it('hears nobody in music', () => {
    expect(heard['music alone']?.falseStarts).toBe(0);
  });

  it('notices words by their first sound, on a line that returns little', () => {
    const { onsetsMs = [], heldMs = [], falseSounds } = heard.hissing ?? {};
    expect([onsetsMs.length, heldMs.length, falseSounds]).toEqual([4, 4, 0]);
    expect(Math.min(...onsetsMs)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...heldMs)).toBeLessThanOrEqual(80);
  });

  it.each(['street noise at 10 dB', 'music alone', 'echo at 25 dB'])('takes no sound for one: %s', (name) => {
    expect(heard[name]?.falseSounds).toBe(0);
  });
});

/** Of a thread that judges without the model. @param before run for each message @param probability of each chunk */
function program(before: string, probability = '0.5', atLoad = ''): URL {
  const text = `import { getEnvironmentData, parentPort } from 'node:worker_threads';
    ${atLoad}
    const known = new Set();
    parentPort.on('message', ({ type, batch, stream, streams }) => {
      ${before}
      if (type !== 'judge') return;
      const probabilities = new Float32Array(streams.length).fill(${probability});
      parentPort.postMessage({ type: 'judged', batch, probabilities });
    });
    parentPort.postMessage({ type: 'ready' });`;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

describe('the thread of the model', () => {
  it('starts with the first call, ends a minute after the last, and starts again', async () => {
    const clock = new FakeClock();
    const silero = new Silero(clock, new RecordingLog());
    expect(silero.state).toBe('off');
    for (let time = 0; time < 2; time++) {
      const judged: (number | null)[] = [];
      const stream = silero.open();
      stream.write(hum(200, 0), (probability) => judged.push(probability));
      while (silero.state === 'loading') await pause(1);
      stream.write(hum(200, 1), (probability) => judged.push(probability));
      while (silero.busy) {
        clock.advance(1);
        await pause(1);
      }
      expect(judged).toEqual([expect.any(Number), expect.any(Number)]);
      stream.close();
      stream.close();
      clock.advance(59_999);
      expect(silero.state).toBe('ready');
      clock.advance(1);
      expect(silero.state).toBe('off');
    }
    await silero.close();
    expect(clock.pending).toBe(0);
  });

  it('judges what has waited in one go, and nothing that is older than a second', async () => {
    const clock = new FakeClock();
    const silero = new Silero(clock, new RecordingLog());
    const stream = silero.open();
    while (silero.state === 'loading') await pause(1);
    const judged: string[] = [];
    // The thread answers between two turns of the loop only: until then two batches are at it, and the rest waits.
    for (let at = 0; at < 50; at++) {
      stream.write(hum(200, at), (probability) => judged.push(`${at}${probability === null ? ' not' : ''}`));
      clock.advance(32);
    }
    while (silero.busy) await pause(1);
    const late = Array.from({ length: 17 }, (_, i) => `${i + 2} not`);
    const inTime = Array.from({ length: 31 }, (_, i) => `${i + 19}`);
    expect(judged).toEqual([...late, '0', '1', ...inTime]);
    await silero.close();
  });

  it('hears nothing more of a stream after its end: it would remember it for good', async () => {
    const clock = new FakeClock();
    const counting = program(
      `if (type !== 'judge') return known.delete(stream);
      for (const one of streams) known.add(one);`,
      'known.size',
    );
    const silero = new Silero(clock, new RecordingLog(), counting);
    const [ended, other] = [silero.open(), silero.open()];
    while (silero.state === 'loading') await pause(1);
    const known: (number | null)[] = [];
    ended.write(hum(200, 0), (probability) => known.push(probability));
    ended.close();
    other.write(hum(200, 0), (probability) => known.push(probability));
    while (silero.busy) {
      clock.advance(1);
      await pause(1);
    }
    expect(known).toEqual([1]);
    other.close();
    await silero.close();
  });

  it('answers all that waits when the thread ends', async () => {
    const silero = new Silero(new FakeClock(), new RecordingLog());
    const stream = silero.open();
    const judged: (number | null)[] = [];
    stream.write(hum(200, 0), (probability) => judged.push(probability));
    await silero.close();
    expect(judged).toEqual([null]);
    stream.write(hum(200, 1), (probability) => judged.push(probability));
    expect(judged).toEqual([null, null]);
    stream.close();
    stream.write(hum(200, 2), (probability) => judged.push(probability));
    expect(judged).toEqual([null, null]);
  });

  describe.each([
    ['that does not answer any more', "if (type === 'judge') for (;;);"],
    ['that ends', "if (type === 'judge') process.exit(1);"],
  ])('one %s', (_which, fault) => {
    it('is replaced, and what was asked is judged by the first stage', async () => {
      const clock = new FakeClock();
      const log = new RecordingLog();
      // The first thread has the fault, the others have none.
      const first = new Int32Array(new SharedArrayBuffer(4));
      const channel = `silero-${fault.length}`;
      setEnvironmentData(channel, first);
      const url = program(`if (Atomics.load(getEnvironmentData('${channel}'), 0) === 0) {
        Atomics.store(getEnvironmentData('${channel}'), 0, 1);
        ${fault}
      }`);
      const silero = new Silero(clock, log, url);
      const stream = silero.open();
      while (silero.state === 'loading') await pause(1);
      const judged: (number | null)[] = [];
      stream.write(hum(200, 0), (probability) => judged.push(probability));
      clock.advance(1);
      while (Atomics.load(first, 0) === 0) await pause(1);
      stream.write(hum(200, 1), (probability) => judged.push(probability));
      while (silero.state !== 'resting') {
        clock.advance(100);
        await pause(1);
      }
      expect(judged).toEqual([null, null]);
      stream.write(hum(200, 2), (probability) => judged.push(probability));
      expect(judged).toEqual([null, null, null]);
      const state = (): SileroState => silero.state;
      clock.advance(9000);
      expect(state()).toBe('resting');
      clock.advance(1000);
      expect(state()).toBe('loading');
      while (state() === 'loading') await pause(1);
      stream.write(hum(200, 3), (probability) => judged.push(probability));
      while (silero.busy) {
        clock.advance(1);
        await pause(1);
      }
      expect(judged.at(-1)).toBe(0.5);
      expect(log.warnings.map(({ message }) => message)).toEqual([
        'voices are detected by the first stage alone until Silero has another thread',
      ]);
      await silero.close();
      expect(clock.pending).toBe(0);
    });
  });

  it('one that does not load is replaced, and none is once the calls are over', async () => {
    const clock = new FakeClock();
    const silero = new Silero(clock, new RecordingLog(), new URL('data:text/javascript,for (;;);'));
    const stream = silero.open();
    clock.advance(15_000);
    clock.advance(1000);
    expect(silero.state).toBe('resting');
    clock.advance(10_000);
    expect(silero.state).toBe('loading');
    stream.close();
    await silero.close();
    expect([silero.state, clock.pending]).toEqual(['off', 0]);
  });

  it('ones that load and end again are replaced after pauses that grow, until one judges for a while', async () => {
    const clock = new FakeClock();
    const silero = new Silero(clock, new RecordingLog(), program("if (type === 'judge') process.exit(1);"));
    const stream = silero.open();
    const until = async (state: SileroState) => {
      while (silero.state !== state) await pause(1);
    };
    const rests: number[] = [];
    for (let thread = 0; thread < 4; thread++) {
      await until('ready');
      if (thread === 3) clock.advance(60_000);
      stream.write(hum(200, thread), () => undefined);
      clock.advance(1);
      await until('resting');
      let waited = 0;
      for (; silero.state === 'resting'; waited += 10_000) clock.advance(10_000);
      rests.push(waited / 1000);
    }
    expect(rests).toEqual([10, 20, 40, 10]);
    await silero.close();
  });

  it('one that does not load after others could run is replaced, too', async () => {
    const clock = new FakeClock();
    setEnvironmentData('silero-loads', new Int32Array(new SharedArrayBuffer(4)));
    const fails =
      "if (Atomics.add(getEnvironmentData('silero-loads'), 0, 1) === 1) throw new Error('no memory');";
    const url = program("if (type === 'judge') process.exit(1);", '0.5', fails);
    const silero = new Silero(clock, new RecordingLog(), url);
    const stream = silero.open();
    const until = async (state: SileroState) => {
      while (silero.state !== state) await pause(1);
    };
    await until('ready');
    stream.write(hum(200, 0), () => undefined);
    clock.advance(1);
    await until('resting');
    clock.advance(10_000);
    await until('resting');
    clock.advance(20_000);
    await until('ready');
    await silero.close();
  });

  it('leaves the first stage alone, with a warning, when it cannot run', async () => {
    const log = new RecordingLog();
    const missing = new URL('data:text/javascript,throw new Error("no library")');
    const silero = new Silero(new FakeClock(), log, missing);
    const detectors = new TwoStageDetectors(new WebrtcDetectors(), silero);
    await detectors.load();
    let pieces = 0;
    const detector = detectors.create(8000, () => pieces++);
    while (silero.state === 'loading') await pause(1);
    detector.write(new Int16Array(160));
    expect([silero.state, pieces]).toEqual(['failed', 1]);
    expect(log.warnings).toHaveLength(1);
    expect(log.warnings[0]?.message).toContain('voices are detected by the first stage alone');
    detector.close();
    await silero.close();
  });
});

it('doubles the rate of sound without changing it', () => {
  const upsampler = new Upsampler();
  const wave = (i: number, rate: number) => Math.sin((2 * Math.PI * 1000 * i) / rate);
  const out = new Float32Array(1600);
  for (let at = 0; at < 800; at += 160)
    upsampler.write(
      Int16Array.from({ length: 160 }, (_, i) => Math.round(16_384 * wave(at + i, 8000))),
      out,
      2 * at,
    );
  // Eight samples of 8 kHz late.
  for (let i = 100; i < 1600; i++) expect(out[i]).toBeCloseTo(wave(i - 16, 16_000) / 2, 2);
});
