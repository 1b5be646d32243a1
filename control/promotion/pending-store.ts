/** Publications waiting for their batch of test runs (contract 6.11). */
import type { Db, PendingPromotionRow } from '../db/index.ts';

/** Requesting it again while the same batch runs changes nothing. */
export async function insertPending(db: Db, row: PendingPromotionRow): Promise<void> {
  await db.updateTable('test_batches').set({ publish_on_pass: 1 }).where('id', '=', row.batch_id).execute();
  await db
    .insertInto('pending_promotions')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export function listPending(db: Db, batchId: string): Promise<PendingPromotionRow[]> {
  return db.selectFrom('pending_promotions').selectAll().where('batch_id', '=', batchId).execute();
}

/** The newest batch that a version waits for to be published; null: none. */
export async function batchAwaited(
  db: Db,
  kind: PendingPromotionRow['kind'],
  subjectId: string,
  version: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('pending_promotions')
    .select('batch_id')
    .where('kind', '=', kind)
    .where('subject_id', '=', subjectId)
    .where('version', '=', version)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.batch_id ?? null;
}

/** Removes a publication from the list. @returns false when it was already removed */
export async function takePending(db: Db, pending: PendingPromotionRow): Promise<boolean> {
  const { batch_id, kind, subject_id, version } = pending;
  const result = await db
    .deleteFrom('pending_promotions')
    .where('batch_id', '=', batch_id)
    .where('kind', '=', kind)
    .where('subject_id', '=', subject_id)
    .where('version', '=', version)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Deletes what is pending for a deleted pathway or persona. */
export async function dropPending(
  db: Db,
  kind: PendingPromotionRow['kind'],
  subjectId: string,
): Promise<void> {
  await db
    .deleteFrom('pending_promotions')
    .where('kind', '=', kind)
    .where('subject_id', '=', subjectId)
    .execute();
}
