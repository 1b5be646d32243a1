/** Phone sessions as rows, and the generations of the keys that their credentials are made with. */
import { sql } from 'kysely';
import type { PhoneSessionQuery } from '#shared/api/phone-sessions.ts';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import {
  type Db,
  deleteInBatches,
  fromJson,
  onIndex,
  type PhoneKeyRow,
  type PhoneSessionRow,
  toJson,
} from '../db/index.ts';
import { type NewestPage, newestPage } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { generationAt, keyLifeMs, type StoredPhones, storedPhones } from './rules.ts';

/** Sessions of an organization with which calls may begin. */
const mostOpen = 1_000;
/** How long an ended session is listed. */
const listedMs = 24 * 60 * 60 * 1000;

/** Newest first. */
export function pageOfSessions(
  db: Db,
  clock: Clock,
  orgId: string,
  { limit, offset, state }: { limit: number; offset: number; state?: PhoneSessionQuery['state'] | undefined },
): Promise<NewestPage<PhoneSessionRow>> {
  const sessions = onIndex<PhoneSessionRow, 'phone_sessions'>(
    db,
    'phone_sessions',
    'phone_sessions_of_organization',
  );
  // Those of supervisors are listed with their calls.
  const all = db.selectFrom(sessions).selectAll().where('org_id', '=', orgId).where('supervises', 'is', null);
  if (state === undefined) return newestPage(all, { limit, offset });
  const now = isoTime(clock);
  const some = all.where((eb) =>
    state === 'open'
      ? eb.and([eb('revoked_at', 'is', null), eb('expires_at', '>', now)])
      : eb.or([eb('revoked_at', 'is not', null), eb('expires_at', '<=', now)]),
  );
  return newestPage(some, { limit, offset });
}

/** @param whose those of supervisors are found as such only @throws ApiError PHONE_SESSION_NOT_FOUND */
export async function requireSession(
  db: Db,
  orgId: string,
  id: string,
  whose: 'phone' | 'supervisor' = 'phone',
): Promise<PhoneSessionRow> {
  const row = await db
    .selectFrom('phone_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!row || (row.supervises !== null) !== (whose === 'supervisor'))
    throw ApiError.of('PHONE_SESSION_NOT_FOUND');
  return row;
}

/** Checks that an organization can have one more. @throws ApiError QUOTA_EXCEEDED */
export async function sessionRoom(db: Db, clock: Clock, orgId: string): Promise<void> {
  const { count } = await db
    .selectFrom('phone_sessions')
    .select(sql<number>`count(*)`.as('count'))
    .where('org_id', '=', orgId)
    .where('expires_at', '>', isoTime(clock))
    .executeTakeFirstOrThrow();
  if (count < mostOpen) return;
  const message = `The organization has ${mostOpen} phone sessions that have not expired; wait until some have.`;
  throw ApiError.of('QUOTA_EXCEEDED', { quota: 'phone_sessions', limit: mostOpen }, message);
}

export async function insertSession(db: Db, row: PhoneSessionRow): Promise<void> {
  await db.insertInto('phone_sessions').values(row).execute();
}

/**
 * Marks a session as revoked, and keeps its id for the edges until it expires. In the transaction that publishes the
 * organization.
 */
export async function revokeSession(db: Db, clock: Clock, { id, org_id, expires_at }: PhoneSessionRow) {
  const now = isoTime(clock);
  const revoked_at = now;
  await db.updateTable('phone_sessions').set({ revoked_at }).where('id', '=', id).execute();
  const keys = await keyRow(db, clock, org_id);
  const revoked = fromJson(keys.revoked).filter((one) => one.expires_at > now);
  await db
    .updateTable('phone_keys')
    .set({ revoked: toJson([...revoked, { id, expires_at }]) })
    .where('org_id', '=', org_id)
    .execute();
  return revoked_at;
}

/**
 * The generation of the key for a new session; a key that has been used for a day is replaced. In the transaction that
 * stores the session.
 * @returns with `replaced` the organization must be published
 */
export async function nextGeneration(
  db: Db,
  clock: Clock,
  orgId: string,
): Promise<{ readonly generation: number; readonly replaced: boolean }> {
  const row = await keyRow(db, clock, orgId);
  const now = clock.now();
  if (now - Date.parse(row.since) < keyLifeMs) return { generation: generationAt(row, now), replaced: false };
  await db
    .updateTable('phone_keys')
    .set({ generation: row.generation + 1, since: isoTime(clock) })
    .where('org_id', '=', orgId)
    .where('generation', '=', row.generation)
    .execute();
  return { generation: row.generation, replaced: true };
}

async function keyRow(db: Db, clock: Clock, orgId: string): Promise<PhoneKeyRow> {
  await db
    .insertInto('phone_keys')
    .values({ org_id: orgId, generation: 0, since: isoTime(clock), revoked: toJson([]) })
    .onConflict((conflict) => conflict.column('org_id').doNothing())
    .execute();
  return db.selectFrom('phone_keys').selectAll().where('org_id', '=', orgId).executeTakeFirstOrThrow();
}

/** For the edges' configuration; null: the organization has had no session yet. */
export async function phonesOf(db: Db, orgId: string): Promise<StoredPhones | null> {
  const row = await db.selectFrom('phone_keys').selectAll().where('org_id', '=', orgId).executeTakeFirst();
  if (!row || (row.generation === 0 && fromJson(row.revoked).length === 0)) return null;
  return storedPhones(row);
}

/** One more call of a session, as an edge has reported it. */
export async function countPhoneCall(db: Db, orgId: string, id: string, callId: string): Promise<void> {
  await db
    .updateTable('phone_sessions')
    .set(({ eb }) => ({ calls_made: eb('calls_made', '+', 1), last_call_id: callId }))
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .execute();
}

/** Deletes sessions that ended a day ago. Returns how many. */
export function prunePhoneSessions(db: Db, clock: Clock): Promise<number> {
  const before = new Date(clock.now() - listedMs).toISOString();
  return deleteInBatches((limit) =>
    db
      .deleteFrom('phone_sessions')
      .where('id', 'in', (eb) =>
        eb.selectFrom('phone_sessions').select('id').where('expires_at', '<=', before).limit(limit),
      )
      .executeTakeFirst(),
  );
}
