/** What is stored under Idempotency-Keys: started work and responses (contract 1.8). */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Clock } from '#shared/clock.ts';
import { newTimedId } from '#shared/ids.ts';
import {
  type Db,
  deleteInBatches,
  type IdempotentAnswerRow,
  type IdempotentWorkRow,
  isPresent,
} from '../db/index.ts';

/** How long a key identifies the same request. */
const keptMs = 24 * 60 * 60 * 1000;

/** What a key is scoped to: the same key elsewhere is a different one. */
export interface KeyScope {
  readonly org_id: string;
  readonly path: string;
  readonly key: string;
}

type Tables = Db extends Kysely<infer T> ? T : never;
type KeyTable = 'idempotent_answers' | 'idempotent_work';

const keptSince = (clock: Clock) => new Date(clock.now() - keptMs).toISOString();

/** The row of `query` in this scope, unless it has expired. */
function findIn<Row>(
  query: SelectQueryBuilder<Tables, KeyTable, Row>,
  clock: Clock,
  { org_id, path, key }: KeyScope,
): Promise<Row | undefined> {
  return query
    .where((eb) => eb.and({ org_id, path, key }))
    .where('created_at', '>', keptSince(clock))
    .executeTakeFirst();
}

export function findAnswer(db: Db, clock: Clock, scope: KeyScope): Promise<IdempotentAnswerRow | undefined> {
  return findIn(db.selectFrom('idempotent_answers').selectAll(), clock, scope);
}

/** Work that was started and is not answered; `alive`: the process that does it lives. */
export async function findWork(
  db: Db,
  clock: Clock,
  scope: KeyScope,
): Promise<(IdempotentWorkRow & { readonly alive: boolean }) | undefined> {
  const alive = sql<number>`case when ${isPresent(db, sql.ref('idempotent_work.instance'))} then 1 else 0 end`;
  const row = await findIn(
    db.selectFrom('idempotent_work').selectAll().select(alive.as('alive')),
    clock,
    scope,
  );
  return row && { ...row, alive: row.alive === 1 };
}

/** Continues the work of a process that has ended. False when another process was faster. */
export async function takeWork(
  db: Db,
  { org_id, path, key }: KeyScope,
  { instance: from, work_id }: IdempotentWorkRow,
  instance: string,
): Promise<boolean> {
  const taken = await db
    .updateTable('idempotent_work')
    .set({ instance })
    .where((eb) => eb.and({ org_id, path, key, work_id, instance: from }))
    .returning('work_id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Whether a process still has the work; to check in the transaction that keeps its answer. */
export async function hasWork(db: Db, { org_id, path, key }: KeyScope, instance: string): Promise<boolean> {
  const row = await db
    .selectFrom('idempotent_work')
    .select('work_id')
    .where((eb) => eb.and({ org_id, path, key, instance }))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Records the start of work. Resolves with its id; null when another process was faster.
 * @param instance this start of the program
 */
export async function beginWork(
  db: Db,
  clock: Clock,
  scope: KeyScope,
  { bodyHash, instance }: { readonly bodyHash: string; readonly instance: string },
): Promise<string | null> {
  const work_id = newTimedId(clock.now());
  const row = { body_hash: bodyHash, work_id, instance, created_at: new Date(clock.now()).toISOString() };
  const begun = await db
    .insertInto('idempotent_work')
    .values({ ...scope, ...row })
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'path', 'key'])
        .doUpdateSet(row)
        .where('idempotent_work.created_at', '<=', keptSince(clock)),
    )
    .returning('work_id')
    .executeTakeFirst();
  return begun?.work_id ?? null;
}

type KeptAnswer = Omit<IdempotentAnswerRow, keyof KeyScope>;

/** Ends work; a kept response is valid from the same moment on. */
export async function endWork(db: Db, scope: KeyScope, kept: KeptAnswer | null): Promise<void> {
  await db.transaction().execute((trx) => (kept ? keepWork(trx, scope, kept) : deleteWork(trx, scope)));
}

/** Ends answered work, in a transaction. */
export async function keepWork(db: Db, scope: KeyScope, kept: KeptAnswer): Promise<void> {
  const { org_id, path, key } = scope;
  await db
    .insertInto('idempotent_answers')
    .values({ org_id, path, key, ...kept })
    .onConflict((conflict) => conflict.columns(['org_id', 'path', 'key']).doUpdateSet(kept))
    .execute();
  await deleteWork(db, scope);
}

async function deleteWork(db: Db, { org_id, path, key }: KeyScope): Promise<void> {
  await db
    .deleteFrom('idempotent_work')
    .where((eb) => eb.and({ org_id, path, key }))
    .execute();
}

/** Deletes expired entries. Returns how many rows were deleted. */
export async function pruneAnswers(db: Db, clock: Clock): Promise<number> {
  return (await forget(db, clock, 'idempotent_answers')) + (await forget(db, clock, 'idempotent_work'));
}

function forget(db: Db, clock: Clock, table: KeyTable): Promise<number> {
  const before = keptSince(clock);
  return deleteInBatches((limit) =>
    db
      .deleteFrom(table)
      .where((eb) =>
        eb(
          eb.refTuple('org_id', 'path', 'key'),
          'in',
          eb
            .selectFrom(table)
            .select(['org_id', 'path', 'key'])
            .where('created_at', '<=', before)
            .limit(limit)
            .$asTuple('org_id', 'path', 'key'),
        ),
      )
      .executeTakeFirst(),
  );
}
