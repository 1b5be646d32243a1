/**
 * Leases: which replica may do a named piece of work, until when, and a number that grows with each taking (the fence).
 *
 *     free --take--> held --renew--> held --release or expired--> free
 *
 * All times are the database's. Who is late to renew has lost the lease, even if nobody has taken it yet. On SQLite there
 * is one process, which `expelOthers` tells the database at its start: there nothing expires, and nothing is renewed.
 */
import { type CompiledQuery, type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { databaseTime } from './database-time.ts';
import { dialectOf } from './dialect-name.ts';
import type { Fence } from './fence.ts';
import type { Db } from './tables.ts';

export interface Lease {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
}

/** Who claims work: a replica, and the fence of its presence. */
export type Claimant = Pick<Lease, 'owner' | 'fence'>;

type Tables = Db extends Kysely<infer T> ? T : never;

/**
 * A condition on rows of `leases`: held by somebody who may still write. On a server that is somebody with a session: a row
 * without one was copied from a SQLite file, and its owner never worked here.
 */
function isValid(db: Db) {
  return dialectOf(db) === 'sqlite'
    ? sql<boolean>`leases.owner <> ''`
    : sql<boolean>`(leases.expires_at > ${databaseTime(db)} and leases.session_pid is not null)`;
}

/** The process of the server behind this connection. SQLite has none. */
function session(db: Db): RawBuilder<number | null> {
  return dialectOf(db) === 'sqlite' ? sql`null` : sql`pg_backend_pid()`;
}

/** Takes a lease that is free. Resolves with null when another owner has it, or was faster. */
export async function takeLease(db: Db, name: string, owner: string, ms: number): Promise<Lease | null> {
  const expires_at = sql<number>`${databaseTime(db)} + ${sql.lit(ms)}`;
  const session_pid = session(db);
  const taking = db
    .insertInto('leases')
    .values({ name, owner, fence: 1, expires_at, session_pid })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((eb) => ({ owner, expires_at, session_pid, fence: eb('leases.fence', '+', 1) }))
        .where((eb) => eb.not(isValid(db))),
    )
    .returning('fence');
  const [taken] =
    dialectOf(db) === 'sqlite'
      ? await taking.execute()
      : await db
          .with('written', () => taking)
          .selectFrom('written')
          .selectAll()
          .execute();
  return taken ? { name, owner, fence: taken.fence } : null;
}

/** Renews all leases of an owner, and resolves with those that it still has. */
export async function renewLeases(db: Db, owner: string, ms: number): Promise<Lease[]> {
  const renewing = db
    .updateTable('leases')
    .set({ expires_at: sql<number>`${databaseTime(db)} + ${sql.lit(ms)}`, session_pid: session(db) })
    .where('owner', '=', owner)
    .where(isValid(db))
    .returning(['name', 'owner', 'fence']);
  // Written so that it waits for no transaction that writes (postgres/dialect.ts): a row is locked by PostgreSQL itself.
  return dialectOf(db) === 'sqlite'
    ? renewing.execute()
    : db
        .with('written', () => renewing)
        .selectFrom('written')
        .selectAll()
        .execute();
}

/**
 * Ends the leases of processes that have died: their session has ended, and they have not renewed for `quietMs`. One
 * that lives and lost its connection renews over another one before. If it is late all the same, it has lost its
 * leases, as any late one; the fences keep it from writing. A session of a pooler outlives the process: then the time
 * counts alone. Resolves with the owners.
 * @param ms how long leases are taken for
 */
export async function endLeasesOfDead(db: Db, ms: number, quietMs: number): Promise<string[]> {
  const { rows } = await sql<{ owner: string }>`
    with ended as (
      update leases set expires_at = 0
      where expires_at > ${databaseTime(db)}
        and expires_at < ${databaseTime(db)} + ${sql.lit(ms - quietMs)}
        and session_pid is not null
        and not exists (select 1 from pg_stat_activity where pid = leases.session_pid)
      returning owner)
    select distinct owner from ended`.execute(db);
  return rows.map(({ owner }) => owner);
}

