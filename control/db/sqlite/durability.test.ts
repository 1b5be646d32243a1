/** Commits and a loss of power, simulated: of the log, only what a sync covered is sure to survive. */
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type Database, openDatabase } from '../open.ts';
import { Durability } from './durability.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'durability-'));
  file = join(folder, 'control.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Syncs that end when the test says so. */
class Syncs {
  readonly started: PromiseWithResolvers<void>[] = [];
  readonly sync = (): Promise<void> => {
    const one = Promise.withResolvers<void>();
    this.started.push(one);
    return one.promise;
  };
}

/** As many turns as an opened file and a folder's sync take: until `done`. */
const until = (done: () => boolean) => expect.poll(done).toBe(true);

describe('Durability', () => {
  const make = (failed: (error: Error) => void = () => undefined) => {
    const syncs = new Syncs();
    return { syncs, durability: new Durability(file, { check: () => undefined }, failed, syncs.sync) };
  };
  const settled = async (promise: Promise<void>) => {
    let done = false;
    void promise.then(
      () => (done = true),
      () => (done = true),
    );
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    return done;
  };

  it('covers a commit only by a sync that starts after it, and waits once for many', async () => {
    const { syncs, durability } = make();
    const first = durability.durable();
    await until(() => syncs.started.length === 1);
    durability.committed();
    const second = durability.durable();
    durability.committed();
    const third = durability.durable();
    syncs.started[0]?.resolve();
    await first;
    await until(() => syncs.started.length === 2);
    expect(await settled(second)).toBe(false);
    syncs.started[1]?.resolve();
    await Promise.all([second, third]);
    await durability.durable();
    expect(syncs.started).toHaveLength(2);
    await durability.close();
  });

  it('counts nothing as durable after a failed sync, though the next one would succeed', async () => {
    const failures: Error[] = [];
    const { syncs, durability } = make((error) => failures.push(error));
    const first = durability.durable();
    await until(() => syncs.started.length === 1);
    const second = durability.durable();
    syncs.started[0]?.reject(Object.assign(new Error('i/o error'), { code: 'EIO' }));
    await expect(first).rejects.toMatchObject({ code: 'EIO' });
    await expect(second).rejects.toMatchObject({ code: 'EIO' });
    durability.committed();
    await expect(durability.durable()).rejects.toThrow('control.db-wal could not be synced');
    expect(failures).toHaveLength(1);
    expect(syncs.started).toHaveLength(1);
    await durability.close();
  });
});

describe('a database', () => {
  it('needs no sync in memory', async () => {
    const syncs = new Syncs();
    const database = await openDatabase(':memory:', new FakeClock(), { sync: syncs.sync });
    await database.durable();
    await database.close();
    expect(syncs.started).toEqual([]);
  });

  it('syncs after a commit, and not after a read', async () => {
    let syncs = 0;
    const database = await openDatabase(file, new FakeClock(), {
      sync: async () => {
        syncs += 1;
      },
    });
    const { db } = database;
    const syncsFor = async (work: () => Promise<unknown>) => {
      await database.durable();
      const before = syncs;
      await work();
      await database.durable();
      return syncs - before;
    };
    const row = sql`insert into work_under_way (queue, id, tries, began_at) values ('q', 'a', 1, 'now')`;
    expect(await syncsFor(() => row.execute(db))).toBe(1);
    expect(await syncsFor(() => sql`select * from work_under_way`.execute(db))).toBe(0);
    expect(await syncsFor(() => sql`delete from work_under_way returning id`.execute(db))).toBe(1);
    expect(await syncsFor(() => db.transaction().execute((trx) => row.execute(trx)))).toBe(1);
    await database.close();
  });

  it('reports a failed sync as a storage fault that later writes do not disprove', async () => {
    const clock = new FakeClock();
    const fails = Object.assign(new Error('i/o error'), { code: 'EIO' });
    const database = await openDatabase(file, clock, { sync: () => Promise.reject(fails) });
    await expect(database.durable()).rejects.toMatchObject({ code: 'EIO' });
    for (let seconds = 0; seconds < 10; seconds += 1) {
      clock.advance(1_000);
      expect(await database.storageFault()).toBe('failing');
    }
    expect(database.storageFailures).toBe(1);
    await expect(database.close()).rejects.toMatchObject({ code: 'EIO' });
  });

  const ways = {
    deleted: (path: string) => rmSync(path),
    replaced: (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    renamed: (path: string) => renameSync(path, `${path}.moved`),
  };
  describe.each(Object.entries(ways))('whose file is %s', (_, remove) => {
    it.each(['', '-wal'])('calls no later commit durable, and says so: control.db%s', async (ending) => {
      const clock = new FakeClock();
      const database = await openDatabase(file, clock);
      await insert(database, 0, 10);
      await database.durable();
      expect(await database.storageFault()).toBeNull();
      remove(file + ending);
      await insert(database, 1, 10);
      await expect(database.durable()).rejects.toMatchObject({ code: 'DATABASE_REMOVED' });
      expect(await database.storageFault()).toBe('removed');
      await expect(database.close()).rejects.toMatchObject({ code: 'DATABASE_REMOVED' });
    });

    it('shows within five seconds when nothing is written', async () => {
      const clock = new FakeClock();
      const database = await openDatabase(file, clock);
      await database.durable();
      expect(await database.storageFault()).toBeNull();
      remove(file);
      clock.advance(5_000);
      expect(await database.storageFault()).toBe('removed');
      await database.close();
    });
  });

  it('has every commit that was called durable after a loss of power', async () => {
    const database = await openDatabase(file);
    await database.close();
    const page = 4096;
    const step = fc.oneof(
      fc.record({ kind: fc.constant('commit' as const), size: fc.integer({ min: 1, max: 9_000 }) }),
      fc.record({ kind: fc.constant('durable' as const), size: fc.constant(0) }),
    );
    const run = fc.tuple(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }),
    );
    await fc.assert(
      fc.asyncProperty(run, async ([steps, survives]) => {
        const path = join(folder, 'lost.db');
        for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
        copyFileSync(file, path);
        // What is on the device: the log as it was when the last finished sync began.
        let synced = Buffer.alloc(0);
        const live = await openDatabase(path, new FakeClock(), {
          sync: async () => {
            synced = readFileSync(`${path}-wal`);
          },
        });
        await sql`pragma wal_autocheckpoint = 0`.execute(live.db);
        let commits = 0;
        let sure = 0;
        for (const { kind, size } of steps) {
          if (kind === 'commit') await insert(live, commits++, size);
          else {
            await live.durable();
            sure = commits;
          }
        }
        const written = readFileSync(`${path}-wal`);
        await live.close();
        // The rest of the log survives page by page, in no order.
        const left = Buffer.alloc(written.length);
        synced.copy(left);
        for (let at = 0, n = 0; at < written.length; at += page, n += 1)
          if (survives[n % survives.length]) written.copy(left, at, at, at + page);
        const lost = join(folder, 'lost.db');
        copyFileSync(file, lost);
        rmSync(`${lost}-shm`, { force: true });
        writeFileSync(`${lost}-wal`, left);
        const after = new SqliteFile(lost);
        const ids = after.prepare('select id from work_under_way order by tries').pluck().all();
        after.close();
        expect(ids).toEqual(Array.from({ length: ids.length }, (_, n) => `commit-${n}`));
        expect(ids.length).toBeGreaterThanOrEqual(sure);
      }),
      { numRuns: 60 },
    );
  });
});

const insert = ({ db }: Database, n: number, size: number) =>
  db
    .transaction()
    .execute((trx) =>
      sql`insert into work_under_way (queue, id, tries, began_at) values (${'q'.repeat(size)}, ${`commit-${n}`}, ${n}, 'now')`.execute(
        trx,
      ),
    );
