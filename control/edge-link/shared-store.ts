/** To which replica each edge is linked, as stored. */
import { builtOnce, type Db, type EdgeRow, isAmong, updatesMany } from '../db/index.ts';

/** An edge that is linked to some replica, dead ones included. */
export type LinkedRow = EdgeRow & { readonly replica_id: string };

const link = builtOnce((db, ids: readonly string[], replica_id: string) =>
  db
    .updateTable('edges')
    .set((eb) => ({ replica_id, link_epoch: eb('link_epoch', '+', 1), applied_version: 0, gauges: null }))
    .where(isAmong(db, 'id', ids))
    .returning(['id', 'link_epoch']),
);

/** @returns the epochs of these connections */
export async function linkEdges(
  db: Db,
  ids: readonly string[],
  replica: string,
): Promise<Map<string, number>> {
  return new Map((await link(db, ids, replica)).map(({ id, link_epoch }) => [id, link_epoch]));
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

type State = Pick<EdgeRow, 'id' | 'link_epoch' | 'applied_version' | 'gauges'>;

/** Stores what edges report, unless they have newer connections. */
export const storeStates = updatesMany<State>(
  'edges',
  { id: 'text', link_epoch: 'bigint', applied_version: 'bigint', gauges: 'text' },
  ['id', 'link_epoch'],
);

const linked = (db: Db) =>
  db.selectFrom('edges').selectAll().where('replica_id', 'is not', null).$narrowType<LinkedRow>();

/** Edges that are linked to others than `replica`. */
export const edgesOfOthers = builtOnce((db, replica: string) =>
  linked(db).where('replica_id', '<>', replica),
);

/** These edges, if they are linked to some replica. */
export const edgesWithIds = builtOnce((db, ids: readonly string[]) =>
  linked(db).where(isAmong(db, 'id', ids)),
);
