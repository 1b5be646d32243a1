/** Why a call ended as it did, from what the API knows of it. Pure. */
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { terminationAdvice } from '#shared/termination-advice.ts';
import type { Answer, LoggedCall } from '../typescript/src/index.ts';

type Call = Answer<'GET /v1/calls/{call_id}'>;
type Turn = Answer<'GET /v1/sip/calls/{call_id}/timeline'>['data']['turns'][number];
type Message = Answer<'GET /v1/sip/calls/{call_id}/trace'>['data']['messages'][number];

export interface KnownCall {
  readonly call: Call;
  /** null: the caller of the API may not see it. */
  readonly logged: LoggedCall | null;
  readonly turns: readonly Turn[];
  /** The last ones. */
  readonly messages: readonly Message[];
}

/** A caller notices a longer wait for an answer, ms. */
const slowMs = 1500;
const mostSlowTurns = 5;

export function explanationOf({ call, logged, messages, turns }: KnownCall) {
  const code = call.termination;
  const rule = isTermination(code) ? terminations[code] : null;
  const answered = turns.flatMap(({ response_ms }) => (response_ms === null ? [] : [response_ms]));
  return {
    call_id: call.call_id,
    direction: call.direction,
    from: call.from,
    to: call.to,
    status: call.status,
    started_at: call.started_at,
    answered_at: call.answered_at,
    end_at: call.end_at,
    is_over: call.completed,
    why: {
      termination: code,
      caused_by: rule?.party ?? null,
      sentence: rule?.summary ?? (call.completed ? 'Its end has no known code.' : 'The call is in progress.'),
      detail: logged?.termination_detail ?? null,
      what_to_change: isTermination(code) ? terminationAdvice[code] : null,
      sip_status: logged?.status ?? null,
      ended_by: call.call_ended_by,
    },
    failed_endpoints: logged?.failover_attempts ?? [],
    audio: audioOf(logged),
    agent: {
      pathway_id: call.pathway_id,
      pathway_version: call.pathway_version,
      persona_id: call.persona_id,
      turns: turns.length,
      slowest_answer_ms: answered.length === 0 ? null : Math.max(...answered),
      slow_turns: turns
        .filter(({ response_ms }) => response_ms !== null && response_ms > slowMs)
        .slice(0, mostSlowTurns)
        .map(({ response_ms, spans, turn }) => ({ turn, response_ms, spans })),
    },
    sip_messages: messages.map(({ at, direction, remote, start_line }) => ({
      at,
      direction,
      remote,
      start_line,
    })),
  };
}

/** null: no audio was set up. */
function audioOf(logged: LoggedCall | null) {
  const media = logged?.media;
  if (!media) return null;
  const { cause, jitter_ms, mos, packets_lost, packets_received, packets_sent, verdict } = media;
  return { verdict, cause, mos, packets_sent, packets_received, packets_lost, jitter_ms };
}

function isTermination(code: string | null): code is TerminationCode {
  return code !== null && Object.hasOwn(terminations, code);
}
