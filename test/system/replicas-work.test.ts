/**
 * Two control planes on one PostgreSQL server share deliveries: one sends each, and what a killed or stopped one had
 * begun is sent by the other. Deliveries are made at least once: what was on its way when its replica died is repeated.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newDelivery } from '../kit/db/delivery.ts';
import { type PostgresServer, startPostgres } from '../kit/db/postgres-server.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { longTest } from '../kit/long-test.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'replicas-work-'));
const authority = createAuthority();
const { cert, key } = authority.issue({ names: ['IP:127.0.0.1'] });
const limit = { timeout: 90_000 };

let server: PostgresServer;
let target: Server;
let replicas: ControlProgram[] = [];
let database: pg.Client;
let databases = 0;
/** Ids of events, in the order of their arrival. */
let received: string[] = [];
/** While it is set, requests get no answer. */
let held: Promise<void> | null = null;

beforeAll(async () => {
  writeFileSync(join(folder, 'ca.pem'), authority.cert);
  server = await startPostgres();
  target = createServer({ cert, key }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', async () => {
      received.push(Buffer.concat(parts).toString('utf8'));
      await held;
      response.end();
    });
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
});
afterAll(async () => {
  target.closeAllConnections();
  target.close();
  rmSync(folder, { recursive: true });
  await server?.stop();
});
beforeEach(async () => {
  received = [];
  held = null;
  const name = `replicas_${++databases}`;
  const admin = new pg.Client({ connectionString: server.url('postgres') });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const settings = {
    DATABASE_URL: server.url(name),
    TRUNKLINE_SECRET_KEY: '11'.repeat(32),
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  };
  replicas = [new ControlProgram(settings), new ControlProgram(settings)];
  for (const replica of replicas) await replica.start();
  database = new pg.Client({ connectionString: server.url(name) });
  await database.connect();
});
afterEach(async () => {
  await database.end();
  for (const replica of replicas) await replica.remove();
});

/** Stores deliveries that are due now, without telling anybody. */
async function store(ids: readonly string[]): Promise<void> {
  const { port } = target.address() as AddressInfo;
  for (const id of ids) {
    const row = {
      ...newDelivery({ now: Date.now }),
      id,
      body: JSON.stringify({ id }),
      org_id: replicas[0]?.keys.org_id ?? '',
      url: `https://127.0.0.1:${port}/`,
    };
    const names = Object.keys(row);
    const marks = names.map((_, index) => `$${index + 1}`).join(', ');
    await database.query(
      `insert into webhook_deliveries (${names.join(', ')}) values (${marks})`,
      Object.values(row),
    );
  }
}

const events = (count: number) => Array.from({ length: count }, (_, index) => `event ${index}`);
const bodies = (ids: readonly string[]) => ids.map((id) => JSON.stringify({ id })).sort();

async function rows(): Promise<{ id: string; attempts: string; delivered: boolean }[]> {
  const { rows: all } = await database.query(
    'select id, attempts, delivered_at is not null as delivered from webhook_deliveries order by id',
  );
  return all;
}
const delivered = async () => (await rows()).filter((row) => row.delivered).length;

/** The replica that works on deliveries, and the other one. */
async function working(): Promise<[ControlProgram, ControlProgram]> {
  let owner = '';
  await expect
    .poll(async () => {
      const { rows: found } = await database.query<{ owner: string }>(
        `select owner from work_under_way where queue = 'webhook' and owner is not null`,
      );
      owner = found[0]?.owner ?? '';
      return owner;
    }, limit)
    .not.toBe('');
  const [first, second] = replicas;
  if (!first || !second) throw new Error('there are no replicas');
  return first.output.includes(`"instance":"${owner}"`) ? [first, second] : [second, first];
}

test('each delivery is made once while both run', async () => {
  const ids = events(60);
  await store(ids);
  await expect.poll(delivered, limit).toBe(60);
  expect([...new Set(received)].sort()).toEqual(bodies(ids));
  // Each attempt is made by one of them. On a busy machine one may fail after it has arrived, and is followed by another.
  for (const { id, attempts } of await rows()) {
    const times = received.filter((body) => body === JSON.stringify({ id })).length;
    expect(times, id).toBeLessThanOrEqual(Number(attempts));
  }
});

test('what a killed replica had begun is delivered by the other, and counts as an attempt', async () => {
  const release = Promise.withResolvers<void>();
  held = release.promise;
  const ids = events(20);
  await store(ids);
  const [owner] = await working();
  await expect.poll(() => received.length > 0, limit).toBe(true);
  await owner.end('SIGKILL');
  const begun = new Set(received);
  release.resolve();
  await expect.poll(delivered, limit).toBe(20);
  // Nothing is lost, and only what was on its way is sent again.
  expect([...new Set(received)].sort()).toEqual(bodies(ids));
  const counts = Map.groupBy(received, (body) => body);
  for (const [body, times] of counts) expect(times.length).toBeLessThanOrEqual(begun.has(body) ? 2 : 1);
});

longTest(
  'a stopped replica that continues after another took over stores nothing of what it had begun',
  async () => {
    const release = Promise.withResolvers<void>();
    held = release.promise;
    const ids = events(4);
    await store(ids);
    const [owner, other] = await working();
    await expect.poll(() => received.length, limit).toBe(4);
    const { pid } = owner;
    if (pid === undefined) throw new Error('the replica does not run');
    process.kill(pid, 'SIGSTOP');
    // The other counts the attempts, and makes the next ones.
    await expect
      .poll(async () => (await rows()).filter(({ attempts }) => attempts === '1').length, limit)
      .toBe(4);
    expect(other.output).toContain('webhook was running when the program crashed');
    process.kill(pid, 'SIGCONT');
    release.resolve();
    await expect.poll(() => owner.output, limit).toContain('another replica took over webhook');
    await expect.poll(delivered, limit).toBe(4);
    expect((await rows()).map(({ attempts }) => attempts)).toEqual(['2', '2', '2', '2']);
    expect(received).toHaveLength(8);
  },
);
