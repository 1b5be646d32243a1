/** The stored members of the fleet. */
import { type Db, fromJson, toJson } from '../db/index.ts';
import type { Member } from './member-rules.ts';

export async function readFleet(db: Db): Promise<{ epoch: number; members: readonly Member[] }> {
  const row = await db
    .selectFrom('fleet')
    .select(['epoch', 'members'])
    .where('id', '=', 1)
    .executeTakeFirst();
  return row ? { epoch: row.epoch, members: fromJson(row.members) } : { epoch: 0, members: [] };
}

export async function storeFleet(db: Db, epoch: number, members: readonly Member[]): Promise<void> {
  const row = { epoch, members: toJson(members.map(({ id, since }) => ({ id, since }))) };
  await db
    .insertInto('fleet')
    .values({ id: 1, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
}
