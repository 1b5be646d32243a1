import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { onSqlite, takeDatabase } from '../../../test/kit/db/test-database.ts';
import { openDatabase } from '../open.ts';
import { connectionOf } from './connections.ts';

/** Connections that the server gives to the user of these tests. */
const given = 3;

describe.skipIf(onSqlite)('a server that gives fewer connections than control may open', () => {
  let address = '';
  let end = async () => {};
  beforeAll(async () => {
    const taken = await takeDatabase();
    const url = new URL(taken.address);
    const name = url.pathname.slice(1);
    const user = `${name}_limited`;
    const admin = new pg.Client({ connectionString: taken.address });
    await admin.connect();
    await admin.query(`create role ${user} login connection limit ${given}`);
    await admin.query(`grant trunkline to ${user}`);
    await admin.query(`alter role ${user} set role trunkline`);
    url.searchParams.set('user', user);
    address = url.href;
    end = async () => {
      await admin.query(`drop role ${user}`);
      await admin.end();
      await taken.release();
    };
  });
  afterAll(() => end());

  it('fails no statement of many at once, and does not count as away', async () => {
    const database = await openDatabase(address);
    try {
      const answers = Array.from({ length: 40 }, (_, n) =>
        n % 2 === 0
          ? sql<{ n: number }>`select ${sql.lit(n)} as n from pg_sleep(0.01)`.execute(database.db)
          : database.db
              .transaction()
              .execute((trx) => sql<{ n: number }>`select ${sql.lit(n)} as n`.execute(trx)),
      );
      const rows = (await Promise.all(answers)).map((answer) => answer.rows[0]?.n);
      expect(rows).toEqual(Array.from({ length: 40 }, (_, n) => n));
      expect(database.storageFailures).toBe(0);
      expect(await database.storageFault()).toBeNull();
      expect(database.connections()?.open).toBeLessThanOrEqual(given);
    } finally {
      await database.close();
    }
  });

  it('opens more when the server gives them again, half a minute later', async () => {
    const clock = new FakeClock();
    const pool = new pg.Pool({ connectionString: address, max: 8 });
    const others = Array.from({ length: given - 1 }, () => new pg.Client({ connectionString: address }));
    await Promise.all(others.map((other) => other.connect()));
    const first = await connectionOf(pool, clock);
    const waiting = connectionOf(pool, clock);
    await expect.poll(() => pool.waitingCount).toBe(1);
    await expect.poll(() => pool.options.max).toBe(1);
    first.release();
    const second = await waiting;
    await Promise.all(others.map((other) => other.end()));
    clock.advance(30_000);
    const third = await connectionOf(pool, clock);
    expect([pool.options.max, pool.totalCount]).toEqual([8, 2]);
    second.release();
    third.release();
    await pool.end();
  });

  it('says so when it gives none', async () => {
    const others = Array.from({ length: given }, () => new pg.Client({ connectionString: address }));
    await Promise.all(others.map((other) => other.connect()));
    const pool = new pg.Pool({ connectionString: address, max: 8 });
    await expect(connectionOf(pool)).rejects.toMatchObject({ code: '53300' });
    await pool.end();
    await Promise.all(others.map((other) => other.end()));
  });
});
