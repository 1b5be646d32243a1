/** Deletes runs and their groups: on a customer's request, and the oldest when an organization has too many. */
import { sql } from 'kysely';
import { ApiError } from '#shared/errors.ts';
import { type Db, deleteInBatches } from '../../db/index.ts';
import { listPending } from '../../promotion/index.ts';
import { requireBatch } from './batch-store.ts';
import { requireRun } from './run-store.ts';
import { requireSet } from './set-store.ts';
import { sessionOfBatch } from './tornado-sessions.ts';

/** What remains of deleted runs: daily counts from when they ended (write.ts). */
export const leftInAnalytics =
  'Analytics keep the count of deleted runs of whole UTC days: totals, rates, scores, reliability, failed nodes, flow ' +
  'and daily rates. What they read from stored runs goes: the list of runs, the part of a day with which the window ' +
  'begins, and the weekly trend.';

const open: ReadonlySet<string> = new Set(['PENDING', 'RUNNING']);

/** Call these in a transaction. @throws ApiError RUN_NOT_FOUND, RUN_IN_GROUP, NOT_ENDED */
export async function deleteRun(db: Db, orgId: string, id: string): Promise<void> {
  const { batch_id, simulation_set_id, status } = await requireRun(db, orgId, id);
  if (batch_id !== null || simulation_set_id !== null) {
    throw ApiError.of('RUN_IN_GROUP', { batch_id, simulation_set_id });
  }
  if (open.has(status)) throw ApiError.of('NOT_ENDED');
  await deleteRuns(db, [id]);
}

/** @throws ApiError BATCH_NOT_FOUND, NOT_ENDED */
export async function deleteBatch(db: Db, orgId: string, id: string): Promise<void> {
  const { status } = await requireBatch(db, orgId, id);
  const isAwaited = (await sessionOfBatch(db, id)) !== null || (await listPending(db, id)).length > 0;
  if (open.has(status) || isAwaited) throw ApiError.of('NOT_ENDED');
  const runs = await db
    .selectFrom('test_runs')
    .select('id')
    .where('org_id', '=', orgId)
    .where('batch_id', '=', id)
    .execute();
  await deleteRuns(db, idsOf(runs));
  await db.deleteFrom('test_batches').where('id', '=', id).execute();
}

/** @throws ApiError SIMULATION_SET_NOT_FOUND, NOT_ENDED */
export async function deleteSet(db: Db, orgId: string, id: string): Promise<void> {
  const { status } = await requireSet(db, orgId, id);
  if (open.has(status)) throw ApiError.of('NOT_ENDED');
  const runs = await db.selectFrom('test_runs').select('id').where('simulation_set_id', '=', id).execute();
  await deleteRuns(db, idsOf(runs));
  await db.deleteFrom('test_simulation_sets').where('id', '=', id).execute();
}

/**
 * Deletes the oldest ended runs of every organization that has more than `most`, and batches and simulation sets with
 * their last run. @returns how many runs were deleted
 */
export async function deleteRunsBeyond(db: Db, most: number): Promise<number> {
  const { rows } = await sql<{ org_id: string; runs: number }>`select org_id, sum(runs) as runs
    from test_run_counts group by org_id having sum(runs) > ${most}`.execute(db);
  let deleted = 0;
  for (const { org_id: orgId, runs } of rows) {
    let excess = runs - most;
    deleted += await deleteInBatches((limit) =>
      db.transaction().execute(async (trx) => {
        const oldest = await trx
          .selectFrom('test_runs')
          .select(['id', 'batch_id', 'simulation_set_id'])
          .where('org_id', '=', orgId)
          .where('status', 'not in', [...open] as ('PENDING' | 'RUNNING')[])
          .orderBy('created_at')
          .orderBy('id')
          .limit(Math.min(limit, excess))
          .execute();
        await deleteRuns(trx, idsOf(oldest));
        await deleteEmpty(trx, oldest);
        excess -= oldest.length;
        return { numDeletedRows: BigInt(oldest.length) };
      }),
    );
  }
  return deleted;
}

interface Grouped {
  readonly batch_id: string | null;
  readonly simulation_set_id: string | null;
}

/** Ended groups without runs. */
async function deleteEmpty(db: Db, runs: readonly Grouped[]): Promise<void> {
  for (const [table, column] of [
    ['test_batches', 'batch_id'],
    ['test_simulation_sets', 'simulation_set_id'],
  ] as const) {
    const ids = [...new Set(runs.flatMap((run) => run[column] ?? []))];
    if (ids.length === 0) continue;
    const group = sql.table(table);
    await sql`delete from ${group} where id in (${sql.join(ids)}) and completed_at is not null and not exists
      (select 1 from test_runs where test_runs.org_id = ${group}.org_id
        and ${sql.ref(`test_runs.${column}`)} = ${group}.id)`.execute(db);
  }
}

async function deleteRuns(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.deleteFrom('test_assertion_results').where('run_id', 'in', ids).execute();
  await db.deleteFrom('test_run_records').where('run_id', 'in', ids).execute();
  await db.deleteFrom('test_runs').where('id', 'in', ids).execute();
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
