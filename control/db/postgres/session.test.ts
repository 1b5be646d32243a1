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
