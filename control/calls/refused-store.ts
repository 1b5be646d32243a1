/** Stores and reads refused INVITEs. The rows of an organization are bounded, however many sources call it. */
import type { RefusedInvites } from '#shared/edge-protocol/refused.ts';
import { newId } from '#shared/ids.ts';
import { type Db, deleteInBatches, onIndex, type RefusedInvitesRow } from '../db/index.ts';
import type { TimeSpan } from '../http/index.ts';
import { addRefused, refusedKey, refusedRow } from './refused-rules.ts';

/** Entries of an organization that are kept: those that came last. Calls to numbers that nobody has count together. */
const mostOfOrganization = 2_000;

/** @throws RangeError for an invalid time */
export async function storeRefused(
  db: Db,
  refused: readonly RefusedInvites[],
  edgeId: string,
): Promise<void> {
  const rows = new Map<string, RefusedInvitesRow>();
  for (const one of refused) {
    const row = refusedRow(one, edgeId, newId());
    const before = rows.get(refusedKey(row));
    rows.set(refusedKey(row), before ? addRefused(before, row) : row);
  }
  // In one order, so that no two transactions wait for each other's rows.
  for (const key of [...rows.keys()].sort()) {
    const row = rows.get(key);
    if (row) await add(db, row);
  }
}

async function add(db: Db, row: RefusedInvitesRow): Promise<void> {
  const stored = await db
    .selectFrom('refused_invites')
    .selectAll()
    .where('org_id', '=', row.org_id)
    .where('source', '=', row.source)
    .where('reason', '=', row.reason)
    .where('number', '=', row.number)
    .executeTakeFirst();
  if (!stored) await db.insertInto('refused_invites').values(row).execute();
  else
    await db
      .updateTable('refused_invites')
      .set(addRefused(stored, row))
      .where('id', '=', stored.id)
      .execute();
}

export interface RefusedFilter extends TimeSpan {
  /** Undefined: of every organization, and of none. */
  readonly orgId?: string;
  readonly number?: string;
  readonly source?: string;
  readonly reason?: RefusedInvitesRow['reason'];
  /** Only entries after this one in list order. */
  readonly after?: Pick<RefusedInvitesRow, 'last_at' | 'id'>;
}

/** Newest first: `last_at`, then `id`, both descending. */
export function listRefused(db: Db, filter: RefusedFilter, limit: number): Promise<RefusedInvitesRow[]> {
  const { orgId, number, source, reason, from, to, after } = filter;
  // Each list is read from the end of one range; other filters leave out some of the few rows of an organization.
  const range = orgId === undefined ? (source === undefined ? 'by_time' : 'by_source') : 'of_organization';
  const index = `refused_invites_${range}`;
  let query = db
    .selectFrom(onIndex<RefusedInvitesRow, 'refused_invites'>(db, 'refused_invites', index))
    .selectAll();
  if (orgId !== undefined) query = query.where('org_id', '=', orgId);
  if (number !== undefined) query = query.where('number', '=', number);
  if (source !== undefined) query = query.where('source', '=', source);
  if (reason !== undefined) query = query.where('reason', '=', reason);
  if (from !== undefined) query = query.where('last_at', '>=', from);
  if (to !== undefined) query = query.where('last_at', '<', to);
  if (after)
    query = query
      .where('last_at', '<=', after.last_at)
      .where((eb) => eb.or([eb('last_at', '<', after.last_at), eb('id', '<', after.id)]));
  return query.orderBy('last_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** Deletes what was last seen before `time` (ISO), and what an organization has too many of. Returns how many rows. */
export async function pruneRefused(db: Db, time: string, most = mostOfOrganization): Promise<number> {
  const old = await deleteInBatches((limit) =>
    db
      .deleteFrom('refused_invites')
      .where('id', 'in', (eb) =>
        eb.selectFrom('refused_invites').select('id').where('last_at', '<', time).limit(limit),
      )
      .executeTakeFirst(),
  );
  let surplus = 0;
  for (const { org_id } of await organizationsAbove(db, most))
    surplus += await deleteInBatches((limit) =>
      db
        .deleteFrom('refused_invites')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('refused_invites')
            .select('id')
            .where('org_id', '=', org_id)
            .orderBy('last_at', 'desc')
            .orderBy('id', 'desc')
            .limit(limit)
            .offset(most),
        )
        .executeTakeFirst(),
    );
  return old + surplus;
}

function organizationsAbove(db: Db, most: number): Promise<{ org_id: string }[]> {
  return db
    .selectFrom('refused_invites')
    .select('org_id')
    .groupBy('org_id')
    .having((eb) => eb.fn.countAll<number>(), '>', most)
    .execute();
}
