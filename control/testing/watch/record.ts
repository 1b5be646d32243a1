/**
 * A production call as assertions read it (contract 6.17). Its record is what edges report of every call: the transcript
 * with the agent's log, and what happened when in each turn. Pure.
 */
import type { AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import type { CallTurn } from '#shared/api/call-quality.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { TurnMark } from '#shared/edge-protocol/measured.ts';
import { turnsOf } from '../../calls/index.ts';
import { type CallRow, fromJson } from '../../db/index.ts';
import { type TypedAssertion, withoutNodes } from '../judging/assertions/outcome.ts';
import type { ChatLine, ConversationRecord, Ending } from '../judging/ports.ts';
import { percentile } from '../over-call/voice.ts';
import { heardOf, type Noted, notedIn, toolUsesIn, webhookCallsIn } from './happened.ts';
import { spokenOn, unheardOf } from './heard.ts';

/** Of a call; the rest of a longer one is not measured. */
export const mostTurns = 500;

/** Agents whose every decision is in the log. */
const logged: ReadonlySet<string | null> = new Set(['pathway', 'persona', 'task']);

export interface WatchedRecord {
  readonly record: ConversationRecord;
  /** Why the record of this call cannot decide an assertion; null: it can. */
  readonly unknown: (assertion: AssertionView) => string | null;
}

/** @param marks of its turns, with the time of each from the start of the call, ms */
export function recordOf(
  call: CallRow,
  { entries, isCut }: { readonly entries: readonly TranscriptEntry[]; readonly isCut: boolean },
  marks: readonly TurnMark[],
): WatchedRecord {
  let turn = 0;
  const chat_history: ChatLine[] = [];
  const nodes: string[] = [];
  const noted = notedIn(entries);
  for (const line of noted) {
    const { node_id, user } = line.entry;
    if (node_id !== null && nodes.at(-1) !== node_id) nodes.push(node_id);
    const content = heardOf(line);
    if (user === 'agent-action' || content.trim() === '') continue;
    if (user === 'user') turn++;
    chat_history.push({ role: user, content, turn, node_id: user === 'user' ? null : node_id });
  }
  const log = entries.filter(({ user }) => user === 'agent-action');
  const tools = toolUsesIn(noted);
  const voice = measuredOf(call, marks);
  const record: ConversationRecord = {
    chat_history,
    variables: fromJson<Record<string, unknown>>(call.variables),
    nodes_visited: call.pathway_id === null ? null : nodes,
    node_names: Object.fromEntries(
      entries.flatMap(({ node_id, node_name }) =>
        node_id === null ? [] : [[node_id, node_name ?? node_id]],
      ),
    ),
    webhook_calls: webhookCallsIn(noted),
    tool_calls: tools.map(({ call: one }) => one),
    log: log.map(({ at, node_id, text }) => ({ at, node_id, message: text })),
    ending: endingOf(call),
    ...(voice && { voice }),
    ...spokenOn(noted),
  };
  const unlogged = unloggedOf(call, noted, isCut);
  const unknown = (assertion: AssertionView): string | null => {
    const { config, type } = assertion as AssertionView & TypedAssertion;
    if (type === 'WEBHOOK_TRIGGERED') return unlogged || (call.pathway_id === null ? withoutNodes : null);
    if (type === 'TOOL_CALLED') {
      if (unlogged) return unlogged;
      const open = tools.some(({ ended, call: { name } }) => !ended && name === config.name);
      return config.ok !== undefined && open
        ? `The record of the call does not say how a use of ${config.name} ended.`
        : null;
    }
    if (type === 'HEARD_WORDS') return unlogged || unheardOf(call, noted, config, record);
    if (type !== 'MEASUREMENT' || config.measure === 'turns' || voice) return null;
    return 'The call has no timeline of its turns: its edge measured none, or its agent is of a kind that has none.';
  };
  return { record, unknown };
}

/** Why the record of a call has not all that its agent did; null: it has. */
function unloggedOf({ agent_kind }: CallRow, noted: readonly Noted[], isCut: boolean): string | null {
  if (!logged.has(agent_kind)) return 'What this kind of agent does is not in the record of its calls.';
  if (isCut) return 'The transcript of the call is too long to be read to its end.';
  return noted.some(({ fact }) => fact?.kind === 'lines_left_out')
    ? 'Lines are left out of the transcript of the call.'
    : null;
}

/** The turns as a run over a call has them; of what only a caller of tests hears, nothing is said. */
function measuredOf(call: CallRow, marks: readonly TurnMark[]): Voice | null {
  if (marks.length === 0) return null;
  const turns = turnsOf(marks);
  const firstSound = marks.find(([, event]) => event === 'sound')?.[2];
  const answered = since(call, call.answered_at);
  const latencies = turns
    .flatMap((one) => (one.turn > 0 ? (latencyOf(one, marks) ?? []) : []))
    .sort((a, b) => a - b);
  const longest = Math.max(latencies.at(-1) ?? -1, unanswered(call, turns, marks) ?? -1);
  return {
    call_id: call.id,
    caller_call_id: '',
    sip_call_id: call.sip_call_id,
    set_up_ms: answered,
    codec: call.codec,
    turns: turns.map((one) => ({
      turn: one.turn,
      response_latency_ms: latencyOf(one, marks) ?? 0,
      speech_ms: 0,
      silence_ms: 0,
      barge_in: one.spans.some(({ outcome, span }) => span === 'barge_in' && outcome === 'interrupted'),
      silent_after_ms: null,
      overlap_ms: 0,
      transcript_source: 'agent_log' as const,
    })),
    latency_ms: {
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      max: longest < 0 ? null : longest,
    },
    first_audio_ms: firstSound === undefined || answered === null ? null : Math.max(0, firstSound - answered),
    longest_silence_ms: null,
    overlap_ms: 0,
    media: call.media && fromJson<NonNullable<Voice['media']>>(call.media),
    caller_media: null,
    dtmf_sent: [],
  };
}

function latencyOf({ response_ms, turn }: CallTurn, marks: readonly TurnMark[]): number | null {
  if (response_ms !== null) return response_ms;
  const own = marks.filter(([number]) => number === turn);
  const keys = own.find(([, event]) => event === 'keys')?.[2];
  const sound = own.find(([, event]) => event === 'sound')?.[2];
  return keys === undefined || sound === undefined ? null : Math.max(0, sound - keys);
}

/** How long the caller of the last turn waited for an answer until the call ended, ms; null: it got an answer, or a transfer. */
function unanswered(call: CallRow, turns: readonly CallTurn[], marks: readonly TurnMark[]): number | null {
  const last = turns.at(-1);
  const end = since(call, call.ended_at);
  if (!last || last.turn === 0 || turns.length >= mostTurns || end === null || call.transferred_to !== null)
    return null;
  const own = marks.filter(([turn]) => turn === last.turn);
  if (own.some(([, event]) => event === 'sound')) return null;
  const asked = own.findLast(([, event]) => event === 'pause' || event === 'keys')?.[2];
  return asked === undefined || end < asked ? null : end - asked;
}

function since({ started_at }: CallRow, at: string | null): number | null {
  return at === null ? null : Math.max(0, Date.parse(at) - Date.parse(started_at));
}

const measuredOfCalls: ReadonlySet<string> = new Set([
  'turns',
  'latency_p50_ms',
  'latency_p95_ms',
  'latency_max_ms',
  'first_audio_ms',
  'barge_ins',
]);

/** Why no production call can decide an assertion, with where in it that is; null: calls can. */
export function notWatchable(assertion: Pick<AssertionView, 'type' | 'config'>): {
  readonly path: string;
  readonly rule: string;
} | null {
  const { config, type } = assertion as TypedAssertion;
  switch (type) {
    case 'WEBHOOK_TRIGGERED':
      if (config.url !== undefined || config.body_match !== undefined)
        return no(
          config.url === undefined ? '/config/body_match' : '/config/url',
          'must not be given: the record of a production call says which node called a webhook, not what was sent where',
        );
      return null;
    case 'TOOL_CALLED':
      return config.input_match === undefined
        ? null
        : no(
            '/config/input_match',
            'must not be given: the inputs of tools are not kept of production calls',
          );
    case 'MEASUREMENT':
      return measuredOfCalls.has(config.measure)
        ? null
        : no(
            '/config/measure',
            `must be one of ${[...measuredOfCalls].join(', ')}: what else is measured only test runs know`,
          );
    default:
      return null;
  }
}

function no(path: string, rule: string) {
  return { path, rule };
}

function endingOf({ hangup_by, termination_detail, transferred_to }: CallRow): Ending {
  const why = termination_detail ? `: ${termination_detail}` : '.';
  if (transferred_to !== null)
    return { by: 'transfer', reason: `The call was transferred to ${transferred_to}.`, transferred_to };
  if (hangup_by === 'agent') return { by: 'agent', reason: `The agent ended the call${why}` };
  if (hangup_by === 'peer') return { by: 'caller', reason: `The caller ended the call${why}` };
  return { by: 'unknown', reason: `The call ended${why}` };
}
