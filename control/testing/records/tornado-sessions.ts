/** Tornado sessions for code that keeps or deletes runs. */
import { ApiError } from '#shared/errors.ts';
import type { Db, TestTornadoSessionRow } from '../../db/index.ts';

/** @throws ApiError TORNADO_NOT_FOUND */
export async function requireSession(db: Db, orgId: string, id: string): Promise<TestTornadoSessionRow> {
  const row = await db
    .selectFrom('test_tornado_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!row) throw ApiError.of('TORNADO_NOT_FOUND');
  return row;
}

/** The running session waiting for a batch: of an iteration, or of its held-out variants. */
export async function sessionOfBatch(db: Db, batchId: string): Promise<string | null> {
  const ofIteration = await db
    .selectFrom('test_tornado_iterations')
    .innerJoin('test_tornado_sessions', 'test_tornado_sessions.id', 'test_tornado_iterations.session_id')
    .select('test_tornado_sessions.id')
    .where('test_tornado_iterations.batch_id', '=', batchId)
    .where('test_tornado_sessions.status', '=', 'RUNNING')
    .executeTakeFirst();
  if (ofIteration) return ofIteration.id;
  const row = await db
    .selectFrom('test_batches')
    .innerJoin('test_runs', (join) =>
      join
        .onRef('test_runs.org_id', '=', 'test_batches.org_id')
        .onRef('test_runs.batch_id', '=', 'test_batches.id'),
    )
    .innerJoin('test_tornado_sessions', 'test_tornado_sessions.id', 'test_runs.tornado_session_id')
    .select('test_tornado_sessions.id')
    .where('test_batches.id', '=', batchId)
    .where('test_batches.trigger_source', '=', 'tornado')
    .where('test_tornado_sessions.status', '=', 'RUNNING')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** @throws ApiError TORNADO_NOT_FOUND, NOT_ENDED */
export async function deleteSession(db: Db, orgId: string, id: string): Promise<void> {
  const { status } = await requireSession(db, orgId, id);
  if (status === 'RUNNING') throw ApiError.of('NOT_ENDED');
  await deleteSessions(db, [id]);
}

/** @returns how many were deleted */
export async function deleteSessions(db: Db, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  await db.deleteFrom('test_tornado_iterations').where('session_id', 'in', ids).execute();
  const gone = await db.deleteFrom('test_tornado_sessions').where('id', 'in', ids).executeTakeFirst();
  return Number(gone.numDeletedRows);
}
