/** Inbound-number rows: held, archived, restored (contract 2.1 and 10). */
import { ApiError } from '#shared/errors.ts';
import { type Db, type NumberRow, toJson } from '../db/index.ts';

/** The row of a number that the organization holds. */
export function findNumber(db: Db, orgId: string, number: string): Promise<NumberRow | undefined> {
  return db
    .selectFrom('numbers')
    .selectAll()
    .where('number', '=', number)
    .where('org_id', '=', orgId)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
}

/** Whether the organization holds the number, or once held it. */
export async function everHeld(db: Db, orgId: string, number: string): Promise<boolean> {
  const row = await db
    .selectFrom('numbers')
    .select('number')
    .where('number', '=', number)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  return row !== undefined;
}

export function listNumbers(db: Db, orgId: string): Promise<NumberRow[]> {
  return db
    .selectFrom('numbers')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('archived_at', 'is', null)
    .orderBy('number')
    .execute();
}

/** One page of the numbers that the organization holds, in order, and the total. */
export async function pageOfNumbers(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ numbers: string[]; total: number }> {
  const all = db.selectFrom('numbers').where('org_id', '=', orgId).where('archived_at', 'is', null);
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all.select('number').orderBy('number').limit(page.limit).offset(page.offset).execute();
  return { numbers: rows.map(({ number }) => number), total };
}

/**
 * Makes the organization hold the number for SIP: restores its archived row with its old settings, or creates one.
 * @throws ApiError NUMBER_IN_USE when another organization holds it
 */
export async function holdNumber(db: Db, orgId: string, number: string, now: string): Promise<void> {
  const holder = await db
    .selectFrom('numbers')
    .select('org_id')
    .where('number', '=', number)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  if (holder?.org_id === orgId) return;
  if (holder) throw ApiError.of('NUMBER_IN_USE');
  await db
    .insertInto('numbers')
    .values({
      number,
      org_id: orgId,
      source: 'sip',
      pathway_id: null,
      pathway_version: null,
      persona_id: null,
      settings: toJson({}),
      builtin_agent: null,
      created_at: now,
      updated_at: now,
      archived_at: null,
    })
    .onConflict((conflict) => conflict.columns(['number', 'org_id']).doUpdateSet({ archived_at: null }))
    .execute();
}

/** Releases a number that was held for SIP only; its settings are kept in case it is attached again. */
export async function archiveNumber(db: Db, orgId: string, number: string, now: string): Promise<void> {
  await db
    .updateTable('numbers')
    .set({ archived_at: now })
    .where('number', '=', number)
    .where('org_id', '=', orgId)
    .where('source', '=', 'sip')
    .where('archived_at', 'is', null)
    .execute();
}

export async function updateNumber(
  db: Db,
  orgId: string,
  number: string,
  change: Partial<
    Pick<
      NumberRow,
      'pathway_id' | 'pathway_version' | 'persona_id' | 'settings' | 'builtin_agent' | 'updated_at'
    >
  >,
): Promise<void> {
  await db
    .updateTable('numbers')
    .set(change)
    .where('number', '=', number)
    .where('org_id', '=', orgId)
    .execute();
}
