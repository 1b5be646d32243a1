/** The status of a batch, from its runs (contract 6.6). Pure. */
import type { RunStatus } from '#shared/api/agent-testing/scenarios.ts';

export type EndedStatus = Exclude<RunStatus, 'PENDING' | 'RUNNING'>;

/** The batch ends with the first of these statuses among its runs. */
const worstFirst = ['FAILED', 'ERROR', 'CANCELLED'] as const;

/** Null: some have not ended. A batch without runs has nothing that could pass: ERROR. */
export function batchStatus(runs: readonly RunStatus[]): EndedStatus | null {
  if (runs.some((status) => status === 'PENDING' || status === 'RUNNING')) return null;
  if (runs.length === 0) return 'ERROR';
  return worstFirst.find((status) => runs.includes(status)) ?? 'PASSED';
}
