/** The result of a test call, from its call record (contract 3.2). Pure. */
import type { CallRecord, MediaReport } from '#shared/edge-protocol/calls.ts';
import type { TestCallState } from '#shared/edge-protocol/reports.ts';
import type { StoryEvent } from './story.ts';

type Verdict = Pick<TestCallState, 'status' | 'result' | 'error'> & { readonly event: StoryEvent };

/** Ends of an answered call that do not explain missing media. */
const ordinaryEnds: readonly (string | null)[] = [
  'agent_hangup',
  'callee_hangup',
  'max_duration',
  'media_timeout',
];

/**
 * `status` is that of the call: a call without media still completed, and its result is `failed`.
 * @param media what the call proves (proven-media.ts)
 */
export function verdictOf(record: CallRecord, media: MediaReport | null): Verdict {
  const failed = { result: 'failed', error: errorOf(record.termination), event: 'failed' } as const;
  if (record.answered_at === null) {
    if (record.status === 'busy') return { status: 'busy', result: 'busy', error: null, event: 'busy' };
    if (record.status === 'no-answer')
      return { status: 'no-answer', result: 'no_answer', error: null, event: 'no_answer' };
    return { status: 'failed', ...failed };
  }
  if (media?.verdict === 'two_way')
    return { status: 'completed', result: 'connected', error: null, event: 'completed' };
  if (ordinaryEnds.includes(record.termination)) return { status: 'completed', ...failed, error: 'NO_MEDIA' };
  return { status: 'completed', ...failed };
}

/** Other errors are named after the termination code (docs/errors.md). */
function errorOf(termination: string | null): string {
  return (termination ?? 'internal_error').toUpperCase();
}

/** The media section of an answered test call. */
export function mediaOf(report: MediaReport | null): NonNullable<TestCallState['media']> {
  if (!report) return { packets_sent: 0, packets_received: 0, verdict: 'none' };
  const { packets_sent, packets_received, verdict } = report;
  return { packets_sent, packets_received, verdict };
}
