import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storageFault } from '#shared/storage-fault.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../../test/kit/db/test-database.ts';
import { type Database, openDatabase } from '../open.ts';

describe.skipIf(onSqlite)('two control planes on one PostgreSQL server', () => {
  let taken: TestDatabase;
  let hung: Database;
  let other: Database;
  beforeEach(async () => {
    taken = await takeDatabase();
    hung = await openDatabase(taken.address);
    other = await openDatabase(taken.address);
  });
  afterEach(async () => {
    await hung.close();
    await other.close();
    await taken.release();
  });

  it('one that hangs in a transaction does not keep the other from writing, and has written nothing', async () => {
    const inside = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const late = hung.db
      .transaction()
      .execute(async (trx) => {
        await trx.insertInto('counters').values({ name: 'of the hung one', value: 1 }).execute();
        inside.resolve();
        await goesOn.promise;
        await trx.insertInto('counters').values({ name: 'late', value: 1 }).execute();
      })
      .catch((error: unknown) => error);
    await inside.promise;
    await other.db.insertInto('counters').values({ name: 'of the other', value: 1 }).execute();
    goesOn.resolve();
    expect(storageFault(await late)).toBe('unreachable');
    const stored = await other.db
      .selectFrom('counters')
      .select('name')
      .where('name', 'in', ['of the hung one', 'late', 'of the other'])
      .execute();
    expect(stored).toEqual([{ name: 'of the other' }]);
  });
});

it.skipIf(onSqlite)('settings of the database do not change what statements mean', async () => {
  const { address, release } = await takeDatabase();
  const name = new URL(address).pathname.slice(1);
  const admin = new pg.Client({ connectionString: address });
  await admin.connect();
  const set = {
    default_transaction_isolation: 'serializable',
    standard_conforming_strings: 'off',
    bytea_output: 'escape',
    extra_float_digits: '0',
    datestyle: 'SQL, DMY',
    timezone: 'Pacific/Kiritimati',
  };
  for (const [setting, value] of Object.entries(set))
    await admin.query(`alter database ${name} set ${setting} = '${value}'`);
  const database = await openDatabase(address);
  try {
    await database.db.insertInto('counters').values({ name: 'shared', value: 0 }).execute();
    const count = () =>
      database.db.transaction().execute(async (trx) => {
        const { value } = await trx
          .selectFrom('counters')
          .select('value')
          .where('name', '=', 'shared')
          .executeTakeFirstOrThrow();
        await trx
          .updateTable('counters')
          .set({ value: value + 1 })
          .where('name', '=', 'shared')
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, count));
    const stored = await database.db
      .selectFrom('counters')
      .select('value')
      .where('name', '=', 'shared')
      .executeTakeFirstOrThrow();
    expect(stored.value).toBe(20);
    const { rows } = await sql`select 0.1::double precision + 0.2::double precision as sum, 'a\\b' as text,
      'é'::text::bytea as bytes`.execute(database.db);
    expect(rows).toEqual([{ sum: 0.1 + 0.2, text: 'a\\b', bytes: Buffer.from('é') }]);
  } finally {
    await database.close();
    for (const setting of Object.keys(set)) await admin.query(`alter database ${name} reset ${setting}`);
    await admin.end();
    await release();
  }
});
