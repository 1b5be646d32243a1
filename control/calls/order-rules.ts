/** Validates orders of POST /v1/calls: pure functions (contract 4 and 9.1). */
import type { BlockList } from 'node:net';
import type { CallOrder } from '#shared/api/calls.ts';
import type { AgentSettings, AgentTool } from '#shared/edge-protocol/agents.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { ApiError } from '#shared/errors.ts';
import { type CallRow, toJson } from '../db/index.ts';
import {
  agentSettingsOf,
  checkTransferTargets,
  isTimezone,
  type NumberSettings,
  transferTargets,
} from '../numbers/index.ts';
import { checkUrl, readRecording } from '../organizations/index.ts';

export type AgentSource = 'task' | 'pathway_id' | 'persona_id' | 'stream_url' | 'realtime';
const sources: readonly AgentSource[] = ['task', 'pathway_id', 'persona_id', 'stream_url', 'realtime'];

/**
 * Checks what a schema cannot. Returns the order's one agent source.
 * @throws ApiError AGENT_SOURCE_CONFLICT, INVALID_PARAMETER, TARGET_NOT_ALLOWED
 */
export function checkOrder(order: CallOrder, allowedTargets: BlockList): AgentSource {
  const given = sources.filter((name) => order[name] !== undefined);
  const [source] = given;
  if (source === undefined || given.length > 1) {
    throw ApiError.of(
      'AGENT_SOURCE_CONFLICT',
      { fields: given },
      `Give exactly one of ${sources.join(', ')}.`,
    );
  }
  for (const name of ['pathway_version', 'start_node_id'] as const) {
    if (order[name] !== undefined && source !== 'pathway_id') {
      throw ApiError.invalid(`/${name}`, 'is only for calls with pathway_id');
    }
  }
  if (order.voicemail?.action === 'leave_message' && !order.voicemail.message) {
    throw ApiError.invalid('/voicemail/message', 'required with leave_message');
  }
  if (order.timezone !== undefined && !isTimezone(order.timezone)) {
    throw ApiError.invalid('/timezone', 'must be an IANA time zone name');
  }
  if (order.stream_url !== undefined) checkUrl(order.stream_url, 'wss:', '/stream_url', allowedTargets);
  if (order.webhook) checkUrl(order.webhook, 'https:', '/webhook', allowedTargets);
  checkTransferTargets(order, allowedTargets);
  if (order.recording) readRecording(order.recording, '/recording');
  return source;
}

/** The order's settings for its agent; omitted ones are absent. */
export function orderSettings(order: CallOrder): NumberSettings {
  const flag = (value: boolean | 'true' | 'false' | undefined) => value === true || value === 'true';
  const { first_sentence, voice, language, interruption_threshold, timezone, max_duration, request_data } =
    order;
  const { model, temperature, transfer_phone_number, transfer_list, tools } = order;
  const { wait_for_greeting, block_interruptions, ignore_button_press } = order;
  return {
    ...(wait_for_greeting !== undefined && { wait_for_greeting: flag(wait_for_greeting) }),
    ...(block_interruptions !== undefined && { block_interruptions: flag(block_interruptions) }),
    ...(ignore_button_press !== undefined && { ignore_button_press: flag(ignore_button_press) }),
    ...(first_sentence && { first_sentence }),
    ...(voice !== undefined && { voice }),
    ...(language !== undefined && { language }),
    ...(interruption_threshold !== undefined && { interruption_threshold }),
    ...(timezone !== undefined && { timezone }),
    ...(max_duration !== undefined && { max_duration }),
    ...(request_data !== undefined && { request_data }),
    ...(model !== undefined && { model }),
    ...(temperature !== undefined && { temperature }),
    ...(transfer_phone_number && { transfer_phone_number }),
    ...(transfer_list && { transfer_list }),
    ...(tools && { tools }),
    ...(order.key_terms && { key_terms: order.key_terms }),
    ...(order.recording && { recording: readRecording(order.recording, '/recording') }),
  };
}

/** The agent, unless it is a persona. @param version of the pathway, if any */
export function orderedAgent(order: CallOrder, version: number, tools: readonly AgentTool[]): AgentSettings {
  const settings = orderSettings(order);
  const agentSettings = agentSettingsOf(settings);
  if (order.pathway_id !== undefined) {
    const { pathway_id, start_node_id = null } = order;
    return { kind: 'pathway', pathway_id, pathway_version: version, start_node_id, ...agentSettings };
  }
  const transfers = transferTargets(settings);
  if (order.stream_url !== undefined) {
    return { kind: 'stream', stream_url: order.stream_url, ...agentSettings, ...transfers };
  }
  const used = tools.length > 0 && { tools: [...tools] };
  if (order.realtime !== undefined) {
    const { connection, instructions } = order.realtime;
    return {
      kind: 'realtime',
      connection_id: connection,
      prompt: instructions,
      ...agentSettings,
      ...transfers,
      ...used,
    };
  }
  return { kind: 'task', task: order.task ?? '', ...agentSettings, ...transfers, ...used };
}

export type PlaceCommand = Extract<EdgeCommand, { kind: 'call.place' }>;

/** The call's row before an edge has reported it. */
export function queuedRow(
  command: PlaceCommand,
  order: CallOrder,
  trunkId: string,
  edgeId: string,
  now: string,
): CallRow {
  const { agent } = command;
  return {
    id: command.call_id,
    org_id: command.org_id,
    edge_id: edgeId,
    sip_call_id: '',
    parent_id: null,
    direction: 'outbound',
    from_number: command.number,
    to_number: command.to,
    number: command.number,
    trunk_id: trunkId,
    source_ip: null,
    started_at: now,
    answered_at: null,
    ended_at: null,
    status: 'queued',
    outcome: 'in_progress',
    sip_code: null,
    sip_reason: null,
    termination: null,
    termination_detail: null,
    hangup_by: null,
    codec: null,
    media: null,
    agent_kind: agent.kind,
    pathway_id: agent.kind === 'pathway' ? agent.pathway_id : null,
    pathway_version: agent.kind === 'pathway' ? agent.pathway_version : null,
    persona_id: agent.kind === 'persona' ? agent.persona_id : null,
    max_duration: agent.max_duration,
    request_data: toJson(agent.request_data),
    variables: toJson({}),
    failover_attempts: toJson([]),
    metadata: toJson(order.metadata ?? {}),
    webhook: order.webhook ?? null,
    transferred_to: null,
    answered_by: null,
    test_run_id: null,
    conference_id: null,
    conference: null,
    end_stored_at: null,
  };
}
