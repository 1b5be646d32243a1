/** API keys as an organization manages them over HTTP. */
import { sql } from 'kysely';
import type { KeyQuery } from '#shared/api/keys.ts';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import type { ApiKeyRow, Db } from '../db/index.ts';
import { type NewestPage, newestPage } from '../http/index.ts';
import { isoTime } from './store.ts';

/** Keys of an organization that work at a time. */
const mostKeys = 100;
/** Revoked and expired ones that are remembered; the oldest are forgotten. */
const mostEnded = 500;

/** Newest first. */
export function pageOfKeys(
  db: Db,
  clock: Clock,
  orgId: string,
  {
    state,
    limit,
    offset,
  }: {
    readonly limit: number;
    readonly offset: number;
    readonly state?: KeyQuery['state'] | undefined;
  },
): Promise<NewestPage<ApiKeyRow>> {
  const all = db.selectFrom('api_keys').selectAll().where('org_id', '=', orgId);
  if (state === undefined) return newestPage(all, { limit, offset });
  const now = isoTime(clock);
  const some = all.where((eb) => {
    const ended = eb.or([eb('revoked_at', 'is not', null), eb('expires_at', '<=', now)]);
    const works = [
      eb('revoked_at', 'is', null),
      eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]),
    ];
    return state === 'ended' ? ended : eb.and(works);
  });
  return newestPage(some, { limit, offset });
}

/** @throws ApiError KEY_NOT_FOUND */
export async function requireKey(db: Db, orgId: string, id: string): Promise<ApiKeyRow> {
  const row = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!row) throw ApiError.of('KEY_NOT_FOUND');
  return row;
}

export function stateOf(row: Pick<ApiKeyRow, 'revoked_at' | 'expires_at'>, clock: Clock) {
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at !== null && row.expires_at <= isoTime(clock) ? 'expired' : 'active';
}

/**
 * Checks that an organization can have one more key, and forgets the oldest of too many ended ones. Call it in the
 * transaction that adds it. @throws ApiError QUOTA_EXCEEDED
 */
export async function keyRoom(db: Db, clock: Clock, orgId: string): Promise<void> {
  const { total } = await pageOfKeys(db, clock, orgId, { state: 'active', limit: 1, offset: 0 });
  if (total >= mostKeys) {
    const message = `The organization has ${mostKeys} keys that work; revoke one first.`;
    throw ApiError.of('QUOTA_EXCEEDED', { quota: 'keys', limit: mostKeys }, message);
  }
  const ended = await pageOfKeys(db, clock, orgId, { state: 'ended', limit: mostKeys, offset: mostEnded });
  const ids = ended.rows.map(({ id }) => id);
  if (ids.length === 0) return;
  await db.deleteFrom('sessions').where('key_id', 'in', ids).execute();
  await db.deleteFrom('api_keys').where('id', 'in', ids).execute();
}

/**
 * Checks that an organization can still manage its keys without this one: another admin key does not expire.
 * @throws ApiError LAST_ADMIN_KEY
 */
export async function requireOtherAdmin(db: Db, { id, org_id, role }: ApiKeyRow): Promise<void> {
  if (role !== 'admin') return;
  const { count } = await db
    .selectFrom('api_keys')
    .select(sql<number>`count(*)`.as('count'))
    .where('org_id', '=', org_id)
    .where('id', '!=', id)
    .where('role', '=', 'admin')
    .where('revoked_at', 'is', null)
    .where('expires_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (count === 0) throw ApiError.of('LAST_ADMIN_KEY');
}

/** Lets a key work until `at` (ISO), if it does not end sooner. @returns its row */
export async function letExpire(db: Db, row: ApiKeyRow, at: string): Promise<ApiKeyRow> {
  const expires_at = row.expires_at !== null && row.expires_at < at ? row.expires_at : at;
  await db.updateTable('api_keys').set({ expires_at }).where('id', '=', row.id).execute();
  return { ...row, expires_at };
}
