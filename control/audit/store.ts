/** The stored audit log: an entry is written in the transaction of its change. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import { type AuditEntryRow, type Db, deleteInBatches, toJson } from '../db/index.ts';
import type { TimeSpan } from '../http/index.ts';
import type { Actor } from './rules.ts';

export interface Change {
  /** Null: the deployment, for example an operator key. */
  readonly orgId: string | null;
  /** For example `sip`. */
  readonly area: string;
  /** The changed object: an id or a phone number. */
  readonly subject: string;
  /** For example `update`. */
  readonly action: string;
  /** Names without values, from `changedFields` of rules.ts. */
  readonly fields?: readonly string[];
}

/** @param db the transaction of the change, so that neither is stored without the other */
export async function recordChange(
  db: Db,
  clock: Pick<Clock, 'now'>,
  by: Actor,
  change: Change,
): Promise<void> {
  await db
    .insertInto('audit_entries')
    .values({
      id: newId(),
      org_id: change.orgId,
      at: new Date(clock.now()).toISOString(),
      actor_kind: by.kind,
      actor: by.key,
      request_id: by.requestId,
      area: change.area,
      subject_id: change.subject,
      action: change.action,
      changed_fields: toJson(change.fields ?? []),
    })
    .execute();
}

export interface ChangeFilter extends TimeSpan {
  readonly orgId?: string;
  readonly area?: string;
  readonly subject?: string;
  readonly actor?: string;
  /** Only entries after this one in list order. */
  readonly after?: Pick<AuditEntryRow, 'at' | 'id'>;
}

/** Newest first: `at`, then `id`, both descending. */
export function listChanges(db: Db, filter: ChangeFilter, limit: number): Promise<AuditEntryRow[]> {
  const { after } = filter;
  let query = db.selectFrom('audit_entries').selectAll();
  if (filter.orgId !== undefined) query = query.where('org_id', '=', filter.orgId);
  if (filter.area !== undefined) query = query.where('area', '=', filter.area);
  if (filter.subject !== undefined) query = query.where('subject_id', '=', filter.subject);
  if (filter.actor !== undefined) query = query.where('actor', '=', filter.actor);
  if (filter.from !== undefined) query = query.where('at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('at', '<', filter.to);
  if (after) {
    // The first comparison bounds the index; the second one handles equal times.
    query = query
      .where('at', '<=', after.at)
      .where((eb) => eb.or([eb('at', '<', after.at), eb('id', '<', after.id)]));
  }
  return query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** @param orgId undefined: the entries of every organization */
export function findChange(
  db: Db,
  orgId: string | undefined,
  id: string,
): Promise<AuditEntryRow | undefined> {
  const query = db.selectFrom('audit_entries').selectAll().where('id', '=', id);
  return (orgId === undefined ? query : query.where('org_id', '=', orgId)).executeTakeFirst();
}

/** Deletes entries from before `time` (ISO). Returns how many were deleted. */
export function deleteChangesBefore(db: Db, time: string): Promise<number> {
  return deleteInBatches((limit) =>
    db
      .deleteFrom('audit_entries')
      .where('id', 'in', (eb) =>
        eb.selectFrom('audit_entries').select('id').where('at', '<', time).limit(limit),
      )
      .executeTakeFirst(),
  );
}
