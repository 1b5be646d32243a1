/** Inserting and ending runs. Every end goes through here, because analytics count it. */
import { createHash } from 'node:crypto';
import type { Usage } from '#shared/api/agent-testing/usage.ts';
import {
  type Db,
  type TestAssertionResultRow,
  type TestRunRecordRow,
  type TestRunRow,
  toJson,
} from '../../db/index.ts';
import { recordEvents } from '../../events/index.ts';
import { queueEvent } from '../../webhooks/index.ts';
import type { AssertionResult } from '../judging/ports.ts';
import { settleBatch } from './batch-store.ts';
import { happeningOfRun } from './happenings.ts';
import { loadRunEnded } from './load-store.ts';
import { findRecord, findRun, resultsOf } from './run-store.ts';
import { settleSet } from './set-store.ts';
import { sentRunView } from './views.ts';
import type { OwnOfRun, WaitingRun } from './waiting-run.ts';

export type FinalStatus = 'PASSED' | 'FAILED' | 'ERROR' | 'CANCELLED';

/** Inserts a waiting run, with the scenario's current form. */
export async function insertRun(
  db: Db,
  run: WaitingRun & OwnOfRun,
  record: Pick<TestRunRecordRow, 'scenario' | 'evaluator'>,
): Promise<void> {
  await db
    .insertInto('test_runs')
    .values({
      ...run,
      path_id: '',
      failed_node_id: '',
      turn_count: 0,
      attempts: 0,
      conversation: null,
      usage: null,
    })
    .execute();
  await recordEvents(db, [happeningOfRun({ ...run, turn_count: 0 }, run.created_at)]);
  await db
    .insertInto('test_run_records')
    .values({
      ...record,
      run_id: run.id,
      chat_history: toJson([]),
      variables_extracted: toJson({}),
      nodes_visited: toJson([]),
      current_node_id: null,
      webhook_calls: toJson([]),
      tool_calls: toJson([]),
      log: toJson([]),
      ending: null,
      service_tone_score: null,
      reasoning: null,
      error_message: null,
      voice: null,
      analysis: null,
      checkpoint: null,
      ended_at: null,
      deleted_at: null,
    })
    .execute();
}

/** How a run ended. */
export interface RunEnd {
  readonly status: FinalStatus;
  /** ISO 8601 */
  readonly completedAt: string;
  readonly score: number | null;
  readonly turnCount: number;
  readonly durationMs: number | null;
  /** In visiting order; null: no nodes. */
  readonly nodesVisited: readonly string[] | null;
  /** From failedNode of assertions/evaluate.ts; for FAILED runs. */
  readonly failedNodeId: string | null;
  readonly record: Partial<Omit<TestRunRecordRow, 'run_id' | 'scenario'>>;
  readonly results: readonly AssertionResult[];
  /** Null or absent: not known. */
  readonly usage?: Usage | null;
}

/**
 * Ends a waiting or running run, in one transaction with everything kept of it. Call it inside one.
 * @returns false when it had already ended; then nothing changes
 */
export async function finishRun(db: Db, id: string, end: RunEnd): Promise<boolean> {
  const nodes = [...new Set(end.nodesVisited ?? [])];
  const path_id = nodes.length === 0 ? '' : pathId(nodes);
  const failed_node_id = end.status === 'FAILED' ? (end.failedNodeId ?? '') : '';
  const run = await db
    .updateTable('test_runs')
    .set({
      status: end.status,
      completed_at: end.completedAt,
      overall_score: end.score,
      turn_count: end.turnCount,
      duration_ms: end.durationMs,
      worker: null,
      lease_until: null,
      path_id,
      failed_node_id,
      conversation: conversationId(end),
      usage: end.usage ? toJson(end.usage) : null,
    })
    .where('id', '=', id)
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .returningAll()
    .executeTakeFirst();
  if (!run) return false;
  await db
    .updateTable('test_run_records')
    .set({
      ...end.record,
      checkpoint: null,
      nodes_visited: toJson(end.nodesVisited),
      ended_at: end.completedAt,
    })
    .where('run_id', '=', id)
    .execute();
  await insertResults(db, id, end.results);
  if (run.pathway_id !== null) {
    if (path_id !== '') await insertPath(db, run.pathway_id, path_id, nodes);
    if (run.as_is === 1) await countRun(db, run.pathway_id, run);
  }
  await afterEnd(db, run, end.completedAt);
  await recordEvents(db, [happeningOfRun(run, end.completedAt)]);
  return true;
}

/** Equal for runs in which the same was said at the same nodes; null: nobody spoke. */
function conversationId({ record: { chat_history: said } }: RunEnd): string | null {
  return said === undefined ? null : createHash('sha256').update(said).digest('hex').slice(0, 32);
}

