/** How a call ended, as the call log lists it (contract 3.4). Pure. */
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { unansweredBy } from '#shared/sip-status.ts';

/** Call outcomes in the call log (contract 3.4). */
export const outcomes = ['in_progress', 'completed', 'busy', 'no_answer', 'canceled', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

/** The call's outcome in the call log (contract 3.4). */
export function outcomeOf(
  call: Pick<CallRecord, 'ended_at' | 'answered_at' | 'status' | 'sip_code' | 'termination'>,
): Outcome {
  if (call.ended_at === null) return 'in_progress';
  if (call.answered_at !== null) return 'completed';
  const endedByUs = call.termination === 'api_stop' || call.termination === 'caller_canceled';
  if (endedByUs || call.status === 'canceled') return 'canceled';
  const bySip = unansweredBy(call.sip_code);
  if (bySip === 'busy' || call.status === 'busy') return 'busy';
  return bySip === 'no_answer' || call.status === 'no-answer' ? 'no_answer' : 'failed';
}
