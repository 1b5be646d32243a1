import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { storageFault } from '#shared/storage-fault.ts';
import { onSqlite, takeDatabase } from '../../../test/kit/db/test-database.ts';
import { eventually } from '../../../test/kit/programs/eventually.ts';
import type { Tables } from '../tables.ts';
import { PooledPostgresDialect } from './dialect.ts';
import { beginSession } from './session.ts';
import { type Look, lookAt, Unanswered } from './unanswered.ts';

/** A server, or what is left of the way to it, whose one connection waits for an answer. */
async function waiting(look: Look) {
  const clock = new FakeClock();
  const looked = vi.fn<Look>(look);
  const unanswered = new Unanswered(looked, clock);
  const process = randomInt(1, 100_000);
  const destroy = vi.fn<(error: Error) => void>();
  const client = Object.assign(Object.create(pg.Client.prototype) as pg.PoolClient, {
    connection: { stream: { destroy } },
    query: async () => ({ rows: [{ pid: process }] }),
  });
  await beginSession(client);
  const { promise, resolve } = Promise.withResolvers<void>();
  const statement = unanswered.whileWaiting(client, () => promise);
  const seconds = async (count: number) => {
    for (let n = 0; n < count; n++) {
      clock.advance(1_000);
      // The look and what follows it.
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  };
  const answer = async () => {
    resolve();
    await statement;
  };
  return { process, looked, destroy, seconds, answer };
}

it('asks about no statement that has its answer within 5 s', async () => {
  const { looked, seconds, answer } = await waiting(async () => null);
  await seconds(4);
  await answer();
  await seconds(10);
  expect(looked).not.toHaveBeenCalled();
});

it('waits for a statement as long as the server works on it', async () => {
  const { process, looked, destroy, seconds } = await waiting(async (processes) => new Set(processes));
  await seconds(60);
  expect(looked.mock.calls[0]).toEqual([[process]]);
  expect(destroy).not.toHaveBeenCalled();
});

it('closes the connection of a statement that the server does not work on', async () => {
  const { destroy, seconds } = await waiting(async () => new Set());
  await seconds(5);
  expect(destroy.mock.lastCall?.[0].message).toContain('the connection was lost');
});

it('closes it when the server does not answer twice in a row, and not when once', async () => {
  const answers = [null, 'working', null, null] as const;
  let looks = 0;
  const { destroy, seconds } = await waiting(async (processes) =>
    answers[looks++] === 'working' ? new Set(processes) : null,
  );
  await seconds(7);
  expect([looks, destroy.mock.calls.length]).toEqual([3, 0]);
  await seconds(1);
  expect(destroy.mock.lastCall?.[0].message).toContain('did not answer');
});

it('leaves a connection alone whose answer came while the server was asked', async () => {
  const asked = Promise.withResolvers<ReadonlySet<number>>();
  const { destroy, seconds, answer } = await waiting(() => asked.promise);
  await seconds(5);
  await answer();
  asked.resolve(new Set());
  await seconds(1);
  expect(destroy).not.toHaveBeenCalled();
});

/** A way to the server of a database that can be cut without a word, and its address on this way. */
async function cuttableWay(address: string) {
  const url = new URL(address);
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-way-'));
  const socketName = `.s.PGSQL.${url.searchParams.get('port')}`;
  const target = join(url.searchParams.get('host') ?? '', socketName);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => isCut || to.write(data));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(join(folder, socketName), resolve));
  url.searchParams.set('host', folder);
  return {
    address: url.href,
    cut: (value: boolean) => {
      isCut = value;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}

it.skipIf(onSqlite)(
  'a statement on a way that was cut without a word fails, and the next ones work',
  async () => {
    const { address, release } = await takeDatabase();
    const way = await cuttableWay(address);
    const clock = new FakeClock();
    const unanswered = new Unanswered(lookAt(address), clock);
    const pool = new pg.Pool({ connectionString: way.address, max: 1, onConnect: beginSession });
    const db = new Kysely<Tables>({ dialect: new PooledPostgresDialect(pool, { unanswered }) });
    try {
      await sql`select 1`.execute(db);
      way.cut(true);
      const lost = sql`select 1`.execute(db).catch((error: unknown) => error);
      const passing = setInterval(() => clock.advance(1_000), 10);
      const failure = await lost;
      clearInterval(passing);
      expect(storageFault(failure)).toBe('unreachable');
      way.cut(false);
      const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db);
      expect(rows).toEqual([{ one: 1 }]);
    } finally {
      await db.destroy();
      await way.close();
      await release();
    }
  },
);

it.skipIf(onSqlite)('a statement that the server works on is waited for', async () => {
  const { address, release } = await takeDatabase();
  const clock = new FakeClock();
  const look = vi.fn<Look>(lookAt(address));
  const pool = new pg.Pool({ connectionString: address, max: 1, onConnect: beginSession });
  const unanswered = new Unanswered(look, clock);
  const db = new Kysely<Tables>({ dialect: new PooledPostgresDialect(pool, { unanswered }) });
  const other = new pg.Client({ connectionString: address });
  try {
    await other.connect();
    await other.query('begin; select pg_advisory_xact_lock(1)');
    const long = sql`select pg_advisory_xact_lock(1)`.execute(db);
    const passing = setInterval(() => clock.advance(1_000), 10);
    await eventually('three looks', () => look.mock.settledResults.length > 2 || null);
    clearInterval(passing);
    await other.query('commit');
    await long;
  } finally {
    await other.end();
    await db.destroy();
    await release();
  }
});
