/** Batches as stored, and their completion (contract 6.6). */
import type { Batch, BatchLine } from '#shared/api/agent-testing/batches.ts';
import type { TriggerSource } from '#shared/api/agent-testing/runs.ts';
import type { RunStatus } from '#shared/api/agent-testing/scenarios.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db, TestBatchRow } from '../../db/index.ts';
import { type NewestPage, newestPage } from '../../http/index.ts';
import { queueEvent } from '../../webhooks/index.ts';
import { runsOf } from './run-store.ts';
import { runLines } from './views.ts';

type EndedStatus = Exclude<RunStatus, 'PENDING' | 'RUNNING'>;

/** The batch ends with the first of these statuses among its runs. */
const worstFirst = ['FAILED', 'ERROR', 'CANCELLED'] as const;

/** The status of a batch (contract 6.6). Null: some runs have not ended. A batch without runs has nothing that could pass: ERROR. */
export function batchStatus(runs: readonly RunStatus[]): EndedStatus | null {
  if (runs.some((status) => status === 'PENDING' || status === 'RUNNING')) return null;
  if (runs.length === 0) return 'ERROR';
  return worstFirst.find((status) => runs.includes(status)) ?? 'PASSED';
}

export async function insertBatch(db: Db, batch: TestBatchRow): Promise<void> {
  await db.insertInto('test_batches').values(batch).execute();
}

export function findBatch(db: Db, orgId: string, id: string): Promise<TestBatchRow | undefined> {
  return db
    .selectFrom('test_batches')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
}

/** @throws ApiError BATCH_NOT_FOUND */
export async function requireBatch(db: Db, orgId: string, id: string): Promise<TestBatchRow> {
  const row = await findBatch(db, orgId, id);
  if (!row) throw ApiError.of('BATCH_NOT_FOUND');
  return row;
}

/** One page, newest first, and the total. */
export function listBatches(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<NewestPage<TestBatchRow>> {
  return newestPage(db.selectFrom('test_batches').selectAll().where('org_id', '=', orgId), page);
}

/** A batch without its runs. */
export async function batchLine(db: Db, batch: TestBatchRow): Promise<BatchLine> {
  const { id, status, total_scenarios, trigger_source, version_number, created_at, completed_at } = batch;
  const statuses = await statusesOf(db, id);
  const count = (...wanted: readonly string[]) => statuses.filter((one) => wanted.includes(one)).length;
  return {
    id,
    status,
    total_scenarios,
    passed_scenarios: count('PASSED'),
    failed_scenarios: count('FAILED', 'ERROR', 'CANCELLED'),
    trigger_source: trigger_source as TriggerSource,
    publish_on_pass: batch.publish_on_pass === 1,
    published: batch.published === 1,
    version_number,
    created_at,
    completed_at,
  };
}

export async function batchView(db: Db, batch: TestBatchRow): Promise<Batch> {
  const line = await batchLine(db, batch);
  return { ...line, runs: await runLines(db, await runsOf(db, 'batch_id', batch.id)) };
}

export async function beginBatch(db: Db, id: string): Promise<void> {
  await db
    .updateTable('test_batches')
    .set({ status: 'RUNNING' })
    .where('id', '=', id)
    .where('status', '=', 'PENDING')
    .execute();
}

/** Ends a batch whose runs have all ended, and queues its event. @param now ISO */
export async function settleBatch(db: Db, id: string, now: string): Promise<void> {
  const runs = await statusesOf(db, id);
  const status = batchStatus(runs);
  if (status === null) return beginBatch(db, id);
  const batch = await db
    .updateTable('test_batches')
    .set({ status, completed_at: now })
    .where('id', '=', id)
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .returningAll()
    .executeTakeFirst();
  // A session reports its batches when it ends.
  if (!batch || batch.trigger_source === 'tornado') return;
  await queueEvent(
    db,
    { now: () => Date.parse(now) },
    {
      orgId: batch.org_id,
      type: 'test_batch.completed',
      url: batch.webhook_url,
      subjectId: id,
      data: await batchView(db, batch),
    },
  );
}

async function statusesOf(db: Db, id: string): Promise<TestBatchRow['status'][]> {
  const batch = await db.selectFrom('test_batches').select('org_id').where('id', '=', id).executeTakeFirst();
  if (!batch) return [];
  const rows = await db
    .selectFrom('test_runs')
    .select('status')
    .where('org_id', '=', batch.org_id)
    .where('batch_id', '=', id)
    .execute();
  return rows.map(({ status }) => status);
}

export interface EndedBatch {
  readonly id: string;
  readonly completed_at: string;
}

/** Batches that ended at `after.completed_at` with a greater id, or later; by their end. */
export async function endedAfter(db: Db, after: EndedBatch, limit: number): Promise<EndedBatch[]> {
  const rows = await db
    .selectFrom('test_batches')
    .select(['id', 'completed_at'])
    .where('completed_at', '>=', after.completed_at)
    .where((eb) => eb.or([eb('completed_at', '>', after.completed_at), eb('id', '>', after.id)]))
    .orderBy('completed_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.flatMap(({ id, completed_at }) => (completed_at === null ? [] : [{ id, completed_at }]));
}
