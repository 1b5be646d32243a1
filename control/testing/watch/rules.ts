/** What is said of watched calls: their verdict, shares by version, and drift (contract 6.17). Pure. */
import { createHash } from 'node:crypto';
import type { AssertionType, AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { VersionShare, WatchAlarm, WatchedStatus } from '#shared/api/agent-testing/watches.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { type CallRow, fromJson } from '../../db/index.ts';
import type { AssertionResult, ChatLine, ConversationRecord, Ending } from '../judging/ports.ts';
import { rateOf } from '../judging/rates.ts';
import { newcombe, overDistinct, round4 } from '../judging/statistics.ts';

/** These need what only a test run records. */
export const notWatchable: ReadonlySet<AssertionType> = new Set([
  'WEBHOOK_TRIGGERED',
  'TOOL_CALLED',
  'MEASUREMENT',
  'HEARD_WORDS',
]);

/** Of a version, so that it can recover: only its newest calls. */
const newestOfVersion = 200;

/** Whether a call is in the sample: the same for each replica and each look. @param rate 0..1 */
export function isSampled(watchId: string, callId: string, rate: number): boolean {
  const digest = createHash('sha256').update(`${watchId} ${callId}`).digest();
  return digest.readUInt32BE(0) < rate * 2 ** 32;
}

export function statusOf(results: readonly Pick<AssertionResult, 'status' | 'is_required'>[]): WatchedStatus {
  const required = results.filter(({ is_required }) => is_required);
  const has = (status: AssertionResult['status']) => required.some((one) => one.status === status);
  if (has('FAILED')) return 'FAILED';
  if (has('ERROR')) return 'ERROR';
  return has('INCONCLUSIVE') ? 'INCONCLUSIVE' : 'PASSED';
}

/** A call as assertions read it. Webhooks and tools of production calls are not kept. */
export function recordOf(call: CallRow, entries: readonly TranscriptEntry[]): ConversationRecord {
  let turn = 0;
  const chat_history: ChatLine[] = [];
  const nodes: string[] = [];
  for (const { node_id, text, user } of entries) {
    if (node_id !== null && nodes.at(-1) !== node_id) nodes.push(node_id);
    if (user === 'agent-action' || text.trim() === '') continue;
    if (user === 'user') turn++;
    const said = user === 'user' ? null : node_id;
    chat_history.push({ role: user, content: text, turn, node_id: said });
  }
  return {
    chat_history,
    variables: fromJson<Record<string, unknown>>(call.variables),
    nodes_visited: call.pathway_id === null ? null : nodes,
    node_names: Object.fromEntries(
      entries.flatMap(({ node_id, node_name }) =>
        node_id === null ? [] : [[node_id, node_name ?? node_id]],
      ),
    ),
    webhook_calls: [],
    tool_calls: [],
    log: entries.flatMap(({ at, node_id, text, user }) =>
      user === 'agent-action' ? [{ at, node_id, message: text }] : [],
    ),
    ending: endingOf(call),
  };
}

function endingOf({ hangup_by, termination_detail, transferred_to }: CallRow): Ending {
  const why = termination_detail ? `: ${termination_detail}` : '.';
  if (transferred_to !== null)
    return { by: 'transfer', reason: `The call was transferred to ${transferred_to}.`, transferred_to };
  if (hangup_by === 'agent') return { by: 'agent', reason: `The agent ended the call${why}` };
  if (hangup_by === 'peer') return { by: 'caller', reason: `The caller ended the call${why}` };
  return { by: 'unknown', reason: `The call ended${why}` };
}

/** Equal for the same words at the same nodes. */
export function conversationOf({ chat_history }: ConversationRecord): string {
  return createHash('sha256').update(JSON.stringify(chat_history)).digest('hex').slice(0, 32);
}

const byModel: ReadonlySet<AssertionType> = new Set(['LLM_JUDGE', 'CUSTOM_LLM', 'SERVICE_TONE']);
/** Of what a judge is told besides the conversation and the assertion, and of its answer. */
const overhead = 6000;
const charactersOfToken = 3;

/** Tokens that a judge with a model takes at most for a call, by its characters; 0: none is asked. */
export function tokensFor(assertions: readonly AssertionView[], record: ConversationRecord): number {
  const said = record.chat_history.reduce((sum, { content }) => sum + content.length + 20, 0);
  return assertions
    .filter(({ type }) => byModel.has(type))
    .reduce((sum, { config }) => {
      const characters = said + JSON.stringify(config).length + overhead;
      return sum + Math.ceil(characters / charactersOfToken);
    }, 0);
}

export interface JudgedCall {
  readonly version: number | null;
  readonly status: WatchedStatus;
  readonly conversation: string;
  readonly ended_at: string;
}

/** @param calls newest first @returns versions, the one that was called last first */
export function sharesOf(calls: readonly JudgedCall[], most: number): VersionShare[] {
  const groups = Map.groupBy(calls, ({ version }) => version);
  return [...groups].slice(0, most).flatMap(([version, all]) => {
    const own = all.slice(0, newestOfVersion);
    const [last, first] = [own[0], own.at(-1)];
    if (!first || !last) return [];
    const decided = own.filter(({ status }) => status === 'PASSED' || status === 'FAILED');
    const passed = decided.filter(({ status }) => status === 'PASSED').length;
    const distinct = new Set(decided.map(({ conversation }) => conversation)).size;
    return {
      version,
      calls: decided.length,
      passed,
      failed: decided.length - passed,
      undecided: own.length - decided.length,
      ...rateOf(passed, decided.length, distinct),
      first_at: first.ended_at,
      last_at: last.ended_at,
    };
  });
}

export type Drift =
  | { readonly state: 'unknown'; readonly compared: null }
  | { readonly state: 'ok' | 'drifted'; readonly compared: Omit<WatchAlarm, 'raised_at'> };

type Share = Pick<VersionShare, 'version' | 'calls' | 'passed' | 'distinct_conversations'>;

/**
 * The version that is called now against the last good one: the newest before it that had enough calls and was not
 * certainly worse than the good one before itself.
 * @param shares the one that was called last first
 */
export function driftOf(shares: readonly Share[], least: number): Drift {
  const [current, ...before] = shares;
  let good: Share | null = null;
  for (const one of before.toReversed()) {
    if (one.distinct_conversations < least) continue;
    if (!good || !isWorse(one, good)) good = one;
  }
  if (!current || !good || current.distinct_conversations < least)
    return { state: 'unknown', compared: null };
  const interval = differenceOf(current, good);
  if (!interval) return { state: 'unknown', compared: null };
  const compared = {
    version: current.version,
    good_version: good.version,
    difference: round4(current.passed / current.calls - good.passed / good.calls),
    interval: { low: round4(interval.low), high: round4(interval.high) },
  };
  return { state: interval.high < 0 ? 'drifted' : 'ok', compared };
}

function isWorse(one: Share, other: Share): boolean {
  const interval = differenceOf(one, other);
  return interval !== null && interval.high < 0;
}

function differenceOf(one: Share, other: Share) {
  return newcombe(samplesOf(one), samplesOf(other));
}

function samplesOf({ calls, distinct_conversations, passed }: Share) {
  return overDistinct(passed, calls, distinct_conversations);
}

/** What becomes of an alarm. `keep` while too little is known. */
export function alarmMove(
  alarm: Pick<WatchAlarm, 'version' | 'good_version'> | null,
  drift: Drift,
  current: number | null | undefined,
): 'raise' | 'resolve' | 'keep' {
  if (!alarm) return drift.state === 'drifted' ? 'raise' : 'keep';
  if (drift.state === 'ok') return 'resolve';
  // The good version is called again.
  if (current !== alarm.version && current === alarm.good_version) return 'resolve';
  return 'keep';
}
