/** Databases of each earlier version, migrated to the current schema. */
import SqliteFile from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fillTables, type StoredRows, storedRows } from '../../test/kit/db/rows.ts';
import { isLong } from '../../test/kit/is-long.ts';
import { migrations } from './migrations/index.ts';
import { migrate } from './open.ts';

let file: SqliteFile.Database;
let db: Kysely<unknown>;
/** @param begin bytes of a database, or of none */
function open(begin: Buffer | ':memory:' = ':memory:'): void {
  file = new SqliteFile(begin);
  file.pragma('foreign_keys = ON');
  db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
}
beforeEach(() => open());
afterEach(() => db.destroy());

const names = Object.keys(migrations);
const upTo = (count: number) => Object.fromEntries(Object.entries(migrations).slice(0, count));

/** The rows of `after`, with the columns of `before`. */
function asBefore(before: StoredRows, after: StoredRows): StoredRows {
  return Object.fromEntries(
    Object.entries(before).map(([table, rows]) => [
      table,
      (after[table] ?? []).map((row) =>
        Object.fromEntries(Object.keys(rows[0] ?? {}).map((column) => [column, row[column]])),
      ),
    ]),
  );
}

/**
 * Each with its number. A migration never changes, so a new one is tried on its neighbours and a few of the others;
 * `npm run test-long` tries it on all.
 */
const tried = names
  .slice(0, -1)
  .map((name, index) => [name, index + 1] as const)
  .filter(([, count]) => isLong || count % 8 === 1 || names.length - count <= 4);

/** An empty database of the version before the present test's: each goes on from there, as the versions did. */
let earlier: Buffer | ':memory:' = ':memory:';

async function openWith(count: number): Promise<void> {
  await db.destroy();
  open(earlier);
  await migrate(db, upTo(count));
  earlier = file.serialize();
}

describe('a database of an earlier version', () => {
  it('has a row in every table, so that the comparison means something', async () => {
    await migrate(db, migrations);
    fillTables(file);
    const rows = storedRows(file);
    expect(Object.keys(rows).length).toBeGreaterThan(20);
    expect(Object.entries(rows).filter(([, of]) => of.length === 0)).toEqual([]);
  });

  it.each(tried)('with %s as its last migration keeps every row and every value', async (_name, count) => {
    await openWith(count);
    fillTables(file);
    // No version wrote to the table `replicas`; the sums of calls are counted again from the calls.
    const { replicas: _dropped, call_sums: _sums, uncounted_calls: _left, ...before } = storedRows(file);
    await migrate(db, migrations);
    expect(asBefore(before, storedRows(file))).toEqual(before);
    expect(file.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(file.pragma('foreign_key_check')).toEqual([]);
  });

  it('gets later additions in a form that later versions can read', async () => {
    await migrate(db, upTo(1));
    fillTables(file);
    await migrate(db, migrations);
    expect(file.prepare('select * from organizations').get()).toMatchObject({
      alert_emails: '[]',
      alert_sms_numbers: '[]',
      event_webhook_url: null,
      call_limits: null,
      call_ceiling: null,
      wide_sources: 0,
      disabled_at: null,
    });
    expect(file.prepare('select * from api_keys').get()).toMatchObject({
      last_used_at: null,
      // What it could do before there were roles.
      role: 'admin',
      expires_at: null,
    });
  });
});