function pathId(nodes: readonly string[]): string {
  return createHash('sha256').update(toJson(nodes)).digest('hex').slice(0, 32);
}

async function insertPath(db: Db, pathwayId: string, id: string, nodes: readonly string[]): Promise<void> {
  await db
    .insertInto('test_paths')
    .values({ pathway_id: pathwayId, id, nodes: toJson(nodes) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function countRun(db: Db, pathwayId: string, run: TestRunRow): Promise<void> {
  const { status, scenario_id, path_id, failed_node_id } = run;
  const scored = run.overall_score === null ? 0 : 1;
  const score = run.overall_score ?? 0;
  const counted = { pathway_id: pathwayId, status, runs: 1, scored, score_sum: score };
  const day = run.created_at.slice(0, 10);
  await db
    .insertInto('test_run_days')
    .values({ ...counted, day })
    .onConflict((conflict) =>
      conflict.columns(['pathway_id', 'day', 'status']).doUpdateSet((eb) => ({
        runs: eb('test_run_days.runs', '+', 1),
        scored: eb('test_run_days.scored', '+', scored),
        score_sum: eb('test_run_days.score_sum', '+', score),
      })),
    )
    .execute();
  const alike = { ...counted, scenario_id, path_id, failed_node_id };
  await db
    .insertInto('test_run_periods')
    .values([
      { ...alike, period: day },
      { ...alike, period: day.slice(0, 7) },
    ])
    .onConflict((conflict) =>
      conflict
        .columns(['pathway_id', 'period', 'scenario_id', 'path_id', 'failed_node_id', 'status'])
        .doUpdateSet((eb) => ({
          runs: eb('test_run_periods.runs', '+', 1),
          scored: eb('test_run_periods.scored', '+', scored),
          score_sum: eb('test_run_periods.score_sum', '+', score),
        })),
    )
    .execute();
}

async function insertResults(db: Db, runId: string, results: readonly AssertionResult[]): Promise<void> {
  if (results.length === 0) return;
  const rows = results.map(
    (result, place): TestAssertionResultRow => ({
      run_id: runId,
      place,
      assertion_id: result.assertion_id,
      type: result.type,
      name: result.name,
      status: result.status,
      passed: result.passed ? 1 : 0,
      score: result.score,
      weight: result.weight,
      is_required: result.is_required ? 1 : 0,
      reasoning: result.reasoning,
      evidence: toJson(result.evidence),
      target: result.target,
      expected: result.expected,
    }),
  );
  await db.insertInto('test_assertion_results').values(rows).execute();
}

/** Cancels the waiting runs of scenarios. Returns their ids. */
export async function cancelWaitingRuns(
  db: Db,
  scenarioIds: readonly string[],
  now: string,
): Promise<string[]> {
  const cancelled: string[] = [];
  for (const scenarioId of scenarioIds) {
    const waiting = await db
      .selectFrom('test_runs')
      .select('id')
      .where('scenario_id', '=', scenarioId)
      .where('status', '=', 'PENDING')
      .execute();
    for (const { id } of waiting) if (await finishRun(db, id, cancelledEnd(now))) cancelled.push(id);
  }
  return cancelled;
}

/** The end of a run canceled before anything was checked. */
export function cancelledEnd(completedAt: string): RunEnd {
  return {
    status: 'CANCELLED',
    completedAt,
    score: null,
    turnCount: 0,
    durationMs: null,
    nodesVisited: [],
    failedNodeId: null,
    record: {},
    results: [],
  };
}

/**
 * Consequences of a run's end, in the same transaction: its batch or set may be complete, and waiters are notified.
 * @param now ISO, when it ended
 */
async function afterEnd(db: Db, run: TestRunRow, now: string): Promise<void> {
  const { batch_id, simulation_set_id, tornado_session_id } = run;
  if (batch_id !== null) await settleBatch(db, batch_id, now);
  if (simulation_set_id !== null) {
    // It may have the next run of its load now.
    if (run.trigger_source === 'load') await loadRunEnded(db, simulation_set_id, run.status, now, insertRun);
    await settleSet(db, simulation_set_id, now);
  }
  // Runs inside a batch, set or session send no event of their own (contract 13).
  if (batch_id === null && simulation_set_id === null && tornado_session_id === null) {
    await announceRun(db, run, now);
  }
}

async function announceRun(db: Db, { id, org_id, webhook_url }: TestRunRow, now: string): Promise<void> {
  const run = await findRun(db, org_id, id);
  if (!run) return;
  const results = (await resultsOf(db, [id])).get(id) ?? [];
  await queueEvent(
    db,
    { now: () => Date.parse(now) },
    {
      orgId: org_id,
      type: 'test_run.completed',
      url: webhook_url,
      subjectId: id,
      data: sentRunView(run, await findRecord(db, id), results),
    },
  );
}
