/** Queries of the promotion gate. */

import type { Db, TestRunRow, TestScenarioRow } from '../../db/index.ts';
import type { Subject } from '../scenarios/rules.ts';

/** The enabled, required scenarios, oldest first. */
export function requiredScenarios(db: Db, orgId: string, { kind, id }: Subject): Promise<TestScenarioRow[]> {
  return db
    .selectFrom('test_scenarios')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(`${kind}_id`, '=', id)
    .where('enabled', '=', 1)
    .where('is_required_for_promotion', '=', 1)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Runs of one seed count once, so that some more than `promotion_repeats` are read. */
const mostRuns = 100;

/** The newest runs of a scenario on exactly this content, with the scenario's own request data. */
export function latestRuns(
  db: Db,
  scenarioId: string,
  contentHash: string,
): Promise<Pick<TestRunRow, 'id' | 'status' | 'overall_score' | 'created_at' | 'seed'>[]> {
  return (
    db
      .selectFrom('test_runs')
      .select(['id', 'status', 'overall_score', 'created_at', 'seed'])
      .where('scenario_id', '=', scenarioId)
      .where('content_hash', '=', contentHash)
      .where('request_data_override', 'is', null)
      // Another caller's values.
      .where('trigger_source', '!=', 'held_out')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(mostRuns)
      .execute()
  );
}

/** The running batch of an earlier request for this content, with the runs of each scenario in its current form. */
export async function runningBatch(
  db: Db,
  orgId: string,
  contentHash: string,
  scenarios: readonly Pick<TestScenarioRow, 'id' | 'updated_at' | 'promotion_repeats'>[],
): Promise<string | null> {
  const batches = await db
    .selectFrom('test_batches')
    .select('id')
    .where('org_id', '=', orgId)
    .where('content_hash', '=', contentHash)
    .where('trigger_source', '=', 'promotion')
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .orderBy('created_at', 'desc')
    .execute();
  for (const { id } of batches) {
    const runs = await db
      .selectFrom('test_runs')
      .select(['scenario_id', 'created_at'])
      .where('org_id', '=', orgId)
      .where('batch_id', '=', id)
      .execute();
    const covers = scenarios.every((scenario) => {
      const own = runs.filter(
        (run) => run.scenario_id === scenario.id && run.created_at >= scenario.updated_at,
      );
      return own.length >= scenario.promotion_repeats;
    });
    if (covers) return id;
  }
  return null;
}

export async function batchEnded(db: Db, batchId: string): Promise<boolean> {
  const row = await db
    .selectFrom('test_batches')
    .select('completed_at')
    .where('id', '=', batchId)
    .executeTakeFirst();
  return row?.completed_at != null;
}

export async function markPublished(db: Db, batchId: string): Promise<void> {
  await db.updateTable('test_batches').set({ published: 1 }).where('id', '=', batchId).execute();
}
