/** A queue whose work throws, hangs when the program ends, or cannot be counted: real database, fake time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { killReplica, testReplica } from '../../test/kit/db/replicas.ts';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { type DueItem, DueWork } from './due-work.ts';
import type { Database } from './open.ts';
import type { Replica } from './replica.ts';
import { claimWork } from './under-way.ts';

let database: Database;
let clock: FakeClock;
let work: DueWork<DueItem> | null = null;
let replica: Replica;
/** Items that stay due until an attempt or a count removes them. */
let due: Set<string>;
let begun: string[];
let counted: string[];
/** Tells the queue that there is more. */
let stored: () => void;

beforeEach(async () => {
  database = await openTestDatabase();
  clock = new FakeClock();
  replica = testReplica(database);
  due = new Set();
  begun = [];
  counted = [];
});
afterEach(async () => {
  await work?.close();
  await replica.close();
  await database.close();
});

type Failed = (id: string, later: string, why: string) => Promise<void>;

function start(attempt: (id: string, signal: AbortSignal) => Promise<void>, failed?: Failed): void {
  work = new DueWork<DueItem>({
    db: database.db,
    replica,
    clock,
    log: { error: () => undefined },
    name: 'queue',
    mostRunning: 4,
    mostPerOrganization: 4,
    due: async (_db, _now, { ids }, limit) =>
      [...due]
        .filter((id) => !ids.includes(id))
        .slice(0, limit)
        .map((id) => ({ id, org_id: 'o' })),
    nextDue: async () => null,
    attempt: (item, signal) => {
      begun.push(item.id);
      return attempt(item.id, signal);
    },
    ...(failed && { failed }),
    onStored: (wake) => {
      stored = wake;
      return () => {
        stored = () => undefined;
      };
    },
  });
}

const left = () => database.db.selectFrom('work_under_way').select(['id', 'tries']).execute();
const settled = (tries: number) => expect.poll(left).toEqual([{ id: 'a', tries }]);
const count: Failed = async (id, later, why) => {
  counted.push(`${id} ${later} ${why}`);
  due.delete(id);
};

describe('work that throws', () => {
  it('counts as a failed attempt, where attempts are counted', async () => {
    due.add('a');
    start(() => Promise.reject(new Error('broken')), count);
    await expect
      .poll(() => counted)
      .toEqual(['a 2030-01-01T00:00:05.000Z the attempt failed inside the service']);
    await expect.poll(left).toEqual([]);
  });

  it('waits longer after each attempt where it must not be dropped, while other work continues', async () => {
    due.add('a');
    start((id) => (id === 'a' ? Promise.reject(new Error('broken')) : Promise.resolve(void due.delete(id))));
    const pauses = [5_000, 20_000, 80_000, 320_000, 86_400_000];
    for (const [index, pause] of pauses.entries()) {
      await settled(index + 1);
      clock.advance(pause - 1);
      expect(begun.filter((id) => id === 'a')).toHaveLength(index + 1);
      clock.advance(1);
      await expect.poll(() => begun.length).toBe(index + 2);
    }
    due.add('b');
    clock.advance(86_400_000);
    await expect.poll(() => begun.includes('b')).toBe(true);
  });

  it("is not counted when the program's shutdown aborted it", async () => {
    due.add('a');
    start(
      (_id, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      count,
    );
    await expect.poll(() => begun).toEqual(['a']);
    await work?.close();
    expect([counted, await left()]).toEqual([[], []]);
  });
});

describe('a program that drains', () => {
  it('starts nothing more, lets running work finish, and keeps it recorded until it ends', async () => {
    const end = Promise.withResolvers<void>();
    due.add('a');
    start(() => end.promise, count);
    await expect.poll(() => begun).toEqual(['a']);
    work?.hold();
    due.add('b');
    stored();
    clock.advance(86_400_000);
    expect([begun, await left(), clock.pending]).toEqual([['a'], [{ id: 'a', tries: 1 }], 0]);
    due.delete('a');
    end.resolve();
    await expect.poll(left).toEqual([]);
    expect([begun, counted]).toEqual([['a'], []]);
  });
});

describe('after a crash', () => {
  /** A process that has begun this work several times, and died. */
  async function died(ids: readonly string[], tries = 1): Promise<void> {
    const dead = testReplica(database);
    const claimant = await dead.claimant();
    for (let n = 0; n < tries; n++)
      for (const id of ids)
        await claimWork(database.db, 'queue', [{ id, org_id: 'o' }], claimant, clock.now());
    await killReplica(database, dead);
  }

  it('one attempt that cannot be counted does not block counting others, and starts nothing at once', async () => {
    for (const id of ['a', 'b']) due.add(id);
    await died(['a', 'b']);
    start(
      async (id) => void due.delete(id),
      async (id, later, why) =>
        id === 'a' ? Promise.reject(new Error('no such row')) : count(id, later, why),
    );
    await expect
      .poll(() => counted)
      .toEqual(['b 2030-01-01T00:00:05.200Z the service ended during the attempt']);
    await settled(1);
    expect(begun).toEqual([]);
    clock.advance(5_000);
    await expect.poll(() => begun).toEqual(['a']);
  });

  it('work that must not be dropped keeps its number of attempts across starts', async () => {
    due.add('a');
    await died(['a'], 3);
    start(async (id) => void due.delete(id));
    await expect.poll(() => clock.pending).toBe(1);
    clock.advance(79_999);
    expect(begun).toEqual([]);
    clock.advance(1);
    await expect.poll(() => begun).toEqual(['a']);
  });
});
