import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storeFinishedRun } from '../../../test/kit/control/agent-testing.ts';
import { openTestDatabase } from '../../../test/kit/db/test-database.ts';
import type { Database } from '../../db/open.ts';
import { insertBatch } from './batch-store.ts';
import { deleteRunsBeyond } from './delete.ts';

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const db = () => database.db;
const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString();
const ids = async () =>
  (await db().selectFrom('test_runs').select('id').orderBy('created_at').orderBy('id').execute()).map(
    ({ id }) => id,
  );
const batch = (id: string) =>
  insertBatch(db(), {
    id,
    org_id: 'own',
    pathway_id: null,
    persona_id: null,
    status: 'PASSED',
    trigger_source: 'api',
    version_number: null,
    content_hash: null,
    total_scenarios: 2,
    publish_on_pass: 0,
    published: 0,
    webhook_url: null,
    created_at: at(0),
    completed_at: at(1),
  });

describe("test runs above an organization's limit", () => {
  it('are deleted oldest first, with their records, and a batch with its last run', async () => {
    await batch('old');
    await batch('half');
    const run = (orgId: string, minute: number, more: object = {}, status: 'PASSED' | null = 'PASSED') =>
      storeFinishedRun(db(), {
        orgId,
        scenarioId: 's',
        pathwayId: 'p',
        createdAt: at(minute),
        ...(status && { status }),
        more,
      });
    const underWay = await run('own', 0, {}, null);
    await run('own', 1, { batch_id: 'old' });
    await run('own', 2, { batch_id: 'old' });
    await run('own', 3, { batch_id: 'half' });
    const kept = await run('own', 4, { batch_id: 'half' });
    const newest = await run('own', 5);
    const foreign = [await run('foreign', 1), await run('foreign', 2), await run('foreign', 3)];
    expect(await deleteRunsBeyond(db(), 6)).toBe(0);
    expect(await deleteRunsBeyond(db(), 3)).toBe(3);
    expect((await ids()).sort()).toEqual([underWay, kept, newest, ...foreign].sort());
    const records = await db().selectFrom('test_run_records').select('run_id').execute();
    expect(records).toHaveLength(6);
    const batches = await db().selectFrom('test_batches').select('id').execute();
    expect(batches).toEqual([{ id: 'half' }]);
    // Analytics still count them.
    const days = await db()
      .selectFrom('test_run_days')
      .select('runs')
      .where('pathway_id', '=', 'p')
      .execute();
    expect(days).toEqual([{ runs: 8 }]);
    expect(await deleteRunsBeyond(db(), 3)).toBe(0);
  });

  it('include no waiting or running run', async () => {
    const open = () =>
      storeFinishedRun(db(), {
        orgId: 'own',
        scenarioId: 's',
        createdAt: at(0),
        more: { status: 'PENDING' },
      });
    const waiting = [await open(), await open()];
    expect(await deleteRunsBeyond(db(), 1)).toBe(0);
    expect((await ids()).sort()).toEqual(waiting.sort());
  });
});
