/** The metrics of a call, as the run shows them (contract 6.4 `voice`). Pure. */

import type { AgentTestEvent, HeardTurn } from '#shared/agent-test-protocol.ts';
import type { Weather } from '#shared/agent-test-weather.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';

type Ended = Extract<AgentTestEvent, { type: 'ended' }>;

export interface MeasuredTurn extends HeardTurn {
  /** 0 is before the caller's first move */
  readonly turn: number;
}

export function voiceOf(
  turns: readonly MeasuredTurn[],
  { caller, agent, keys_sent, weather: done }: Ended,
  asked: Weather | null = null,
): Voice {
  const latencies = turns
    .flatMap(({ turn, response_latency_ms: ms }) => (turn > 0 && ms !== null ? [ms] : []))
    .sort((a, b) => a - b);
  const silences = turns.map(({ response_latency_ms, silence_ms }) =>
    Math.max(silence_ms, response_latency_ms ?? 0),
  );
  return {
    call_id: agent?.id ?? null,
    caller_call_id: caller.id,
    sip_call_id: caller.sip_call_id,
    set_up_ms: caller.answered_at === null ? null : between(caller.started_at, caller.answered_at),
    answered_at: caller.answered_at,
    ended_at: caller.ended_at,
    codec: agent?.codec ?? caller.codec,
    turns: turns.map(({ words, ...measures }) => ({
      ...measures,
      transcript_source: words === null ? 'agent_log' : 'transcription',
    })),
    latency_ms: {
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      max: latencies.at(-1) ?? null,
    },
    first_audio_ms: turns.find(({ turn }) => turn === 0)?.response_latency_ms ?? null,
    longest_silence_ms: silences.length === 0 ? null : Math.max(...silences),
    overlap_ms: turns.reduce((sum, { overlap_ms }) => sum + overlap_ms, 0),
    media: agent?.media ?? null,
    caller_media: caller.media,
    dtmf_sent: keys_sent,
    ...(asked && done && { weather: { asked, done } }),
  };
}

function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

/** Nearest rank. @param sorted ascending */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
