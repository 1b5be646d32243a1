/** Builds the full record of a call for each report. Pure. */
import { isBuiltIn } from '#shared/agent/built-in-names.ts';
import { builtInVariables } from '#shared/agent/built-in-variables.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { CallRecord, ConferenceEvent, MediaReport } from '#shared/edge-protocol/calls.ts';
import { isoTime } from '#shared/iso-time.ts';
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { CallPlan } from './call-plan.ts';
import { endingOf, type Termination } from './ending.ts';
import type { CallFacts } from './ports/agents.ts';
import type { LegFacts } from './ports/signaling.ts';

/** Progress of a call. Times are milliseconds since the Unix epoch. */
export interface CallProgress {
  readonly startedAt: number;
  readonly ringing: boolean;
  /** An outbound call that has sent nothing yet. */
  readonly queued?: boolean;
  readonly answeredAt: number | null;
  readonly end: { readonly at: number; readonly termination: Termination } | null;
  readonly codec: string | null;
  readonly media: MediaReport | null;
  /** What the agent has extracted so far. */
  readonly extracted: CallVariables;
  /** Failed attempts of an outbound call (contract 3.4). */
  readonly attempts?: readonly FailoverAttempt[] | null;
  readonly transferredTo?: string | null;
  readonly conference?: CallRecord['conference'];
  readonly conferenceEvent?: ConferenceEvent | null;
  readonly answeredBy?: CallRecord['answered_by'];
}

export function callRecord(
  callId: string,
  leg: LegFacts,
  plan: CallPlan,
  progress: CallProgress,
): CallRecord {
  const { agent } = plan;
  const { answeredAt, end } = progress;
  const ending = end && endingOf(end.termination, answeredAt !== null, leg.direction);
  return {
    id: callId,
    org_id: plan.orgId,
    sip_call_id: leg.sipCallId,
    direction: leg.direction,
    from: leg.from,
    to: leg.to,
    number: plan.number,
    trunk_id: plan.trunkId,
    source_ip: leg.sourceIp,
    started_at: isoTime(progress.startedAt),
    answered_at: answeredAt === null ? null : isoTime(answeredAt),
    ended_at: end && isoTime(end.at),
    status: ending?.status ?? statusNow(progress),
    sip_code: ending?.sipCode ?? null,
    sip_reason: ending?.sipReason ?? null,
    termination: end?.termination.code ?? null,
    termination_detail: end?.termination.detail ?? null,
    hangup_by: ending?.hangupBy ?? null,
    codec: progress.codec,
    // Before the answer no media is expected, so none can be missing (contract 3.2).
    media: answeredAt === null ? null : progress.media,
    agent_kind: agent?.kind ?? null,
    persona_id: agent?.kind === 'persona' ? agent.persona_id : null,
    pathway_id: agent?.kind === 'pathway' ? agent.pathway_id : null,
    pathway_version: agent?.kind === 'pathway' ? agent.pathway_version : null,
    max_duration: agent?.max_duration ?? null,
    request_data: agent?.request_data ?? {},
    metadata: metadataOf(plan),
    variables: { ...plan.variables, ...progress.extracted },
    ...(progress.attempts ? { failover_attempts: [...progress.attempts] } : {}),
    ...(plan.parentId === undefined ? {} : { parent_id: plan.parentId }),
    ...(plan.testRunId === undefined ? {} : { test_run_id: plan.testRunId }),
    ...(progress.transferredTo ? { transferred_to: progress.transferredTo } : {}),
    ...(progress.conferenceEvent ? { conference_event: progress.conferenceEvent } : {}),
    ...(progress.conference ? { conference: progress.conference } : {}),
    ...(progress.answeredBy ? { answered_by: progress.answeredBy } : {}),
  };
}

/** Contract 2.8: a header mapped to `external_id` is stored under this key. The call of an agent test names its run. */
function metadataOf({ agent, variables, testRunId }: CallPlan): CallVariables {
  const { external_id: externalId } = variables;
  return {
    ...agent?.metadata,
    ...(externalId === undefined ? {} : { external_id: externalId }),
    ...(testRunId === undefined ? {} : { test_run_id: testRunId }),
  };
}

function statusNow(progress: CallProgress): CallRecord['status'] {
  if (progress.answeredAt !== null) return 'in-progress';
  if (progress.queued) return 'queued';
  return progress.ringing ? 'ringing' : 'initiated';
}

/** Facts for the agent. Header variables override request_data; built-in names are removed from both. */
export function callFacts(callId: string, leg: LegFacts, plan: CallPlan): CallFacts {
  const merged = { ...plan.agent?.request_data, ...plan.variables };
  return {
    callId,
    orgId: plan.orgId,
    trunkId: plan.trunkId,
    sipCallId: leg.sipCallId,
    direction: leg.direction,
    from: leg.from,
    to: leg.to,
    ...(plan.parentId === undefined ? {} : { parentId: plan.parentId }),
    variables: Object.fromEntries(Object.entries(merged).filter(([name]) => !isBuiltIn(name))),
    ...(plan.voicemail && { voicemail: plan.voicemail }),
  };
}

/** Variables that header mappings of a call may use: the agent's, and the built-in ones (contract 9.4). */
export function mappableVariables(callId: string, leg: LegFacts, plan: CallPlan, now: number): CallVariables {
  const { from, to } = leg;
  const timezone = plan.agent?.timezone ?? 'UTC';
  return {
    ...callFacts(callId, leg, plan).variables,
    ...builtInVariables({ from, to, callId, timezone, now }),
  };
}
