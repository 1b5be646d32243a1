/** To which replica each edge is linked, as stored. */
import { builtOnce, type Db, type EdgeRow } from '../db/index.ts';

/** An edge that is linked to some replica, dead ones included. */
export type LinkedRow = EdgeRow & { readonly replica_id: string };

/** @returns the epoch of this connection */
export async function linkEdge(db: Db, id: string, replica_id: string): Promise<number> {
  const { link_epoch } = await db
    .updateTable('edges')
    .set((eb) => ({ replica_id, link_epoch: eb('link_epoch', '+', 1), applied_version: 0, gauges: null }))
    .where('id', '=', id)
    .returning('link_epoch')
    .executeTakeFirstOrThrow();
  return link_epoch;
}

/** @returns whether that connection was still the newest */
export async function unlinkEdge(db: Db, id: string, replica: string, epoch: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('edges')
    .set({ replica_id: null })
    .where('id', '=', id)
    .where('replica_id', '=', replica)
    .where('link_epoch', '=', epoch)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Stores it unless the edge has a newer connection. */
export async function storeState(
  db: Db,
  id: string,
  epoch: number,
  state: Pick<EdgeRow, 'applied_version' | 'gauges'>,
): Promise<void> {
  await db.updateTable('edges').set(state).where('id', '=', id).where('link_epoch', '=', epoch).execute();
}

export const linkedEdges = builtOnce((db) =>
  db.selectFrom('edges').selectAll().where('replica_id', 'is not', null).$narrowType<LinkedRow>(),
);
