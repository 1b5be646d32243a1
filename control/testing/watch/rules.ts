/** What is said of watched calls: their verdict, shares by version, and drift (contract 6.17). Pure. */
import { createHash } from 'node:crypto';
import type { VersionShare, WatchAlarm, WatchedStatus } from '#shared/api/agent-testing/watches.ts';
import type { AssertionResult, ConversationRecord } from '../judging/ports.ts';
import { rateOf } from '../judging/rates.ts';
import { newcombe, overDistinct, round4 } from '../judging/statistics.ts';

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

/** Equal for the same words at the same nodes. */
export function conversationOf({ chat_history }: ConversationRecord): string {
  return createHash('sha256').update(JSON.stringify(chat_history)).digest('hex').slice(0, 32);
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
