import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onDriver } from '../../../test/kit/db/driver.ts';
import { fillTables } from '../../../test/kit/db/rows.ts';
import { openTestDatabase } from '../../../test/kit/db/test-database.ts';
import { type Database, openDatabase } from '../open.ts';
import type { Db } from '../tables.ts';
import { beginChanges, copyChanges, endChanges } from './changes.ts';
import { CopyDiffers, copyRows, countAll, currentTables, isEmpty } from './copy.ts';
import { pagesOf, RowsDigest } from './rows.ts';

let source: Database;
let target: Database;
beforeEach(async () => {
  source = await openDatabase(':memory:');
  target = await openTestDatabase();
});
afterEach(async () => {
  await source.close();
  await target.close();
});

/** SHA-256 by table. */
async function contents(db: Db): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const table of await currentTables()) {
    const digest = new RowsDigest(table);
    for await (const page of pagesOf(db, table)) digest.add(page);
    all[table.name] = digest.end();
  }
  return all;
}

async function expectCopy(): Promise<void> {
  expect(await contents(target.db)).toEqual(await contents(source.db));
}

async function addOrganization({ db }: Database, id: string): Promise<void> {
  await sql`insert into organizations (id, name, region, sip_enabled, signing_secret, created_at)
    values (${id}, ${`name of ${id}`}, 'us', 1, 'sealed', '2030-01-01T00:00:00.000Z')`.execute(db);
}

async function addReports({ db }: Database, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) {
    await sql`insert into pathway_references (source, pathway_id, version)
      values (${`pathway:${n % 7}`}, ${`p${n}`}, null)`.execute(db);
  }
}

describe('a table', () => {
  it('comes after those that it refers to', async () => {
    const seen = new Set<string>();
    const { rows } = await sql<{ name: string; target: string }>`select m.name, f."table" as target
      from sqlite_master m, pragma_foreign_key_list(m.name) f where m.type = 'table'`.execute(source.db);
    expect(rows.length).toBeGreaterThan(10);
    for (const { name } of await currentTables()) {
      for (const reference of rows.filter((row) => row.name === name))
        expect(seen).toContain(reference.target);
      seen.add(name);
    }
  });
});

describe('a copy', () => {
  it('has every row of every table, and so has a copy of the copy', async () => {
    await onDriver(source.db, fillTables);
    await addReports(source, 1_201);
    const copied = await copyRows(source.db, target.db);
    expect([...copied.values()].filter((rows) => rows === 0)).toEqual([]);
    expect(copied).toEqual(await countAll(target.db));
    await expectCopy();
    const back = await openDatabase(':memory:');
    await copyRows(target.db, back.db);
    expect(await contents(back.db)).toEqual(await contents(source.db));
    await back.close();
  });

  it('replaces what was there', async () => {
    await addOrganization(source, 'org_new');
    await addOrganization(target, 'org_old');
    expect(await isEmpty(target.db)).toBe(false);
    await copyRows(source.db, target.db);
    await expectCopy();
  });

  it('continues generated ids after the last one that was ever used', async () => {
    const table = (await currentTables()).find(({ name }) => name === 'rejected_reports');
    expect(table?.generated).toBe('id');
    await onDriver(source.db, (file) => {
      fillTables(file);
      file.exec(`update sqlite_sequence set seq = 41 where name = 'rejected_reports'`);
    });
    await copyRows(source.db, target.db);
    const columns = table?.columns.filter((name) => name !== 'id') ?? [];
    const list = sql.join(columns.map((name) => sql.ref(name)));
    const { rows } = await sql<{ id: number }>`insert into rejected_reports (${list})
      select ${list} from rejected_reports returning id`.execute(target.db);
    expect(rows).toEqual([{ id: 42 }]);
  });

  it('stores U+0000 as both databases can hold it, and counts it as equal', async () => {
    await addOrganization(source, 'org');
    await sql`update organizations set name = ${'a\0b'}`.execute(source.db);
    await copyRows(source.db, target.db);
    await expectCopy();
  });

  it('that differs from the original is not kept', async () => {
    await addOrganization(source, 'org');
    const altering = await openDatabase(':memory:');
    await sql`create trigger altering after insert on organizations
      begin update organizations set name = 'other'; end`.execute(altering.db);
    await expect(copyRows(source.db, altering.db)).rejects.toThrow(CopyDiffers);
    expect(await isEmpty(altering.db)).toBe(true);
    await altering.close();
  });
});

describe('changes after a copy', () => {
  it('are brought to it: new, changed and deleted rows, with those deleted by a reference', async () => {
    await onDriver(source.db, fillTables);
    await beginChanges(source.db);
    await copyRows(source.db, target.db);
    expect(await copyChanges(source.db, target.db)).toBe(0);

    await addOrganization(source, 'org_2');
    await sql`update organizations set name = 'changed'`.execute(source.db);
    await sql`delete from widget_threads`.execute(source.db);
    await addReports(source, 3);
    await sql`update test_runs set status = 'FAILED'`.execute(source.db);
    // Tables in partitions, on PostgreSQL.
    for (const table of ['calls', 'transcript_parts', 'trace_parts'])
      await sql`insert into ${sql.table(table)} select * from ${sql.table(table)} where true
        on conflict (id) do update set ${sql.ref(table === 'calls' ? 'status' : 'call_id')} = 'changed'`.execute(
        source.db,
      );
    expect(await copyChanges(source.db, target.db)).toBeGreaterThan(8);
    await expectCopy();
    expect(await copyChanges(source.db, target.db)).toBe(0);
  });

  it('give a row another key, which keeps its unique values', async () => {
    await onDriver(source.db, fillTables);
    await beginChanges(source.db);
    await copyRows(source.db, target.db);
    await sql`update edge_tokens set id = 'moved'`.execute(source.db);
    await copyChanges(source.db, target.db);
    await expectCopy();
  });

  it('of more keys than are read at once arrive', async () => {
    await beginChanges(source.db);
    await copyRows(source.db, target.db);
    for (let n = 0; n < 1_100; n++) await addOrganization(source, `org_${n}`);
    expect(await copyChanges(source.db, target.db)).toBe(1_100);
    await expectCopy();
  });

  it('are noted no more after the end, also when it comes twice', async () => {
    await beginChanges(source.db);
    await beginChanges(source.db);
    await endChanges(source.db);
    await endChanges(source.db);
    await addOrganization(source, 'org');
    const { rows } = await sql`select 1 from sqlite_master where name like 'copy!_%' escape '!'`.execute(
      source.db,
    );
    expect(rows).toEqual([]);
  });
});