/** Frees a lease, so that another replica need not wait until it expires. */
export async function releaseLease(db: Db, { name, owner, fence }: Lease): Promise<void> {
  await db
    .updateTable('leases')
    .set({ owner: '', expires_at: 0 })
    .where((eb) => eb.and({ name, owner, fence }))
    .execute();
}

/** Those of `names` that somebody has. */
export async function heldLeases(db: Db, names: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('leases')
    .select('name')
    .where('name', 'in', [...names])
    .where(isValid(db))
    .execute();
  return rows.map(({ name }) => name);
}

/** On SQLite one process uses the file at a time: every other owner of a lease has ended. */
export async function expelOthers(db: Db, owner: string): Promise<void> {
  await db
    .updateTable('leases')
    .set({ owner: '', expires_at: 0 })
    .where('owner', '<>', owner)
    .where('owner', '<>', '')
    .execute();
}

/** The name of the lease that a replica has while it lives. */
export const presenceOf = (replica: string) => `replica ${replica}`;

/** Ids of the replicas that live. */
export async function livingReplicas(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('leases')
    .select('owner')
    .where('name', 'like', presenceOf('%'))
    .where(isValid(db))
    .execute();
  return rows.map(({ owner }) => owner);
}

/** Forgets replicas that ended more than `ms` ago. Their ids are used once, so no fence starts over. */
export async function pruneReplicas(db: Db, ms: number): Promise<void> {
  await db
    .deleteFrom('leases')
    .where('name', 'like', presenceOf('%'))
    .where('expires_at', '<', sql<number>`${databaseTime(db)} - ${sql.lit(ms)}`)
    .where((eb) => eb.not(isValid(db)))
    .execute();
}

/** A condition on rows with the claim of a replica: it lives, and has lived since it made the claim. */
export function claimIsAlive(db: Db, table: 'claims' | 'work_under_way') {
  return sql<boolean>`exists (select 1 from leases where leases.name = ${presenceOf('')} || ${sql.ref(`${table}.owner`)}
    and leases.owner = ${sql.ref(`${table}.owner`)} and leases.fence = ${sql.ref(`${table}.fence`)} and ${isValid(db)})`;
}

/** A condition: the replica whose id the expression has lives. */
export function isPresent(db: Db, replica: RawBuilder<unknown>) {
  return sql<boolean>`exists (select 1 from leases where leases.name = ${presenceOf('')} || ${replica}
    and leases.owner = ${replica} and ${isValid(db)})`;
}

/** The fence of work under a lease. */
export function leaseFence(db: Db, lease: Lease): Fence {
  const { name, owner, fence } = lease;
  const held = db
    .selectFrom('leases')
    .select(sql<number>`1`.as('held'))
    .where((eb) => eb.and({ name, owner, fence }))
    .where(isValid(db));
  // A taking changes the fence, so it waits for the transaction; a renewal does not.
  return { name: `The lease "${name}"`, check: locked(db, held, 'key share') };
}

/** The fence of one piece of claimed work. */
export function claimFence(db: Db, queue: string, id: string, { owner, fence }: Claimant): Fence {
  const claimed = db
    .selectFrom('work_under_way')
    .select(sql<number>`1`.as('held'))
    .where((eb) => eb.and({ queue, id, owner, fence }));
  return { name: `The claim on ${queue} ${id}`, check: locked(db, claimed, 'share') };
}

/** SQLite has one writer at a time, and no locks of rows. */
function locked<Table extends keyof Tables>(
  db: Db,
  query: SelectQueryBuilder<Tables, Table, { held: number }>,
  how: 'share' | 'key share',
): CompiledQuery<unknown> {
  if (dialectOf(db) === 'sqlite') return query.compile();
  return (how === 'share' ? query.forShare() : query.forKeyShare()).compile();
}
