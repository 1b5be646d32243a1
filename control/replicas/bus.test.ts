/** Messages between replicas, on a real database. */
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import {
  onSqlite,
  type TestDatabase,
  takeDatabase,
  testConnections,
} from '../../test/kit/db/test-database.ts';
import { type Database, openDatabase } from '../db/open.ts';
import { Bus } from './bus.ts';
import { type ReplicaLimits, replicaLimits } from './limits.ts';
import { pruneMessages } from './messages-store.ts';
import { MessageTooLarge } from './transients.ts';

interface Note {
  readonly text: string;
}

let taken: TestDatabase;
let clock: FakeClock;
const open: { bus: Bus; database: Database }[] = [];

beforeEach(async () => {
  taken = await takeDatabase();
  clock = new FakeClock();
});
afterEach(async () => {
  for (const { bus, database } of open.splice(0)) {
    await bus.close();
    await database.close();
  }
  await taken.release();
});

/** A replica with its own connections, and the notes it has received. */
async function replica(id: string, changes: Partial<ReplicaLimits> = {}) {
  const database = await openDatabase(taken.address, clock, { limits: { connections: testConnections } });
  const bus = new Bus({
    id,
    clock,
    database,
    limits: { ...replicaLimits, ...changes },
    log: { error: () => undefined },
  });
  open.push({ bus, database });
  const notes = bus.topic<Note>('note');
  const received: string[] = [];
  notes.on(({ text }, { sender }) => received.push(`${sender}: ${text}`));
  await bus.start();
  return { bus, database, notes, received };
}

const until = (received: readonly string[]) => expect.poll(() => [...received]);

