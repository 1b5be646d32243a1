/**
 * The quality of calls and the turns of their conversations in the whole system: with a model and a transcription server,
 * joined calls whose packets stay in the media worker, on hold, and in a conference; media is in two shards.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CallQuality,
  type CallQualitySample,
  CallTimeline,
  type CallTurn,
} from '#shared/api/call-quality.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { Flite } from '#shared/models/flite.ts';
import { encodeMulaw, tone } from '../kit/fakes/audio.ts';
import { ModelServer } from '../kit/fakes/model-server.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import type { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { TranscriptionServer } from '../kit/fakes/transcription-server.ts';
import { longTest } from '../kit/long-test.ts';
import type { Api } from '../kit/programs/api.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { loud, number, TransferSystem } from '../kit/programs/transfers.ts';
import { Baresip } from '../peers/baresip.ts';

const silence = Buffer.alloc(160, 0xff);

async function qualityOf(api: Api, id: string) {
  return (await api.read(CallQuality, 'GET', `/v1/sip/calls/${id}/quality`)).data;
}

async function turnsOf(api: Api, id: string): Promise<CallTurn[]> {
  return (await api.read(CallTimeline, 'GET', `/v1/sip/calls/${id}/timeline`)).data.turns;
}

/** The first sample of a running call that is as wished. */
function sampleThat(
  api: Api,
  id: string,
  wished: (sample: CallQualitySample) => boolean,
): Promise<CallQualitySample> {
  return eventually('the wished sample', async () => saw(await qualityOf(api, id)).samples.find(wished));
}

type Count = 'packets_received' | 'packets_sent' | 'packets_lost';

const sum = (samples: readonly CallQualitySample[], count: Count) =>
  samples.reduce((total, sample) => total + sample[count], 0);

/** Plays it until the work is done. */
async function playing<T>(peers: readonly SrtpPeer[], work: Promise<T>): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => {});
  while (!isDone) await Promise.all(peers.map((peer) => peer.play(peer.toneFrames(500, 10))));
  return ended;
}

/** The last report about a call and its record say the same. */
async function sumsUp(api: Api, { id, media }: CallLogEntry): Promise<void> {
  const { samples, age_ms } = await qualityOf(api, id);
  expect(age_ms).toBeNull();
  expect(sum(samples, 'packets_sent')).toBe(media?.packets_sent);
  expect(sum(samples, 'packets_received')).toBe(media?.packets_received);
  for (const [index, { at_ms, duration_ms }] of samples.entries())
    expect(at_ms - duration_ms).toBeGreaterThanOrEqual((samples[index - 1]?.at_ms ?? 0) - 1);
}

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

describe('calls that meet each other', () => {
  let at: TransferSystem;
  beforeAll(async () => {
    at = await TransferSystem.start({ MEDIA_WORKERS: '2' });
  });
  beforeEach(() => at.begin());
  afterEach(() => at.end());
  afterAll(() => at?.close());

  test('have the counts of the media worker while it relays their packets, and then end with all of them', async () => {
    const { api } = at.system;
    const { media } = await at.caller();
    const { id } = await at.live();
    await at.transfer(id);
    const target = await at.trunk.call();
    await at.answer(target);
    const leg = await at.live(({ direction }) => direction === 'outbound');
    // The first one has also the time before the relay.
    const relayed = ({ relayed: is, packets_received: packets, clock_late_ms: late }: CallQualitySample) =>
      is && packets > 0 && late === null;
    const samples = Promise.all([id, leg.id].map((one) => sampleThat(api, one, relayed)));
    for (const sample of await playing([media, at.far], samples))
      expect(sample).toMatchObject({ level_received_dbov: null, jitter_buffer_ms: null, packets_late: null });
    await target.hangUp();
    for (const one of [id, leg.id]) await sumsUp(api, await at.ended(one));
    expect(await turnsOf(api, leg.id)).toEqual([]);
  });

  longTest(
    'are on hold in their samples while they are, then in a conference with the levels of both ways',
    async () => {
      const { api } = at.system;
      const ids: string[] = [];
      const phones: Baresip[] = [];
      for (const hz of [700, 1100]) {
        const phone = await Baresip.start({ speech: tone(hz, 8000 * 60) });
        at.open.push(phone);
        phones.push(phone);
        await phone.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
        await phone.event('CALL_ESTABLISHED');
        ids.push((await at.live((call) => !ids.includes(call.id))).id);
      }
      const [one = '', other = ''] = ids;
      await api.ok('POST', `/v1/calls/${one}/hold`, {});
      // Music is sent, and nothing is received.
      const held = await sampleThat(api, one, (sample) => sample.held && sample.packets_received === 0);
      expect(held).toMatchObject({ relayed: false, mos_received: null });
      expect(held.packets_sent).toBeGreaterThan(0);
      await api.ok('POST', `/v1/calls/${one}/resume`, {});
      for (const id of ids)
        expect(await at.transfer(id, { transfer_number: 'conference:sales' })).toMatchObject({ status: 200 });
      const { at_ms: since } = await sampleThat(api, other, ({ at_ms }) => at_ms > held.at_ms);
      const met = await sampleThat(api, other, (sample) => {
        const { level_received_dbov: from = null, level_sent_dbov: to = null } = sample;
        return sample.at_ms > since && (from ?? -127) > -40 && (to ?? -127) > -40;
      });
      expect(met).toMatchObject({ relayed: false, held: false });
      expect(met.clock_late_ms).toBeGreaterThanOrEqual(0);
      for (const [index, phone] of phones.entries()) {
        await phone.command('hangup');
        await sumsUp(api, await at.ended(ids[index] ?? ''));
      }
    },
  );
});
