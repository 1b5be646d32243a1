/** Sessions of browsers: a key began each, and it may do what the key may, as long as the key works. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import { type ApiKeyRow, builtOnce, type Db, deleteInBatches, type SessionRow } from '../db/index.ts';
import { countRows, type NewestPage } from '../http/index.ts';
import { hashKey, makeKey, sameHash } from './rules.ts';
import { idleSince, sessionLongestMs } from './session-rules.ts';
import { isoTime, useKeptEveryMs } from './store.ts';

/** Of one key; beyond it the one that was used least recently is forgotten. */
const mostSessions = 50;

type KeyParts = Pick<ApiKeyRow, 'kind' | 'name' | 'prefix' | 'role'>;

/** A session with what its key says. */
export interface KnownSession extends SessionRow, KeyParts {}

export interface FoundSession {
  readonly session: KnownSession;
  readonly sipEnabled: boolean;
  /** False: signed out, revoked or too old, or its key or organization is. */
  readonly inForce: boolean;
  readonly keyLastUsedAt: string | null;
}

const findByHash = builtOnce((db, hash: string) =>
  db
    .selectFrom('sessions')
    .innerJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .leftJoin('organizations', 'organizations.id', 'sessions.org_id')
    .selectAll('sessions')
    .select(['api_keys.kind', 'api_keys.name', 'api_keys.prefix', 'api_keys.role', 'api_keys.revoked_at'])
    .select(['api_keys.expires_at as key_expires_at', 'api_keys.last_used_at as key_last_used_at'])
    .select(['organizations.sip_enabled', 'organizations.disabled_at'])
    .where('sessions.hash', '=', hash),
);

/**
 * The session of a cookie's value; null when it is unknown. Read at each request, so that one that ends at another
 * replica ends here at once.
 */
export async function findSession(db: Db, clock: Clock, token: string): Promise<FoundSession | null> {
  const hash = hashKey(token);
  const [row] = await findByHash(db, hash);
  if (!row || !sameHash(row.hash, hash)) return null;
  const { sip_enabled, disabled_at, revoked_at, key_expires_at, key_last_used_at, ...session } = row;
  const now = isoTime(clock);
  const keyWorks = revoked_at === null && (key_expires_at === null || key_expires_at > now);
  const isOpen =
    session.ended_at === null && session.expires_at > now && session.last_used_at > idleSince(clock.now());
  return {
    session,
    sipEnabled: sip_enabled === 1,
    inForce: keyWorks && isOpen && disabled_at === null,
    keyLastUsedAt: key_last_used_at,
  };
}

/** Records that a session is used now, unless that was recorded within the last minute. */
export async function noteSessionUse(
  db: Db,
  clock: Clock,
  { id, last_used_at }: Pick<SessionRow, 'id' | 'last_used_at'>,
): Promise<void> {
  if (Date.parse(last_used_at) > clock.now() - useKeptEveryMs) return;
  await db
    .updateTable('sessions')
    .set({ last_used_at: isoTime(clock) })
    .where('id', '=', id)
    .execute();
}

export interface NewSession extends Pick<SessionRow, 'key_id' | 'org_id' | 'address' | 'user_agent'> {}

/** In a transaction. @returns the cookie's value, which is stored hashed, and how many others were forgotten for it */
export async function beginSession(
  db: Db,
  clock: Clock,
  session: NewSession,
): Promise<{ readonly token: string; readonly id: string; readonly replaced: number }> {
  const replaced = await forgetOldest(db, session.key_id);
  const { key: token, hash } = makeKey('session');
  const now = clock.now();
  const at = new Date(now).toISOString();
  const id = newId();
  await db
    .insertInto('sessions')
    .values({
      ...session,
      id,
      hash,
      created_at: at,
      last_used_at: at,
      expires_at: new Date(now + sessionLongestMs).toISOString(),
      ended_at: null,
    })
    .execute();
  return { token, id, replaced };
}

/** Makes room for one more of a key. @returns how many were forgotten that had not ended */
async function forgetOldest(db: Db, keyId: string): Promise<number> {
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'ended_at'])
    .where('key_id', '=', keyId)
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .execute();
  // Those that have ended go first.
  const ordered = rows.toSorted((a, b) => Number(a.ended_at !== null) - Number(b.ended_at !== null));
  const forgotten = ordered.slice(mostSessions - 1);
  if (forgotten.length === 0) return 0;
  const ids = forgotten.map(({ id }) => id);
  await db.deleteFrom('sessions').where('id', 'in', ids).execute();
  return forgotten.filter(({ ended_at }) => ended_at === null).length;
}

/** Whose sessions somebody may see and end: those of a key, of an organization, or of all operators. */
export type SessionOwner =
  | { readonly keyId: string }
  | { readonly orgId: string }
  | { readonly operators: true };

function sessionsOf(db: Db, clock: Clock, owner: SessionOwner) {
  const now = isoTime(clock);
  const open = db
    .selectFrom('sessions')
    .innerJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .selectAll('sessions')
    .select(['api_keys.kind', 'api_keys.name', 'api_keys.prefix', 'api_keys.role'])
    .where('sessions.ended_at', 'is', null)
    .where('sessions.expires_at', '>', now)
    .where('sessions.last_used_at', '>', idleSince(clock.now()))
    .where('api_keys.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('api_keys.expires_at', 'is', null), eb('api_keys.expires_at', '>', now)]));
  if ('keyId' in owner) return open.where('sessions.key_id', '=', owner.keyId);
  if ('orgId' in owner) return open.where('sessions.org_id', '=', owner.orgId);
  return open.where('sessions.org_id', 'is', null);
}

/** Open sessions, newest first. */
export async function listSessions(
  db: Db,
  clock: Clock,
  owner: SessionOwner,
  page: { readonly limit: number; readonly offset: number },
): Promise<NewestPage<KnownSession>> {
  const all = sessionsOf(db, clock, owner);
  const rows = await all
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: await countRows(all) };
}

/** The open session with this id, if it is one of the owner's. */
export function findOpenSession(
  db: Db,
  clock: Clock,
  owner: SessionOwner,
  id: string,
): Promise<KnownSession | undefined> {
  return sessionsOf(db, clock, owner).where('sessions.id', '=', id).executeTakeFirst();
}

export async function endSession(db: Db, clock: Clock, id: string): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: isoTime(clock) })
    .where('id', '=', id)
    .execute();
}

/** Deletes sessions whose longest time is over. Returns how many were deleted. */
export function pruneSessions(db: Db, clock: Clock): Promise<number> {
  return deleteInBatches((limit) =>
    db
      .deleteFrom('sessions')
      .where('id', 'in', (eb) =>
        eb.selectFrom('sessions').select('id').where('expires_at', '<=', isoTime(clock)).limit(limit),
      )
      .executeTakeFirst(),
  );
}
