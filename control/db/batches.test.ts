import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onSqlite, openTestDatabase } from '../../test/kit/db/test-database.ts';
import { deleteInBatches, mostDeletedAtOnce } from './batches.ts';
import type { Database } from './open.ts';

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const count = async () => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from counters`.execute(database.db);
  return rows[0]?.n;
};

const forget = (onBatch = async () => {}) =>
  deleteInBatches(async (limit) => {
    await onBatch();
    return database.db
      .deleteFrom('counters')
      .where('name', 'in', (eb) =>
        eb.selectFrom('counters').select('name').where('name', 'like', 'old %').limit(limit),
      )
      .executeTakeFirst();
  });

const insert = (rows: number, prefix: string) =>
  sql`insert into counters (name, value)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
    select ${prefix} || i, 0 from n`.execute(database.db);

describe('deleteInBatches', () => {
  it('deletes all matching rows, and lets a writer in between two batches', async () => {
    await insert(1000, 'old ');
    await insert(1, 'kept ');
    const left: Promise<number | undefined>[] = [];
    const look = async () => {
      const seen = count();
      left.push(seen);
      // On SQLite queries wait their turn; PostgreSQL runs two at a time, in any order.
      if (!onSqlite) await seen;
    };
    expect(await forget(look)).toBe(1000);
    // Each was issued before its batch, and saw what earlier batches had left.
    expect(await Promise.all(left)).toEqual([1001, 801, 601, 401, 201, 1]);
  });

  it('stops at a limit, so that one round ends', async () => {
    await insert(mostDeletedAtOnce + 50, 'old ');
    expect(await forget()).toBe(mostDeletedAtOnce);
    expect(await count()).toBe(50);
    expect(await forget()).toBe(50);
  });
});
