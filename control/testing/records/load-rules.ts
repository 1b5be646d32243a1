/** What a level of a load was like (contract 6.16). Pure. */
import type { LoadFigures } from '#shared/api/agent-testing/loads.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import { rateOf } from '../judging/rates.ts';
import { round4, rounded, roundedInterval, wilson } from '../judging/statistics.ts';
import { percentile } from '../over-call/voice.ts';

/** A run of a level that has ended. */
export interface LoadedCall {
  readonly status: 'PASSED' | 'FAILED' | 'ERROR';
  readonly voice: Voice | null;
  /** Whether a call without a result was answered. */
  readonly answered: boolean;
  /** Equal for the same words at the same nodes. */
  readonly conversation: string;
  /** Why it did not pass. */
  readonly reasons: readonly string[];
}

const mostReasons = 5;
const longestReason = 200;
/** Two-sided 95 %. */
const z = 1.96;

export function figuresOf(calls: readonly LoadedCall[]): LoadFigures {
  const voices = calls.flatMap(({ voice }) => voice ?? []);
  const answered = calls.filter((call) => call.status !== 'ERROR' || call.answered).length;
  const finished = calls.filter(({ status }) => status !== 'ERROR');
  const passed = finished.filter(({ status }) => status === 'PASSED').length;
  const distinct = new Set(finished.map(({ conversation }) => conversation)).size;
  const answers = voices.map(({ turns }) =>
    turns.flatMap(({ response_latency_ms: ms, turn }) => (turn > 0 && ms !== null ? [ms] : [])),
  );
  const ends = voices.map(measuredEnd);
  const mos = sorted(ends.flatMap((media) => media?.mos ?? []));
  const loss = sorted(ends.flatMap((media) => lossOf(media) ?? []));
  return {
    calls: calls.length,
    answered,
    answered_share: calls.length === 0 ? null : round4(answered / calls.length),
    answered_interval: roundedInterval(wilson(answered, calls.length)),
    concurrency_reached: peak(voices),
    set_up_ms: percentilesOf(voices.flatMap(({ set_up_ms }) => set_up_ms ?? [])),
    first_audio_ms: percentilesOf(voices.flatMap(({ first_audio_ms }) => first_audio_ms ?? [])),
    latency_ms: latencyOf(answers.filter((own) => own.length > 0)),
    mos: { p50: rounded(percentile(mos, 0.5)), min: rounded(mos[0] ?? null) },
    loss_percent: { p50: rounded(percentile(loss, 0.5)), max: rounded(loss.at(-1) ?? null) },
    passed,
    failed: finished.length - passed,
    errored: calls.length - finished.length,
    ...rateOf(passed, finished.length, distinct),
    failures: reasonsOf(calls),
  };
}

/**
 * Percentiles of all answers. Those of one call are alike, so that the intervals count calls: of n calls the bounds of a
 * percentile q are the percentiles q ± 1.96 √(q(1−q)/n), and one beyond 0 or 1 is not known.
 * @param answers by call, ms
 */
export function latencyOf(answers: readonly (readonly number[])[]): LoadFigures['latency_ms'] {
  const all = sorted(answers.flat());
  const boundsOf = (q: number) => {
    if (answers.length < 2) return null;
    const reach = z * Math.sqrt((q * (1 - q)) / answers.length);
    const at = (share: number) => (share <= 0 || share >= 1 ? null : percentile(all, share));
    return { low: at(q - reach), high: at(q + reach) };
  };
  return {
    answers: all.length,
    p50: percentile(all, 0.5),
    p50_interval: boundsOf(0.5),
    p95: percentile(all, 0.95),
    p95_interval: boundsOf(0.95),
  };
}

function percentilesOf(values: readonly number[]) {
  const all = sorted(values);
  return { p50: percentile(all, 0.5), p95: percentile(all, 0.95) };
}

function sorted(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

/** The agent's end; that of an agent of others with a telephone is elsewhere, and the caller's is here. */
function measuredEnd({ caller_media, call_id, media }: Voice): Voice['media'] {
  return media ?? (call_id === null ? caller_media : null);
}

function lossOf(media: Voice['media']): number | null {
  if (!media) return null;
  const due = media.packets_received + media.packets_lost;
  return due > 0 ? (100 * Math.max(0, media.packets_lost)) / due : null;
}

/** Most calls at one time, from each one's INVITE to its end. */
export function peak(calls: readonly Pick<Voice, 'answered_at' | 'ended_at' | 'set_up_ms'>[]): number {
  const changes = calls.flatMap(({ answered_at, ended_at, set_up_ms }) =>
    answered_at && ended_at
      ? [
          { at: Date.parse(answered_at) - (set_up_ms ?? 0), by: 1 },
          { at: Date.parse(ended_at), by: -1 },
        ]
      : [],
  );
  let now = 0;
  let most = 0;
  // One that ends as another begins was not there with it.
  for (const { by } of changes.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

function reasonsOf(calls: readonly LoadedCall[]): LoadFigures['failures'] {
  const counts = new Map<string, number>();
  for (const { reasons, status } of calls) {
    if (status === 'PASSED') continue;
    const short = reasons.map((reason) => reason.slice(0, longestReason));
    for (const reason of new Set(short)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a, calls1], [b, calls2]) => calls2 - calls1 || (a < b ? -1 : 1))
    .slice(0, mostReasons)
    .map(([reason, count]) => ({ reason, calls: count }));
}
