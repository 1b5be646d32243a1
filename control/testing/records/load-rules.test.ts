import { describe, expect, it } from 'vitest';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import { figuresOf, type LoadedCall, latencyOf, peak } from './load-rules.ts';

const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, seconds)).toISOString();

function voice(latency: number, from = 0, to = 10): Voice {
  const turn = { speech_ms: 0, silence_ms: 0, barge_in: false, silent_after_ms: null, overlap_ms: 0 };
  return {
    call_id: null,
    caller_call_id: null,
    sip_call_id: null,
    set_up_ms: 50,
    answered_at: at(from),
    ended_at: at(to),
    codec: null,
    turns: [
      { ...turn, turn: 0, response_latency_ms: 30, transcript_source: 'agent_log' },
      { ...turn, turn: 1, response_latency_ms: latency, transcript_source: 'agent_log' },
    ],
    latency_ms: { p50: null, p95: null, max: null },
    first_audio_ms: 30,
    longest_silence_ms: null,
    overlap_ms: 0,
    media: null,
    caller_media: null,
    dtmf_sent: [],
  };
}

const call = (more: Partial<LoadedCall> = {}): LoadedCall => ({
  status: 'PASSED',
  voice: null,
  answered: false,
  conversation: 'one',
  reasons: [],
  ...more,
});

describe('the latency of answers', () => {
  // By hand, n = 4 calls: 0.5 ± 1.96 · 0.5 / 2 = 0.01 to 0.99; 0.95 ± 1.96 · 0.21794 / 2 = 0.7364 to 1.1636.
  it('has percentiles with intervals over calls; a bound beyond the sample is not known', () => {
    expect(latencyOf([[100], [300], [200], [400]])).toEqual({
      answers: 4,
      p50: 200,
      p50_interval: { low: 100, high: 400 },
      p95: 400,
      p95_interval: { low: 300, high: null },
    });
  });

  it('has no interval for one call, however many answers it has', () => {
    expect(latencyOf([[100, 200, 300]])).toMatchObject({ answers: 3, p50: 200, p50_interval: null });
    expect(latencyOf([])).toMatchObject({ answers: 0, p50: null, p95: null });
  });
});

describe('the figures of a level', () => {
  it('count calls that were not answered, and those that were and have no result', () => {
    const figures = figuresOf([
      call({ voice: voice(200) }),
      call({ status: 'FAILED', voice: voice(100), reasons: ['NODE_REACHED:Booked'], conversation: 'two' }),
      call({ status: 'ERROR', answered: true, reasons: ['The call was cut off.'] }),
      call({ status: 'ERROR', reasons: ['The call was not answered.'] }),
    ]);
    // Wilson, 3 of 4: 0.3006 to 0.9544.
    expect(figures).toMatchObject({
      calls: 4,
      answered: 3,
      answered_share: 0.75,
      answered_interval: { low: 0.3006, high: 0.9544 },
      set_up_ms: { p50: 50, p95: 50 },
      first_audio_ms: { p50: 30, p95: 30 },
      latency_ms: { answers: 2, p50: 100, p95: 200 },
      passed: 1,
      failed: 1,
      errored: 2,
      pass_rate: 0.5,
      distinct_conversations: 2,
    });
    expect(figures.failures).toEqual([
      { reason: 'NODE_REACHED:Booked', calls: 1 },
      { reason: 'The call was cut off.', calls: 1 },
      { reason: 'The call was not answered.', calls: 1 },
    ]);
  });

  it('have the quality at the agent’s end, or at the only end that is here', () => {
    const media = (mos: number) => ({
      ...{ packets_sent: 90, packets_received: 90, packets_lost: 10, jitter_ms: 1, round_trip_ms: 1 },
      ...{ mos, verdict: 'two_way' as const, cause: null },
    });
    const own = { ...voice(1), call_id: 'a', media: media(4), caller_media: media(2) };
    const lost = { ...voice(1), call_id: 'b', media: null, caller_media: media(2) };
    const theirs = { ...voice(1), caller_media: media(3) };
    expect(figuresOf([own, lost].map((one) => call({ voice: one })))).toMatchObject({
      mos: { p50: 4, min: 4 },
    });
    const called = figuresOf([call({ voice: theirs })]);
    expect(called).toMatchObject({ mos: { p50: 3, min: 3 }, loss_percent: { max: 10 } });
  });

  it('have no interval of the pass rate when all conversations were one', () => {
    const figures = figuresOf([call({ voice: voice(1) }), call({ voice: voice(1) })]);
    expect(figures).toMatchObject({ pass_rate: 1, distinct_conversations: 1, pass_rate_interval: null });
  });

  it('have the most calls at one time by their own times', () => {
    expect(peak([voice(1, 1, 3), voice(1, 2, 5), voice(1, 4, 6)])).toBe(2);
    // The next INVITE is sent when the one before has ended: 50 ms before its answer.
    expect(peak([{ ...voice(1, 1, 3) }, { ...voice(1, 3, 5), set_up_ms: 0 }])).toBe(1);
    expect(peak([])).toBe(0);
  });
});
