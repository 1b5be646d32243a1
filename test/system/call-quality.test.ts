/**
 * The quality of a call and the turns of its conversation in the whole system, with a model and a transcription server;
 * media is in two shards. Calls that are joined: joined-quality.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { encodeMulaw } from '../kit/fakes/audio.ts';
import { ModelServer } from '../kit/fakes/model-server.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { TranscriptionServer } from '../kit/fakes/transcription-server.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { loud } from '../kit/programs/transfers.ts';
import { qualityOf, sumsUp, turnsOf } from './joined-quality.ts';

const silence = Buffer.alloc(160, 0xff);

describe('a call with a model', () => {
  const flowers = '+14155550163';
  const wish = 'I would like to talk to sales.';
  /** Long enough to be interrupted by a caller whom a busy machine makes late. */
  const greeting =
    'Welcome to the flower shop, which has roses and tulips and many more today, and lilies and orchids and daisies tomorrow, and take all the time that you want because we are here for you around the clock.';
  let model: ModelServer;
  let words: TranscriptionServer;
  let system: TestSystem;
  let caller: Caller | null = null;

  beforeAll(async () => {
    model = await ModelServer.start();
    words = await TranscriptionServer.start([wish]);
    system = await TestSystem.start({
      LLM_BASE_URL: model.url,
      LLM_MODEL: 'm-1',
      STT_BASE_URL: words.url,
      STT_MODEL: 'whisper-1',
    });
    await system.api.attach(flowers);
    await system.api.answerWith(flowers, { prompt: 'Sell flowers.', first_sentence: greeting });
    await system.api.applied(flowers);
  });

  afterAll(() =>
    releaseAll(
      () => caller?.close(),
      () => system?.stop(),
      // It is asked once more for each pause in which the caller seems to have finished.
      () =>
        model?.close().catch((error: unknown) => {
          if (!String(error).includes('Never asked for')) throw error;
        }),
      () => words?.close(),
    ),
  );

  test('has samples while it is up, and the spans of each turn on one axis', async () => {
    const answer = { when: [wish], text: ['I connect ', 'you with sales. ', 'Please wait.'] };
    model.record(answer, answer, answer, answer);
    const { api } = system;
    // Ready before the call: the greeting does not wait for it.
    const flite = new Flite();
    const spoken = await flite.synthesize(wish, { voice: null, language: 'en-US', sampleRate: 8000 });
    await flite.close();
    const frames: Buffer[] = [];
    for (let at = 0; at + 160 <= spoken.length; at += 160)
      frames.push(encodeMulaw(spoken.subarray(at, at + 160)));
    caller = await callAndTalk(system, flowers);
    const { media, callId } = caller;
    await media.play([silence, silence, silence]);
    // The greeting is interrupted by the caller.
    await media.when(() => media.samples(8000).some((sample) => Math.abs(sample) > loud));
    await media.play([...frames, ...Array(100).fill(silence)]);
    const { id } = await api.loggedCall(callId, ({ answered_at }) => answered_at !== null);
    const answered = await eventually('the answer', async () => {
      await media.play(Array(10).fill(silence));
      return saw(await turnsOf(api, id)).find(
        ({ input, response_ms }) => input === 'speech' && response_ms !== null,
      );
    });
    // Of five seconds each: on a busy machine the first may have nothing of the caller, or of the agent.
    const live = await eventually('samples of both sides', async () => {
      await media.play(Array(10).fill(silence));
      const quality = saw(await qualityOf(api, id));
      const isScored = quality.samples.some(
        ({ mos_received: mos }) => mos !== null && mos >= 1 && mos <= 4.5,
      );
      const isLoud = quality.samples.some(({ level_sent_dbov: level }) => level !== null && level > -60);
      return isScored && isLoud ? quality : null;
    });
    expect(live).toMatchObject({ ended_at: null, truncated: false });
    expect(live.age_ms).toBeGreaterThanOrEqual(0);
    expect(live.samples[0]).toMatchObject({ relayed: false, held: false });
    await caller.hangup();

    await sumsUp(api, await api.endedCall(callId));
    const spans = new Map(answered.spans.map((span) => [span.span, span]));
    const names = [
      'caller_speech',
      'heard',
      'understood',
      'model_first_token',
      'speech_first_sound',
    ] as const;
    expect([...spans.keys()]).toEqual(expect.arrayContaining([...names]));
    const end = (name: (typeof names)[number]) => spans.get(name)?.to_ms ?? Number.NaN;
    expect(end('caller_speech')).toBeLessThan(end('heard'));
    expect(end('understood')).toBeLessThanOrEqual(end('speech_first_sound'));
    expect(end('model_first_token')).toBeLessThanOrEqual(end('understood'));
    expect(answered.response_ms).toBe(end('speech_first_sound') - end('caller_speech'));
    const [first, ...others] = await turnsOf(api, id);
    expect(first).toMatchObject({ turn: 0, input: null });
    const bargeIns = [first, ...others]
      .flatMap((turn) => turn?.spans ?? [])
      .filter(({ span }) => span === 'barge_in');
    expect(bargeIns).toContainEqual(expect.objectContaining({ outcome: 'interrupted' }));
    // The line of the transcript is on the same axis: it is written when the words are known.
    const { transcripts, started_at } = await api.detail(id);
    const line = transcripts.find(({ user }) => user === 'user');
    expect(line?.text).toBe(wish);
    const lineAt = Date.parse(line?.created_at ?? '') - Date.parse(started_at ?? '');
    expect(lineAt).toBeGreaterThanOrEqual(end('heard') - 50);
  });
});
