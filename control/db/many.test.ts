import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { builtOnce } from './built-once.ts';
import { insertsMany, isAmong, updatesMany } from './many.ts';
import type { Database } from './open.ts';
import type { OutboxRow } from './tables.ts';

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const columns = { outbox_id: 'text', edge_id: 'text', acknowledged: 'bigint', reported_at: 'text' } as const;
const row = (outbox_id: string, edge_id = 'e', acknowledged = 0, reported_at: string | null = null) => ({
  outbox_id,
  edge_id,
  acknowledged,
  reported_at,
});
const stored = () => database.db.selectFrom('outboxes').selectAll().orderBy('outbox_id').execute();
const insert = insertsMany<OutboxRow>('outboxes', columns);

/** What an array of PostgreSQL or of JSON has to quote. */
const awkward = ['', ' ', 'NULL', 'null', '{}', '{a,b}', '"', '\\', '\\"', "'", ',', '\n', '[]', 'é 漢 😀'];

describe('many rows', () => {
  it('are inserted as they are, nulls and numbers too', async () => {
    const rows = awkward.map((text, index) => row(`${index + 10}`, text, 2 ** 53 - 1 - index, text || null));
    await insert(database.db, rows);
    expect(await stored()).toEqual(rows);
    await insert(database.db, []);
    expect(await stored()).toHaveLength(awkward.length);
  });

  it('are found by a list of values', async () => {
    await insert(
      database.db,
      awkward.map((text, index) => row(`${index + 10}`, text)),
    );
    const find = builtOnce((db, ids: readonly string[]) =>
      db
        .selectFrom('outboxes')
        .select('edge_id')
        .where(isAmong(db, 'edge_id', ids))
        .orderBy('outbox_id'),
    );
    for (const text of awkward) expect(await find(database.db, [text, 'none'])).toEqual([{ edge_id: text }]);
    expect(await find(database.db, awkward)).toHaveLength(awkward.length);
    expect(await find(database.db, [])).toEqual([]);
  });

  it('replace those with the same key, where another column is the same', async () => {
    const save = insertsMany<OutboxRow>('outboxes', columns, {
      key: 'outbox_id',
      columns: ['acknowledged'],
      where: 'edge_id',
    });
    await save(database.db, [row('a', 'e', 1), row('b', 'e', 1)]);
    await save(database.db, [row('a', 'e', 2, 'not changed'), row('b', 'other', 2), row('c', 'e', 2)]);
    expect(await stored()).toEqual([row('a', 'e', 2), row('b', 'e', 1), row('c', 'e', 2)]);
  });

  it('are counted when those that exist are left as they are', async () => {
    const add = insertsMany<OutboxRow>('outboxes', columns, 'ignore');
    expect(await add(database.db, [row('a', 'e', 1), row('b'), row('b')])).toBe(2);
    expect(await add(database.db, [row('a', 'e', 2)])).toBe(0);
    expect(await stored()).toEqual([row('a', 'e', 1), row('b')]);
  });

  it('are updated where all keys are the same', async () => {
    await insert(database.db, [row('a', 'e', 1), row('b', 'e', 1), row('c', 'e', 1)]);
    const update = updatesMany<OutboxRow>('outboxes', columns, ['outbox_id', 'edge_id']);
    await update(database.db, [row('a', 'e', 2, 'now'), row('b', 'other', 2), row('d', 'e', 2)]);
    expect(await stored()).toEqual([row('a', 'e', 2, 'now'), row('b', 'e', 1), row('c', 'e', 1)]);
  });
});
