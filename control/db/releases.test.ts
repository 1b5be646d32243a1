/** A version of the program beside the next one, on one PostgreSQL database. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { newDelivery } from '../../test/kit/db/delivery.ts';
import { onSqlite, takeDatabase } from '../../test/kit/db/test-database.ts';
import { migrations } from './migrations/index.ts';
import { DatabaseTooNew, migrate, openDatabase } from './open.ts';
import { whyTooNew, whyUnusable } from './releases.ts';

it.each<[string[], string | null]>([
  [[], null],
  [['9001-column'], null],
  [['9002-release-2', '9001-column'], null],
  [['9001-column', '9002-release-2', '9003-table'], '9003-table is more than one release newer'],
  [['9001-column-breaking'], '9001-column-breaking cannot be used by earlier versions'],
])('the unknown migrations %j are rejected because: %s', (unknown, why) => {
  expect(whyTooNew(unknown)).toBe(why);
});

it('a newer database is used on a server only, and by a version that has made all of its own', () => {
  const newer = { missing: [], unknown: ['9001-column'] };
  expect(whyUnusable(newer, true)).toBeNull();
  expect(whyUnusable(newer, false)).toBe('9001-column is not known here');
  expect(whyUnusable({ ...newer, missing: ['0001-first'] }, true)).toBe('9001-column is not known here');
  expect(whyUnusable({ missing: ['0001-first'], unknown: [] }, false)).toBeNull();
});

/** What a next release may do: add. */
const column: Migration = {
  up: async (db) => {
    await db.schema.alterTable('webhook_deliveries').addColumn('note', 'text').execute();
  },
};
const none: Migration = { up: async () => undefined };

describe.skipIf(onSqlite)('on PostgreSQL', () => {
  it('this version goes on and starts while the next one has migrated, and refuses the one after', async () => {
    const { address, release } = await takeDatabase();
    const before = await openDatabase(address);
    const { db } = before;
    try {
      await migrate(db, { ...migrations, '9001-column': column, '9002-release-2': none });
      const clock = new FakeClock();
      await db.insertInto('webhook_deliveries').values(newDelivery(clock)).execute();
      const again = await openDatabase(address);
      const row = await again.db.selectFrom('webhook_deliveries').selectAll().executeTakeFirstOrThrow();
      expect(row).toMatchObject(newDelivery(clock));
      await again.db.updateTable('webhook_deliveries').set({ attempts: 1 }).execute();
      await again.close();
      await migrate(db, {
        ...migrations,
        '9001-column': column,
        '9002-release-2': none,
        '9003-more': none,
      });
      await expect(openDatabase(address)).rejects.toMatchObject({ cause: expect.any(DatabaseTooNew) });
    } finally {
      await sql`alter table webhook_deliveries drop column note`.execute(db);
      await sql`delete from kysely_migration where name > '9'`.execute(db);
      await before.close();
      await release();
    }
  });

  it('two that start at once on a new database migrate it once', async () => {
    const { address, release } = await takeDatabase();
    const { db, close } = await openDatabase(address);
    const name = `fresh_${process.pid}`;
    await sql.raw(`create database ${name}`).execute(db);
    const url = new URL(address);
    url.pathname = `/${name}`;
    const opened = await Promise.all([openDatabase(url.href), openDatabase(url.href)]);
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by 1`.execute(
      opened[0].db,
    );
    expect(rows.map((row) => row.name)).toEqual(Object.keys(migrations).sort());
    for (const one of opened) await one.close();
    await sql.raw(`drop database ${name}`).execute(db);
    await close();
    await release();
  });
});
