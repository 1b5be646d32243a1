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

/** Runs that are read at once, and in all: each request for the state of the gate reads them. */
const pageRuns = 100;
const mostRuns = 10_000;

type GateRun = Pick<TestRunRow, 'id' | 'status' | 'overall_score' | 'created_at' | 'seed'>;
type GateScenario = Pick<TestScenarioRow, 'id' | 'updated_at' | 'promotion_repeats'>;

/**
 * The newest runs on exactly this content that are of the scenario as it is (runs/as-is.ts). As many as the gate needs:
 * those of `promotion_repeats` different seeds, or else all since the last change of the scenario and some from before.
 */
export async function latestRuns(db: Db, scenario: GateScenario, contentHash: string): Promise<GateRun[]> {
  const runs: GateRun[] = [];
  const seeds = new Set<number>();
  let last: GateRun | undefined;
  for (let read = 0; read < mostRuns; read += pageRuns) {
    const page = await runsBefore(db, scenario.id, contentHash, last);
    last = page.at(-1);
    for (const run of page) {
      runs.push(run);
      if (run.created_at >= scenario.updated_at) seeds.add(run.seed);
      if (seeds.size === scenario.promotion_repeats) return runs;
    }
    if (page.length < pageRuns || !last || last.created_at < scenario.updated_at) break;
  }
  return runs;
}

function runsBefore(
  db: Db,
  scenarioId: string,
  contentHash: string,
  last: GateRun | undefined,
): Promise<GateRun[]> {
  let query = db
    .selectFrom('test_runs')
    .select(['id', 'status', 'overall_score', 'created_at', 'seed'])
    .where('scenario_id', '=', scenarioId)
    .where('content_hash', '=', contentHash)
    .where('as_is', '=', 1);
  if (last) {
    const { created_at, id } = last;
    query = query.where((is) =>
      is.or([
        is('created_at', '<', created_at),
        is.and([is('created_at', '=', created_at), is('id', '<', id)]),
      ]),
    );
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(pageRuns).execute();
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
