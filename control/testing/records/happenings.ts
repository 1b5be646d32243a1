/** What the events of organizations tell of test runs (contract 17). */
import type { TestRunRow } from '../../db/index.ts';
import type { Happening } from '../../events/index.ts';

type Told = Omit<TestRunRow, 'path_id' | 'failed_node_id' | 'attempts' | 'conversation' | 'usage'>;

/** @param at ISO */
export function happeningOfRun(run: Told, at: string): Happening {
  const { batch_id, completed_at, id, org_id: orgId, status } = run;
  const { agent_id, created_at, duration_ms, overall_score, pathway_id, persona_id } = run;
  const { scenario_id, turn_count } = run;
  const isOver = status !== 'PENDING' && status !== 'RUNNING';
  return {
    orgId,
    type: isOver ? 'test_run.ended' : 'test_run.updated',
    at,
    subject: { test_run_id: id, ...(batch_id !== null && { batch_id }) },
    data: {
      run: {
        id,
        scenario_id,
        pathway_id,
        persona_id,
        agent_id,
        batch_id,
        status,
        overall_score,
        turn_count,
        duration_ms,
        created_at,
        completed_at,
      },
    },
  };
}
