import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { onSqlite, takeDatabase } from '../../../test/kit/db/test-database.ts';
import { openDatabase } from '../open.ts';
import { ServerState } from './server-state.ts';

const full = () =>
  Object.assign(new pg.DatabaseError('could not extend file: No space left on device', 0, 'error'), {
    code: '53100',
  });

/** A server that only reads while its disk is full. */
function onDisk() {
  const disk = { isFull: false };
  const query = vi.fn(async ({ text }: { readonly text: string }) => {
    if (disk.isFull && text.includes('order by')) throw full();
    return { rows: [{ refuses: false }] };
  });
  const clock = new FakeClock();
  return { disk, query, clock, state: new ServerState({ query }, clock) };
}

it('a full disk of the server shows within five seconds, though nothing else is written', async () => {
  const { disk, clock, state } = onDisk();
  expect(await state.read()).toBeNull();
  disk.isFull = true;
  clock.advance(4_999);
  expect(await state.read()).toBeNull();
  clock.advance(1_000);
  expect(await state.read()).toBe('full');
});

it('a server that works is asked to write every five seconds, however often it is looked at', async () => {
  const { query, clock, state } = onDisk();
  for (let ms = 0; ms < 20_000; ms += 500) {
    await state.read();
    clock.advance(500);
  }
  expect(query.mock.calls.filter(([{ text }]) => text.includes('order by'))).toHaveLength(4);
});

it('a full disk of the server counts until something can be written, though reading works', async () => {
  const { disk, clock, state } = onDisk();
  expect(await state.read()).toBeNull();
  disk.isFull = true;
  state.note(full());
  for (let looks = 0; looks < 3; looks++) {
    clock.advance(1_000);
    expect(await state.read()).toBe('full');
  }
  disk.isFull = false;
  clock.advance(1_000);
  expect(await state.read()).toBeNull();
});

it.skipIf(onSqlite)(
  'a server that takes no writes counts as such until it does, though reading works',
  async () => {
    const { address, release } = await takeDatabase();
    const name = new URL(address).pathname.slice(1);
    const admin = new pg.Client({ connectionString: address });
    await admin.connect();
    /** For new sessions; the others end. */
    const takesWrites = async (takes: boolean) => {
      await admin.query(
        `begin read write; alter database ${name} set default_transaction_read_only = ${takes ? 'off' : 'on'}; commit`,
      );
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
        [name],
      );
    };
    const clock = new FakeClock();
    const database = await openDatabase(address, clock);
    const looked = () => {
      clock.advance(1_000);
      return database.storageFault();
    };
    try {
      await takesWrites(false);
      await expect.poll(looked).toBe('no_writes');
      for (let looks = 0; looks < 3; looks++) expect(await looked()).toBe('no_writes');
      await takesWrites(true);
      await expect.poll(looked).toBeNull();
    } finally {
      await takesWrites(true);
      await database.close();
      await admin.end();
      await release();
    }
  },
);
