/** Starts and cancels batches (contract 6.6). */
import type { TriggerSource } from '#shared/api/agent-testing/runs.ts';
import { newId } from '#shared/ids.ts';
import type { Db } from '../../../db/index.ts';
import { isoTime } from '../../../organizations/index.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { insertBatch } from '../../records/batch-store.ts';
import { cancelledEnd, finishRun } from '../../records/write.ts';
import { checkCallers, insertRuns, onlySubject, planRuns, startSeed } from '../plan.ts';

export interface BatchOrder {
  readonly orgId: string;
  readonly scenarioIds: readonly string[];
  /** Default: the version in production of each pathway and persona. */
  readonly versionNumber?: number | undefined;
  readonly triggerSource: TriggerSource;
  /** Default: random. Run i has seed + i. */
  readonly seed?: number | undefined;
  readonly webhookUrl?: string | null;
  /** What a promotion waits for (contract 6.11). */
  readonly contentHash?: string | null;
  readonly publishOnPass?: boolean;
  readonly tornadoSessionId?: string | null;
}

export interface StartedBatch {
  readonly batchId: string;
  readonly runs: readonly { readonly runId: string; readonly scenarioId: string }[];
}

/**
 * Queues a batch. Call it in a transaction, and announce `testRunsSubject` after the commit.
 * @throws ApiError SCENARIO_NOT_FOUND with all unknown ids, VERSION_NOT_FOUND, INVALID_PARAMETER at /version_number
 */
export async function startBatch(
  services: Pick<TestingDeps, 'clock' | 'edges' | 'models'>,
  db: Db,
  order: BatchOrder,
): Promise<StartedBatch> {
  const { orgId, triggerSource, versionNumber, webhookUrl = null, tornadoSessionId = null } = order;
  const planned = await planRuns(db, orgId, order.scenarioIds, versionNumber);
  await checkCallers(services, db, orgId, planned, order.scenarioIds);
  const subject = onlySubject(planned);
  const batchId = newId();
  await insertBatch(db, {
    id: batchId,
    org_id: orgId,
    pathway_id: subject?.kind === 'pathway' ? subject.id : null,
    persona_id: subject?.kind === 'persona' ? subject.id : null,
    status: 'PENDING',
    trigger_source: triggerSource,
    version_number: versionNumber ?? null,
    content_hash: order.contentHash ?? null,
    total_scenarios: planned.length,
    publish_on_pass: order.publishOnPass ? 1 : 0,
    published: 0,
    webhook_url: webhookUrl,
    created_at: isoTime(services.clock),
    completed_at: null,
  });
  const seed = startSeed(order.seed, planned.length);
  const ids = await insertRuns(
    services,
    db,
    { orgId, triggerSource, batchId, tornadoSessionId },
    planned,
    seed,
  );
  return {
    batchId,
    runs: ids.map((runId, index) => ({ runId, scenarioId: planned[index]?.scenario.id ?? '' })),
  };
}

/**
 * Cancels the unfinished runs of a batch; the batch ends with them. Call it in a transaction. Returns their ids: pass
 * them to `TestRuns.stopped` after the commit.
 */
export async function cancelBatch(
  services: Pick<TestingDeps, 'clock'>,
  db: Db,
  batchId: string,
): Promise<string[]> {
  const open = await db
    .selectFrom('test_runs')
    .select('id')
    .where('batch_id', '=', batchId)
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .execute();
  const cancelled: string[] = [];
  for (const { id } of open) {
    if (await finishRun(db, id, cancelledEnd(isoTime(services.clock)))) cancelled.push(id);
  }
  return cancelled;
}
