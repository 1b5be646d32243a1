/** Leases and fences: two owners never write under one lease, also when one is late, was stopped, or comes back. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onSqlite, openTestDatabase } from '../../test/kit/db/test-database.ts';
import { eventually, saw } from '../../test/kit/programs/eventually.ts';
import { copyRows } from './copy/copy.ts';
import { dialectOf } from './dialect-name.ts';
import { FenceLost, insideFence } from './fence.ts';
import {
  endLeasesOfDead,
  expelOthers,
  heldLeases,
  type Lease,
  leaseFence,
  livingReplicas,
  presenceOf,
  pruneReplicas,
  releaseLease,
  renewLeases,
  takeLease,
} from './leases.ts';
import { type Database, openDatabase } from './open.ts';

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const ms = 60_000;
const take = (name: string, owner: string) => takeLease(database.apart, name, owner, ms);

async function taken(name: string, owner: string): Promise<Lease> {
  const lease = await take(name, owner);
  if (!lease) throw new Error(`${name} is not free`);
  return lease;
}

/** As if its time had passed; on SQLite, as if another process had started. */
async function expire(owner: string): Promise<void> {
  const { db } = database;
  if (dialectOf(db) === 'sqlite') {
    await db.updateTable('leases').set({ owner: '' }).where('owner', '=', owner).execute();
  } else await db.updateTable('leases').set({ expires_at: 0 }).where('owner', '=', owner).execute();
}

/** One write in a transaction, as the work under a lease does it. */
const write = (lease: Lease, value: number) =>
  insideFence(leaseFence(database.db, lease), () =>
    database.db.transaction().execute(async (db) => {
      await db.updateTable('counters').set({ value }).where('name', '=', lease.name).execute();
    }),
  );

const insertCounter = (name: string) =>
  database.db.insertInto('counters').values({ name, value: 0 }).execute();

describe.skipIf(onSqlite)('a lease that was copied from a file', () => {
  it("is nobody's: no replica seems to live by it, and it is taken at once, with a higher fence", async () => {
    const file = await openDatabase(':memory:');
    await takeLease(file.apart, 'work', 'of the file', ms);
    await takeLease(file.apart, presenceOf('of the file'), 'of the file', ms);
    await copyRows(file.db, database.db);
    await file.close();
    expect(await livingReplicas(database.db)).toEqual([]);
    expect(await renewLeases(database.apart, 'of the file', ms)).toEqual([]);
    expect(await taken('work', 'here')).toMatchObject({ fence: 2 });
  });
});

describe('a lease', () => {
  it('has one owner at a time, and its fence grows with each taking', async () => {
    const first = await taken('work', 'a');
    expect(await take('work', 'b')).toBeNull();
    expect(await take('work', 'a')).toBeNull();
    await releaseLease(database.db, first);
    const second = await taken('work', 'b');
    expect([first.fence, second.fence]).toEqual([1, 2]);
    expect(await heldLeases(database.db, ['work', 'other'])).toEqual(['work']);
  });

  it('is renewed together with the others of its owner, until one has expired', async () => {
    const lease = await taken('work', 'a');
    await taken('more', 'a');
    await taken('else', 'b');
    const renewed = await renewLeases(database.apart, 'a', ms);
    expect(renewed.map(({ name }) => name).sort()).toEqual(['more', 'work']);
    await expire('a');
    expect(await renewLeases(database.apart, 'a', ms)).toEqual([]);
    await expect(write(lease, 1)).rejects.toThrow(FenceLost);
  });

  it.skipIf(onSqlite)('ends with the session of its owner, unless that has just renewed it', async () => {
    await taken('work', 'a');
    const ended = (quietMs: number) => endLeasesOfDead(database.db, ms, quietMs);
    expect(await ended(0)).toEqual([]);
    await sql`select pg_terminate_backend(session_pid::integer) from leases where owner = 'a'`.execute(
      database.db,
    );
    // Until the server has ended it.
    await expect.poll(() => ended(0)).toEqual(['a']);
    expect(await ended(0)).toEqual([]);
    expect(await renewLeases(database.apart, 'a', ms)).toEqual([]);
    const next = await taken('work', 'b');
    expect(next.fence).toBe(2);
  });

  it.skipIf(onSqlite)(
    'that is renewed over another connection does not end with the former one',
    async () => {
      await taken('work', 'a');
      const { rows } = await sql<{ pid: number }>`select session_pid as pid from leases`.execute(database.db);
      await sql`select pg_terminate_backend(session_pid::integer) from leases where owner = 'a'`.execute(
        database.db,
      );
      const isGone = async () => {
        const found = await sql`select 1 from pg_stat_activity where pid = ${rows[0]?.pid}`.execute(
          database.db,
        );
        return found.rows.length === 0;
      };
      await expect.poll(isGone).toBe(true);
      // It has renewed it less than so long ago.
      expect(await endLeasesOfDead(database.db, ms, ms / 2)).toEqual([]);
      expect(await renewLeases(database.apart, 'a', ms)).toHaveLength(1);
      expect(await endLeasesOfDead(database.db, ms, 0)).toEqual([]);
    },
  );

  it('that was lost is not released for its next owner', async () => {
    const lost = await taken('work', 'a');
    await expire('a');
    await taken('work', 'b');
    await releaseLease(database.db, lost);
    expect(await take('work', 'c')).toBeNull();
  });

  it('of a replica that ended long ago is forgotten; other leases keep their fence', async () => {
    await taken(presenceOf('a'), 'a');
    await taken('work', 'a');
    await pruneReplicas(database.db, 0);
    expect(await heldLeases(database.db, ['work', presenceOf('a')])).toHaveLength(2);
    await expelOthers(database.db, 'b');
    await pruneReplicas(database.db, 0);
    const rows = await database.db.selectFrom('leases').select('name').execute();
    expect(rows).toEqual([{ name: 'work' }]);
    expect((await taken('work', 'b')).fence).toBe(2);
  });
});

