import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onDriver } from '../../test/kit/db/driver.ts';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { migrations } from './migrations/index.ts';
import { migrate, openDatabase } from './open.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'db-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = () => join(folder, 'sub', 'control.db');

describe('openDatabase', () => {
  it('creates a private file in WAL mode with every migration, and finds it migrated the next time', async () => {
    for (let start = 0; start < 2; start++) {
      const { db, close } = await openDatabase(file());
      const applied = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
        db,
      );
      expect(applied.rows.map((row) => row.name)).toEqual(Object.keys(migrations));
      expect(await onDriver(db, (connection) => connection.pragma('journal_mode', { simple: true }))).toBe(
        'wal',
      );
      expect(await onDriver(db, (connection) => connection.pragma('foreign_keys', { simple: true }))).toBe(1);
      await close();
    }
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('allows one organization at a time to hold a number', async () => {
    const { db, close } = await openTestDatabase();
    const hold = (org: string, archived: string | null) =>
      sql`insert into numbers (number, org_id, source, settings, created_at, updated_at, archived_at)
          values ('+1', ${org}, 'sip', '{}', '', '', ${archived})`.execute(db);
    for (const id of ['a', 'b', 'c']) {
      await sql`insert into organizations (id, name, region, sip_enabled, signing_secret, created_at)
          values (${id}, '', '', 0, '', '')`.execute(db);
    }
    await hold('a', null);
    await hold('b', '2030-01-01');
    await expect(hold('c', null)).rejects.toThrow('UNIQUE');
    await close();
  });

  it('runs bare work only between transactions', async () => {
    const { db, close } = await openTestDatabase();
    const seen: string[] = [];
    await Promise.all([
      db.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx);
        seen.push('transaction');
      }),
      onDriver(db, (connection) => {
        expect(connection.inTransaction).toBe(false);
        seen.push('bare');
      }),
    ]);
    expect(seen).toEqual(['transaction', 'bare']);
    await close();
  });

  it('lets a transaction write after it read, also when another program writes meanwhile', async () => {
    const { db, close } = await openDatabase(file());
    const other = new SqliteFile(file(), { timeout: 0 });
    const count = (to: number) => `insert into counters values ('n', ${to})
      on conflict (name) do update set value = ${to}`;
    await db.transaction().execute(async (trx) => {
      await trx.selectFrom('counters').selectAll().execute();
      expect(() => other.exec(count(1))).toThrow('database is locked');
      await sql.raw(count(2)).execute(trx);
    });
    other.exec(count(3));
    await db
      .transaction()
      .setAccessMode('read only')
      .execute(async (trx) => {
        const read = () => trx.selectFrom('counters').select('value').where('name', '=', 'n').execute();
        expect(await read()).toEqual([{ value: 3 }]);
        other.exec(count(4));
        expect(await read()).toEqual([{ value: 3 }]);
      });
    other.close();
    await close();
  });

  it('answers every filter of the call log from an index', async () => {
    const { db, close } = await openTestDatabase();
    for (const filter of ['1 = 1', 'number = 1', 'direction = 1', 'outcome = 1', 'sip_code = 1']) {
      const plan = await sql<{ detail: string }>`explain query plan
        select * from calls where org_id = 'a' and ${sql.raw(filter)} order by started_at desc, id desc limit 50`.execute(
        db,
      );
      expect(plan.rows.map((row) => row.detail).join()).toMatch(
        /^SEARCH calls USING INDEX calls_by_\w+ [^,]+$/,
      );
    }
    await close();
  });
});

describe('lists of personas, chats and references', () => {
  it.each([
    [
      'personas_of_organization',
      `select * from personas where org_id = 'a' and deleted_at is null order by created_at desc, id desc limit 20`,
    ],
    [
      'persona_versions_of_persona',
      `select * from persona_versions where persona_id = 'a' order by version_number desc`,
    ],
    ['numbers_of_persona', `select * from numbers where persona_id in ('a', 'b')`],
    ['chats_by_age', `select id from chats where last_message_at <= '2030' limit 200`],
    [
      'pathway_references_of_pathway',
      `select distinct version from pathway_references where pathway_id = 'a'`,
    ],
    ['pathway_references_of_source', `delete from pathway_references where source >= 'a' and source < 'b'`],
    [
      'pending_promotions_of_subject',
      `delete from pending_promotions where kind = 'persona' and subject_id = 'a'`,
    ],
    [
      'pathways_of_organization',
      `select * from pathways where org_id = 'a' order by created_at desc, id desc`,
    ],
  ])('use the index %s', async (index, query) => {
    const { db, close } = await openTestDatabase();
    const plan = await sql<{ detail: string }>`explain query plan ${sql.raw(query)}`.execute(db);
    expect(plan.rows[0]?.detail).toMatch(new RegExp(`^SEARCH \\w+ USING (COVERING )?INDEX ${index} `));
    await close();
  });
});

describe('migrate', () => {
  const open = () =>
    new Kysely<unknown>({ dialect: new SqliteDialect({ database: new SqliteFile(':memory:') }) });

  it('migrates an older schema, says so, and keeps its rows', async () => {
    const db = open();
    const [first, ...others] = Object.entries(migrations);
    const said: (readonly string[])[] = [];
    const saying = (missing: readonly string[]) => void said.push(missing);
    await migrate(db, Object.fromEntries(first ? [first] : []), saying);
    expect(said).toEqual([]);
    await sql`insert into organizations values ('a', 'Old', '', 1, '', '')`.execute(db);
    await migrate(db, migrations, saying);
    await migrate(db, migrations, saying);
    expect(said).toEqual([others.map(([name]) => name)]);
    const rows = await sql<{ name: string }>`select name from organizations`.execute(db);
    expect(rows.rows).toEqual([{ name: 'Old' }]);
    expect(others.length).toBeGreaterThan(1);
    await sql`select * from calls`.execute(db);
    await db.destroy();
  });

  it("rejects a newer version's database, and leaves it unchanged", async () => {
    const db = open();
    await migrate(db, { ...migrations, '9999-future': { up: async () => {} } });
    await expect(migrate(db, migrations)).rejects.toThrow(
      'The database was made by a newer version of the program (9999-future is not known here). Run that version',
    );
    const applied = await sql<{ n: number }>`select count(*) as n from kysely_migration`.execute(db);
    expect(applied.rows).toEqual([{ n: Object.keys(migrations).length + 1 }]);
    await db.destroy();
  });

  it('names the migration that failed', async () => {
    const db = open();
    const broken = { '0001-broken': { up: async () => Promise.reject(new Error('no')) } };
    await expect(migrate(db, broken)).rejects.toThrow('Database migration failed at 0001-broken');
    await db.destroy();
  });
});
