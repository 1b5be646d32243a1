import { expect, test } from 'vitest';
import { callRecord } from '../../../test/kit/fakes/call-record.ts';
import { callSettings, weatherProblem } from './settings.ts';
import { type MeasuredTurn, voiceOf } from './voice.ts';

const turn = (at: number, more: Partial<MeasuredTurn> = {}): MeasuredTurn => ({
  turn: at,
  response_latency_ms: null,
  speech_ms: 100,
  silence_ms: 0,
  barge_in: false,
  silent_after_ms: null,
  overlap_ms: 0,
  words: null,
  ...more,
});
const ended = {
  type: 'ended' as const,
  caller: callRecord({ id: 'caller', direction: 'outbound' }),
  agent: callRecord({ id: 'agent', codec: 'PCMA' }),
  transferred_to: null,
  visits: null,
  variables: {},
  log: [],
  keys_sent: ['1', '23'],
};

test('latency counts answers to the caller, and the first sound is separate', () => {
  const latencies = [500, 100, 400, 200, 300];
  const turns = latencies.map((response_latency_ms, i) => turn(i + 1, { response_latency_ms }));
  const voice = voiceOf([turn(0, { response_latency_ms: 900 }), ...turns, turn(6)], ended);
  expect(voice.latency_ms).toEqual({ p50: 300, p95: 500, max: 500 });
  expect(voice).toMatchObject({ first_audio_ms: 900, longest_silence_ms: 900, codec: 'PCMA' });
  expect(voice).toMatchObject({ call_id: 'agent', caller_call_id: 'caller', dtmf_sent: ['1', '23'] });
});

test('a turn has the source of its words', () => {
  const voice = voiceOf(
    [turn(0), turn(1, { words: '' }), turn(2, { words: 'hello', overlap_ms: 40 })],
    ended,
  );
  expect(voice.turns.map(({ transcript_source }) => transcript_source)).toEqual([
    'agent_log',
    'transcription',
    'transcription',
  ]);
  expect(voice).toMatchObject({ overlap_ms: 40, latency_ms: { p50: null, p95: null, max: null } });
});

test('a call without turns has no metrics', () => {
  const voice = voiceOf([], { ...ended, agent: null });
  expect(voice).toMatchObject({ call_id: null, first_audio_ms: null, longest_silence_ms: null, media: null });
});

test('the settings of calls are read from metadata, and invalid ones are ignored', () => {
  const settings = callSettings({
    call: { interrupt_turns: [2, 'x'], interrupt_after_ms: 300, caller_number: '+14155550123', voice: 'slt' },
  });
  expect(settings).toEqual({
    interruptTurns: new Set([2]),
    interruptAfterMs: 300,
    callerNumber: '+14155550123',
    voice: 'slt',
    language: 'en-US',
    weather: null,
  });
  expect(callSettings({ call: { interrupt_turns: 2, interrupt_after_ms: -1, caller_number: 'x' } })).toEqual(
    callSettings(null),
  );
});

test('the weather of a scenario is taken whole, or its fault is named', () => {
  const weather = { loss_percent: 5, noise: { kind: 'babble', snr_db: 10 } };
  const good = { call: { weather } };
  expect([callSettings(good).weather, weatherProblem(good)]).toEqual([weather, null]);
  for (const bad of [
    { loss_percnt: 5 },
    { loss_percent: 51 },
    { noise: { kind: 'rain', snr_db: 10 } },
    'wet',
  ]) {
    const metadata = { call: { weather: bad } };
    expect([callSettings(metadata).weather, weatherProblem(metadata)]).toEqual([null, expect.any(String)]);
  }
  expect([weatherProblem(null), weatherProblem({ call: 7 })]).toEqual([null, null]);
});

test('a call with weather says what was asked for and what was done', () => {
  const asked = { loss_percent: 10 };
  const done = { packets: 100, dropped: 9, overtaken: 0, loud_dbov: -20.5, quiet_dbov: -70 };
  expect(voiceOf([], { ...ended, weather: done }, asked).weather).toEqual({ asked, done });
  expect(voiceOf([], ended)).not.toHaveProperty('weather');
});
