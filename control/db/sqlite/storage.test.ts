/** A database on a disk that cannot be written: API errors, working reads, and recovery. */
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { EdgeClient } from '../../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { onDriver } from '../../../test/kit/db/driver.ts';
import { StorageState } from './storage.ts';

let control: TestControl;

beforeEach(async () => {
  control = await startControl();
});

afterEach(() => control.close());

const pragma = (text: string) =>
  onDriver(control.control.services.database.db, (connection) => connection.pragma(text));
const health = () => control.call('GET', '/health', { key: null });
const create = () => control.call('POST', '/v1/pathway/create', { body: { name: 'x'.repeat(200) } });

test.each([
  ['no room', 'max_page_count = 1', 'max_page_count = 1000000', 'the disk is full'],
  ['a read-only file system', 'query_only = ON', 'query_only = OFF', 'is read-only'],
])(
  '%s: 503 for writes, reads work, /health reports it, and everything recovers',
  async (_, off, on, words) => {
    await pragma(off);
    let refused = await create();
    for (let n = 0; refused.status < 300 && n < 200; n += 1) refused = await create();
    expect(refused.status).toBe(503);
    expect(refused.codes).toEqual(['SERVICE_UNAVAILABLE']);
    expect(refused.text).toContain(words);
    expect(refused.headers['retry-after']).toBe('30');
    // The use of the key can no longer be recorded, which must not matter.
    control.clock.advance(120_000);
    expect((await control.call('GET', '/v1/pathway')).status).toBe(200);
    await pragma('query_only = ON');
    control.clock.advance(2_000);
    expect((await health()).body).toMatchObject({ status: 'unavailable', checks: { database: 'down' } });
    const { text } = await control.call('GET', '/metrics', { key: control.operatorKey });
    expect(text).toMatch(/^trunkline_control_storage_failures_total [1-9]/m);
    await pragma('query_only = OFF');
    await pragma(on);
    control.clock.advance(2_000);
    expect((await health()).status).toBe(200);
    expect((await create()).status).toBeLessThan(300);
  },
);

test('a full disk is detected without a write, and clears when there is room', () => {
  const folder = mkdtempSync(join(tmpdir(), 'storage-'));
  const file = join(folder, 'control.db');
  const connection = new SqliteFile(file);
  const clock = new FakeClock(0);
  const state = new StorageState(connection, clock);
  expect(state.read()).toBeNull();
  expect(readdirSync(folder)).toEqual(['control.db']);
  // A link to a device where every write fails for lack of space (full(4)).
  symlinkSync('/dev/full', `${file}-room`);
  clock.advance(4_999);
  expect(state.read()).toBeNull();
  clock.advance(1);
  expect(state.read()).toBe('full');
  rmSync(`${file}-room`, { force: true });
  clock.advance(1_000);
  expect(state.read()).toBeNull();
  connection.close();
  rmSync(folder, { recursive: true });
});

test('an edge with a full disk is listed in /health, and gets no calls once it rejects them', async () => {
  const url = `${(await control.url()).replace('http', 'ws')}/v1/edge/link`;
  const edge = await EdgeClient.connect(url, control.edgeToken);
  const { config } = await edge.next('config');
  edge.send({ type: 'applied', version: config.version });
  const { edges } = control.control.services;
  const says = async (failing: number, refusing: number, lost = 0) => {
    edge.send({
      type: 'status',
      metrics: {
        trunkline_edge_storage_failing: failing,
        trunkline_edge_storage_refuses_calls: refusing,
        trunkline_edge_outbox_files_lost_total: lost,
      },
    });
    await expect
      .poll(() => edges.storage)
      .toEqual({
        failing: failing ? ['edge-1'] : [],
        refusing: refusing ? ['edge-1'] : [],
        lost: lost ? ['edge-1'] : [],
      });
    return health();
  };
  const missing = await says(0, 0, 1);
  expect(missing.status).toBe(200);
  expect(missing.body.edge).toMatchObject({ storage: { lost: ['edge-1'] } });
  const holding = await says(1, 0);
  expect(holding.status).toBe(200);
  expect(holding.body.edge).toMatchObject({ storage: { failing: ['edge-1'], refusing: [] } });
  expect(edges.leastLoaded().edgeId).toBe('edge-1');
  expect((await says(1, 1)).status).toBe(503);
  expect(() => edges.leastLoaded()).toThrow('the disks of all connected edges are full');
  expect((await says(0, 0)).status).toBe(200);
  await edge.close();
});
