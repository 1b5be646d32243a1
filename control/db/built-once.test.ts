import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtOnce } from './built-once.ts';
import { type Database, openDatabase } from './open.ts';
import type { Db } from './tables.ts';

let database: Database;
beforeEach(async () => {
  database = await openDatabase(':memory:');
  const token = { prefix: '', created_at: '', revoked_at: null, last_used_at: null };
  const tokens = ['a', 'b'].map((id) => ({ ...token, id, name: `${id}1`, hash: `${id}2` }));
  await database.db.insertInto('edge_tokens').values(tokens).execute();
});
afterEach(() => database.close());

const select = (db: Db, id: string, name: string) =>
  db.selectFrom('edge_tokens').select('hash').where('id', '=', id).where('name', '=', name);

describe('builtOnce', () => {
  it('builds at the first run, and runs with the values of each run', async () => {
    let builds = 0;
    const find = builtOnce((db, id: string, name: string) => {
      builds++;
      return select(db, id, name);
    });
    const found = [];
    for (const id of ['a', 'b', 'c']) found.push(await find(database.db, id, `${id}1`));
    expect(found).toEqual([[{ hash: 'a2' }], [{ hash: 'b2' }], []]);
    expect(builds).toBe(1);
  });

  it('runs on the given database or transaction', async () => {
    const find = builtOnce(select);
    const other = await openDatabase(':memory:');
    expect(await find(database.db, 'a', 'a1')).toHaveLength(1);
    expect(await find(other.db, 'a', 'a1')).toEqual([]);
    await other.close();
    await database.db.transaction().execute(async (trx) => {
      await trx.deleteFrom('edge_tokens').execute();
      expect(await find(trx, 'a', 'a1')).toEqual([]);
    });
  });

  it.each<[string, (db: Db, a: string, b: string) => ReturnType<typeof select>]>([
    ['in another order', (db, a, b) => select(db, b, a)],
    ['partially', (db, a) => select(db, a, a)],
    ['with other values', (db, a, b) => select(db, a, b).where('prefix', '=', '')],
  ])('rejects a query that uses its values %s', async (_how, build) => {
    await expect(builtOnce(build)(database.db, 'a', 'a1')).rejects.toThrow(
      'must take its values in their order',
    );
  });
});