describe.skipIf(onSqlite)('messages between replicas', () => {
  it('reach every other replica, once and in the order of the commits', async () => {
    const [first, second, third] = [await replica('1'), await replica('2'), await replica('3')];
    const texts = Array.from({ length: 60 }, (_, index) => String(index));
    await Promise.all(
      texts.map((text) => {
        const { database, notes } = Number(text) % 2 === 0 ? first : second;
        return database.db.transaction().execute((db) => notes.publish(db, { text }));
      }),
    );
    await until(third.received).toHaveLength(60);
    const { rows } = await sql<{ sender: string; body: string }>`select sender, body from replica_messages
      order by id`.execute(third.database.db);
    const committed = rows.map(({ sender, body }) => `${sender}: ${JSON.parse(body).text}`);
    expect(third.received).toEqual(committed);
    await until(first.received).toEqual(committed.filter((note) => note.startsWith('2')));
    await until(second.received).toEqual(committed.filter((note) => note.startsWith('1')));
  });

  it('of a transaction that is rolled back reach nobody', async () => {
    const [first, second] = [await replica('1'), await replica('2')];
    const failing = first.database.db.transaction().execute(async (db) => {
      await first.notes.publish(db, { text: 'never' });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await first.database.db.transaction().execute((db) => first.notes.publish(db, { text: 'then' }));
    await until(second.received).toEqual(['1: then']);
  });

  it('posted outside of a transaction arrive in the order in which they were posted', async () => {
    const [first, second] = [await replica('1'), await replica('2')];
    const texts = Array.from({ length: 500 }, (_, index) => String(index));
    for (const text of texts) first.notes.post({ text });
    await until(second.received).toEqual(texts.map((text) => `1: ${text}`));
  });

  it('with a recipient reach that one alone', async () => {
    const [first, second, third] = [await replica('1'), await replica('2'), await replica('3')];
    first.notes.post({ text: 'to 3' }, '3');
    first.notes.post({ text: 'to all' });
    await until(second.received).toEqual(['1: to all']);
    await until(third.received).toEqual(['1: to 3', '1: to all']);
  });

  it('from before its start do not reach a replica', async () => {
    const first = await replica('1');
    first.notes.post({ text: 'before' });
    await expect
      .poll(async () => first.database.db.selectFrom('replica_messages').selectAll().execute())
      .toHaveLength(1);
    const second = await replica('2');
    first.notes.post({ text: 'after' });
    await until(second.received).toEqual(['1: after']);
  });

  it('reach a replica whose listening connection was ended, and later ones at once again', async () => {
    const [first, second] = [await replica('1'), await replica('2')];
    await endListening();
    await expect.poll(() => second.bus.listening?.isOpen).toBe(false);
    first.notes.post({ text: 'unheard' });
    await expect
      .poll(async () => first.database.db.selectFrom('replica_messages').selectAll().execute())
      .toHaveLength(1);
    clock.advance(replicaLimits.lookMs);
    await until(second.received).toEqual(['1: unheard']);
    await expect.poll(() => second.bus.listening?.isOpen).toBe(true);
    // Nothing but a notification makes it look now.
    first.notes.post({ text: 'heard' });
    await until(second.received).toEqual(['1: unheard', '1: heard']);
    expect(second.bus.counts.missed).toBe(0);
  });

  it('that were deleted before a replica read them count as missed', async () => {
    const [first, second] = [await replica('1'), await replica('2')];
    let missed = 0;
    second.bus.onMissed(() => {
      missed++;
    });
    await first.database.db.transaction().execute(async (db) => {
      await first.notes.publish(db, { text: 'deleted' });
      await first.notes.publish(db, { text: 'kept' });
      // In the same transaction, so that nobody reads in between.
      await sql`delete from replica_messages where body like '%deleted%'`.execute(db);
      const { id } = await db
        .selectFrom('replica_messages')
        .select((eb) => eb.fn.min('id').as('id'))
        .executeTakeFirstOrThrow();
      await db
        .insertInto('replica_messages_pruned')
        .values({ one: 1, last_id: id - 1 })
        .execute();
    });
    await until(second.received).toEqual(['1: kept']);
    expect(missed).toBe(1);
    expect(second.bus.counts.missed).toBe(1);
  });

  it('of another version of the program are skipped', async () => {
    const [first, second] = [await replica('1'), await replica('2')];
    first.bus.topic('from the future').post({});
    first.notes.post({ text: 'known' });
    await until(second.received).toEqual(['1: known']);
  });

  it('after one that could not be handled still arrive', async () => {
    const [first, second] = [await replica('1'), await replica('2')];
    second.bus.topic('bad').on(() => {
      throw new Error('bad');
    });
    first.bus.topic('bad').post({});
    first.notes.post({ text: 'next' });
    await until(second.received).toEqual(['1: next']);
  });
});

describe('the limits of messages', () => {
  it('reject one that is too large', async () => {
    const { database, notes } = await replica('1', { mostMessageBytes: 100 });
    // The only control plane on SQLite writes none.
    if (onSqlite) return;
    const publishing = database.db
      .transaction()
      .execute((db) => notes.publish(db, { text: 'x'.repeat(100) }));
    await expect(publishing).rejects.toThrow(MessageTooLarge);
  });

  it('delete what is old, and what is more than may be stored', async () => {
    const { database } = await replica('1');
    const line = commandLine(database);
    for (const text of ['1', '2', '3', '4'])
      await database.db.transaction().execute((db) => line.notes.publish(db, { text }));
    const left = async () =>
      (await database.db.selectFrom('replica_messages').select('id').orderBy('id').execute()).map(
        ({ id }) => id,
      );
    expect(await pruneMessages(database.db, 60_000, 10)).toBe(0);
    const ids = await left();
    expect(await pruneMessages(database.db, 60_000, 3)).toBe(ids[0]);
    expect(await left()).toEqual(ids.slice(1));
    expect(await pruneMessages(database.db, -1_000, 3)).toBe(ids[3]);
    expect(await left()).toEqual([]);
  });
});

/** A program that only publishes. */
function commandLine(database: Database) {
  const bus = new Bus({
    id: 'line',
    clock,
    database,
    limits: replicaLimits,
    log: { error: () => undefined },
  });
  return { bus, notes: bus.topic<Note>('note') };
}

it('what a command line publishes reaches the control plane', async () => {
  const { database, received } = await replica('1');
  const { notes } = commandLine(database);
  await database.db.transaction().execute((db) => notes.publish(db, { text: 'revoked' }));
  clock.advance(replicaLimits.lookMs);
  await until(received).toEqual(['line: revoked']);
});

it.runIf(onSqlite)('the only control plane on an SQLite file writes no messages', async () => {
  const { database, notes } = await replica('1');
  notes.post({ text: 'to nobody' });
  await database.db.transaction().execute((db) => notes.publish(db, { text: 'to nobody' }));
  expect(await database.db.selectFrom('replica_messages').selectAll().execute()).toEqual([]);
});

/** As a restart of the server or a broken network does. */
async function endListening(): Promise<void> {
  const client = new pg.Client({ connectionString: taken.address });
  await client.connect();
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'trunkline-control-listening'`);
  await client.end();
}
