/** When rows of removed elements are deleted. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { type Database, toJson } from '../db/index.ts';
import { nextVersion, storeItem } from './items.ts';
import { pruneRemoved } from './removed.ts';

const minutesMs = 60_000;
let database: Database;
let clock: FakeClock;
beforeEach(async () => {
  database = await openTestDatabase();
  clock = new FakeClock();
});
afterEach(() => database.close());

/** Stores an element; null: its removal. @returns its version */
async function change(key: string, content: object | null): Promise<number> {
  const version = await nextVersion(database.db);
  const text = content === null ? null : toJson(content);
  await storeItem(database.db, { kind: 'number', key, content: text }, version);
  return version;
}

async function keys(): Promise<string[]> {
  const rows = await database.db.selectFrom('edge_config_items').select('key').orderBy('key').execute();
  return rows.map(({ key }) => key);
}

async function prune(): Promise<number> {
  return await pruneRemoved(database.db, clock);
}

const linkEdge = (applied: number) =>
  database.db
    .insertInto('edges')
    .values({
      id: 'edge-1',
      outbox_id: 'outbox-1',
      sip_host: 'edge.example.com',
      sip_port: 5061,
      rtp_ip: '198.51.100.7',
      rtp_port_min: 10_000,
      rtp_port_max: 20_000,
      codecs: toJson(['PCMU']),
      software: 'test',
      connected_at: '2030-01-01T00:00:00.000Z',
      last_seen_at: '2030-01-01T00:00:00.000Z',
      region: null,
      weight: 100,
      draining_since: null,
      link_epoch: 1,
      gauges: null,
      replica_id: 'another',
      applied_version: applied,
    })
    .execute();

it('removed elements stay for ten minutes, for an edge that is connecting', async () => {
  await change('+1', { present: true });
  await change('+2', null);
  expect(await prune()).toBe(0);
  await change('+3', null);
  clock.advance(10 * minutesMs - 1);
  expect(await prune()).toBe(0);
  expect(await keys()).toEqual(['+1', '+2', '+3']);
  clock.advance(1);
  // What was removed since is not old enough yet.
  expect(await prune()).toBe(1);
  expect(await keys()).toEqual(['+1', '+3']);
  clock.advance(10 * minutesMs);
  expect(await prune()).toBe(1);
  expect(await keys()).toEqual(['+1']);
});

it('removed elements stay while an edge that is linked to a replica may not know of it', async () => {
  const removed = await change('+1', null);
  await linkEdge(removed - 1);
  await prune();
  clock.advance(10 * minutesMs);
  expect(await prune()).toBe(0);
  await database.db.updateTable('edges').set({ applied_version: removed }).execute();
  clock.advance(10 * minutesMs);
  expect(await prune()).toBe(1);
  expect(await keys()).toEqual([]);
});

it('more than 20,000 are deleted in several rounds, of which the next need not wait', async () => {
  const version = await nextVersion(database.db);
  const rows = Array.from({ length: 20_001 }, (_, index) => ({
    ...{ kind: 'number' as const, key: `+${index}`, version, content: null },
  }));
  for (let at = 0; at < rows.length; at += 1_000)
    await database.db
      .insertInto('edge_config_items')
      .values(rows.slice(at, at + 1_000))
      .execute();
  await prune();
  clock.advance(10 * minutesMs);
  expect([await prune(), await prune(), await prune()]).toEqual([20_000, 1, 0]);
});
