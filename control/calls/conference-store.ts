/** Reads who is in which conference, from the records of the calls. */
import type { CallRow, Db } from '../db/index.ts';

const shown = [
  'id',
  'edge_id',
  'direction',
  'from_number',
  'to_number',
  'conference_id',
  'conference',
] as const;

export type ConferenceParty = Pick<CallRow, (typeof shown)[number]>;

/** Ids of open conferences, newest first: ids are in the order of time. */
export async function listConferences(
  db: Db,
  orgId: string,
  before: string | undefined,
  limit: number,
): Promise<string[]> {
  let query = db
    .selectFrom('calls')
    .select('conference_id')
    .distinct()
    .where('org_id', '=', orgId)
    .where('conference_id', 'is not', null)
    .where('ended_at', 'is', null);
  if (before !== undefined) query = query.where('conference_id', '<', before);
  const rows = await query.orderBy('conference_id', 'desc').limit(limit).execute();
  return rows.flatMap(({ conference_id: id }) => (id === null ? [] : [id]));
}

/** The calls in these conferences. */
export async function partiesOf(
  db: Db,
  orgId: string,
  conferenceIds: readonly string[],
): Promise<ConferenceParty[]> {
  if (conferenceIds.length === 0) return [];
  return db
    .selectFrom('calls')
    .select(shown)
    .where('org_id', '=', orgId)
    .where('conference_id', 'in', conferenceIds)
    .where('conference_id', 'is not', null)
    .where('ended_at', 'is', null)
    .execute();
}
