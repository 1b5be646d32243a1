import SqliteFile from 'better-sqlite3';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeptStatementsDialect } from './dialect.ts';

type Value = string | number | bigint | Buffer;

interface Things {
  readonly things: { readonly id: Value; readonly name: Value; readonly open: 0 | 1 };
}

let db: Kysely<Things>;
/** Texts prepared by SQLite, with duplicates. */
let prepared: string[];
beforeEach(async () => {
  const connection = new SqliteFile(':memory:');
  const prepare = connection.prepare.bind(connection);
  prepared = [];
  connection.prepare = (text: string) => {
    prepared.push(text);
    return prepare(text);
  };
  db = new Kysely<Things>({ dialect: new KeptStatementsDialect(connection) });
  await sql`create table things (id integer primary key, name text, open integer)`.execute(db);
  await sql`create index things_open on things (name) where open = 1`.execute(db);
  await db
    .insertInto('things')
    .values([
      { id: 1, name: 'a', open: 1 },
      { id: 2, name: 'b', open: 0 },
      { id: 3, name: '2', open: 1 },
    ])
    .execute();
});
afterEach(() => db.destroy());

const things = () => db.selectFrom('things').select('id').orderBy('id');

describe('KeptStatementsDialect', () => {
  it.each<[Value, byId: number[], byName: number[]]>([
    ['2', [2], [3]],
    [2, [2], []],
    [2n, [2], [3]],
    ['a', [], [1]],
    ["a' or 1", [], []],
    [Buffer.from('a'), [], []],
  ])('compares a column with %s as a bare parameter does', async (value, ...expected) => {
    for (const [index, column] of (['id', 'name'] as const).entries()) {
      const found = await things().where(column, '=', value).execute();
      const bare = sql`select id from things where ${sql.ref(column)} = ${value} order by id`;
      expect(found).toEqual((await bare.execute(db)).rows);
      expect(found.map(({ id }) => id)).toEqual(expected[index]);
    }
  });

  it('updates the right row', async () => {
    const change = db.updateTable('things').set({ name: 'c' }).where('id', '=', 2);
    expect(await change.executeTakeFirst()).toEqual({ numUpdatedRows: 1n });
    expect(await things().where('name', '=', 'c').execute()).toEqual([{ id: 2 }]);
  });

  it('has one text for each limit, prepared once', async () => {
    const compiled = things().where('name', '=', 'a').limit(2).compile();
    expect(compiled.sql).toBe('select "id" from "things" where "name" = likely(?) order by "id" limit 2');
    expect(compiled.parameters).toEqual(['a']);
    prepared = [];
    for (const name of ['a', 'b', '2']) await things().where('name', '=', name).limit(2).execute();
    expect(prepared).toEqual([compiled.sql]);
  });

  it('leaves fractional limits, and literals, unchanged', () => {
    const limit = things().limit(sql<number>`1 + ${1}`);
    expect(limit.compile().sql).toBe('select "id" from "things" order by "id" limit 1 + ?');
    expect(things().where('open', '=', sql.lit(1)).compile().sql).toContain('"open" = 1');
  });
});

describe('a partial index', () => {
  it('is used for a value written as a literal', async () => {
    const query = things().where('name', '=', 'a').where('open', '=', sql.lit(1));
    const [step] = await query.explain<{ detail: string }>(undefined, sql`query plan`);
    expect(step?.detail).toBe('SEARCH things USING COVERING INDEX things_open (name=?)');
  });
});
