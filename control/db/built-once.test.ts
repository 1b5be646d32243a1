import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { builtOnce } from './built-once.ts';
import type { Database } from './open.ts';
import type { Db, EdgeTokenRow } from './tables.ts';

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase();
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
    const other = await openTestDatabase();
    expect(await find(database.db, 'a', 'a1')).toHaveLength(1);
    expect(await find(other.db, 'a', 'a1')).toEqual([]);
    await other.close();
    await database.db.transaction().execute(async (trx) => {
      await trx.deleteFrom('edge_tokens').execute();
      expect(await find(trx, 'a', 'a1')).toEqual([]);
    });
  });

  it('may use its values in any order, more than once, and beside constants', async () => {
    const find = builtOnce((db, name: string, id: string) =>
      db
        .selectFrom('edge_tokens')
        .select(['hash', 'id'])
        .where((eb) => eb.or([eb('id', '=', id), eb('name', '=', name), eb('hash', '=', id)]))
        .where('prefix', '=', ''),
    );
    expect(await find(database.db, 'none', 'a')).toEqual([{ hash: 'a2', id: 'a' }]);
    expect(await find(database.db, 'b1', 'none')).toEqual([{ hash: 'b2', id: 'b' }]);
  });

  it('takes rows, whose members are values', async () => {
    const store = builtOnce((db, row: EdgeTokenRow) =>
      db
        .insertInto('edge_tokens')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ name: row.name })),
    );
    const row = {
      id: 'c',
      name: 'c1',
      hash: 'c2',
      prefix: '',
      created_at: '',
      revoked_at: null,
      last_used_at: null,
    };
    await store(database.db, row);
    await store(database.db, { ...row, id: 'd', hash: 'd2', last_used_at: 'later' });
    await store(database.db, { ...row, name: 'c3', hash: 'not changed' });
    const stored = await database.db
      .selectFrom('edge_tokens')
      .selectAll()
      .where('id', 'in', ['c', 'd'])
      .orderBy('id')
      .execute();
    expect(stored).toEqual([
      { ...row, name: 'c3' },
      { ...row, id: 'd', hash: 'd2', last_used_at: 'later' },
    ]);
  });

  it('rejects a row without a member that the first one had', async () => {
    const store = builtOnce((db, row: Partial<EdgeTokenRow>) =>
      db.insertInto('edge_tokens').values(row as EdgeTokenRow),
    );
    const row = {
      id: 'c',
      name: 'c1',
      hash: 'c2',
      prefix: '',
      created_at: '',
      revoked_at: null,
      last_used_at: null,
    };
    await store(database.db, row);
    const { name: _, ...nameless } = row;
    await expect(store(database.db, { ...nameless, id: 'd', hash: 'd2' })).rejects.toThrow();
  });
});
