/** Requests with one Idempotency-Key, and work on one key, at two replicas at once: on PostgreSQL. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { killReplica, testReplica } from '../../test/kit/db/replicas.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';
import { SharedTurns } from '../db/turns.ts';

describe.skipIf(onSqlite)('two replicas', () => {
  let database: TestDatabase;
  let first: TestControl;
  let second: TestControl;
  beforeEach(async () => {
    database = await takeDatabase();
    first = await startControl({ DATABASE_URL: database.address });
    second = await startControl({ DATABASE_URL: database.address });
  });
  afterEach(async () => {
    await first.close();
    await second.close();
    await database.release();
  });

  const create = (at: TestControl, name: string) =>
    at.call('POST', '/v1/pathway/create', {
      key: first.key,
      body: { name },
      headers: { 'idempotency-key': 'k' },
    });
  const db = () => first.control.services.database.db;

  it('do the work of one key once, and both return its answer', async () => {
    const answers = await Promise.all([first, second, first, second].map((at) => create(at, 'Menu')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] !== 'true')).toHaveLength(1);
    expect(await db().selectFrom('pathways').select('id').where('name', '=', 'Menu').execute()).toHaveLength(
      1,
    );
  });

  it('never do it twice, however close to its end the other one looks', async () => {
    for (let round = 0; round < 15; round++) {
      const key = { 'idempotency-key': `round ${round}` };
      const ask = (at: TestControl) =>
        at.call('POST', '/v1/pathway/create', { key: first.key, body: { name: 'Menu' }, headers: key });
      const begun = ask(first);
      // The second one looks while the first one works, answers, or has just answered.
      for (let turns = 0; turns < 3 * round; turns++) await setImmediate();
      const answers = await Promise.all([begun, ask(second)]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    }
  });

  it('reject another body under the key that the other one works on', async () => {
    const answers = await Promise.all([create(first, 'Menu'), create(second, 'Other')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('take turns on one key, and the turn of a dead one is free', async () => {
    const parts = { kind: 'test', db: db() };
    const turns = [first, second].map(
      ({ control }) => new SharedTurns({ ...parts, replica: control.services.replica }),
    );
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await db().selectFrom('pathways').select('id').execute();
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => turns[index % 2]?.run('key', work)));
    expect(most).toBe(1);
    const dead = testReplica(first.control.services.database);
    const begun = Promise.withResolvers<void>();
    const forever = new Promise<void>(() => undefined);
    void new SharedTurns({ ...parts, replica: dead }).run('key', () => {
      begun.resolve();
      return forever;
    });
    await begun.promise;
    await killReplica(first.control.services.database, dead);
    expect(await turns[0]?.run('key', async () => 'done')).toBe('done');
    expect(await db().selectFrom('claims').selectAll().execute()).toEqual([]);
  });
});