describe('a fence', () => {
  beforeEach(() => insertCounter('work'));

  it('rejects transactions and single writes after the lease was lost, and lets reads pass', async () => {
    const lease = await taken('work', 'a');
    const { db } = database;
    const inside = <T>(work: () => Promise<T>) => insideFence(leaseFence(db, lease), work);
    const single = () => db.updateTable('counters').set({ value: 2 }).execute();
    await inside(single);
    await expire('a');
    await expect(inside(single)).rejects.toThrow(
      'The lease "work" is no longer held by this replica, so nothing is written under it',
    );
    await expect(write(lease, 3)).rejects.toThrow(FenceLost);
    await expect(
      inside(() => db.insertInto('counters').values({ name: 'x', value: 0 }).execute()),
    ).rejects.toThrow(FenceLost);
    await expect(inside(() => db.deleteFrom('counters').execute())).rejects.toThrow(FenceLost);
    expect(await inside(() => db.selectFrom('counters').selectAll().execute())).toEqual([
      { name: 'work', value: 2 },
    ]);
    // The connection is usable, and its transaction is over.
    await db.updateTable('counters').set({ value: 4 }).execute();
  });

  it('keeps a taker waiting until the transaction of the owner has ended, and renewals do not wait', async () => {
    if (dialectOf(database.db) === 'sqlite') return;
    const lease = await taken('work', 'a');
    const inTransaction = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const writing = insideFence(leaseFence(database.db, lease), () =>
      database.db.transaction().execute(async (db) => {
        inTransaction.resolve();
        await goOn.promise;
        await db.updateTable('counters').set({ value: 1 }).execute();
      }),
    );
    await inTransaction.promise;
    expect(await renewLeases(database.apart, 'a', ms)).toHaveLength(1);
    // Its time is over while its transaction is open.
    await renewLeases(database.apart, 'a', -1);
    const value = async () =>
      (await database.db.selectFrom('counters').select('value').executeTakeFirstOrThrow()).value;
    const taking = take('work', 'b').then(async (next) => [next?.fence, await value()]);
    const waiting = sql<{ n: string }>`select count(*) as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually('the taker to wait for a lock', async () => {
      const { rows } = await waiting.execute(database.db);
      return Number(saw(rows[0]?.n)) === 1 || null;
    });
    expect(await value()).toBe(0);
    goOn.resolve();
    expect(await taking).toEqual([2, 1]);
    await writing;
  });
});

type Step =
  | { readonly kind: 'take' | 'renew' | 'expire' | 'release'; readonly owner: number }
  | { readonly kind: 'write'; readonly owner: number };

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Step['kind']>(
    'take',
    'take',
    'renew',
    'expire',
    'release',
    'write',
    'write',
    'write',
  ),
  owner: fc.integer({ min: 0, max: 3 }),
});

it('in any order of takings, delays and returns, each fence has one owner, and writes commit in the order of fences', async () => {
  await insertCounter('work');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 25 }),
      async (rounds) => {
        // What each owner believes it has: it learns of a loss only by a renewal.
        const believed = new Map<string, Lease>();
        const owners = new Map<number, string>();
        const highest = await database.db
          .selectFrom('counters')
          .select('value')
          .where('name', '=', 'work')
          .executeTakeFirstOrThrow();
        let last = highest.value;
        const act = async ({ kind, owner: index }: Step) => {
          const owner = `owner ${index}`;
          const lease = believed.get(owner);
          if (kind === 'take') {
            const next = await take('work', owner);
            if (!next) return;
            expect(owners.get(next.fence) ?? owner).toBe(owner);
            owners.set(next.fence, owner);
            believed.set(owner, next);
          } else if (kind === 'expire') await expire(owner);
          else if (kind === 'renew') {
            if ((await renewLeases(database.apart, owner, ms)).length === 0) believed.delete(owner);
          } else if (!lease) return;
          else if (kind === 'release') {
            await releaseLease(database.apart, lease);
          } else {
            await insideFence(leaseFence(database.db, lease), () =>
              database.db.transaction().execute(async (db) => {
                const row = await db
                  .selectFrom('counters')
                  .select('value')
                  .where('name', '=', 'work')
                  .executeTakeFirstOrThrow();
                expect(row.value).toBeLessThanOrEqual(lease.fence);
                expect(owners.get(lease.fence)).toBe(owner);
                await db
                  .updateTable('counters')
                  .set({ value: lease.fence })
                  .where('name', '=', 'work')
                  .execute();
                expect(lease.fence).toBeGreaterThanOrEqual(last);
                last = lease.fence;
              }),
            ).catch((error: unknown) => {
              if (!(error instanceof FenceLost)) throw error;
            });
          }
        };
        // The steps of a round overlap.
        for (const round of rounds) await Promise.all(round.map(act));
      },
    ),
    { numRuns: 60 },
  );
});
