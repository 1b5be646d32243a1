/** POST /v1/agent-testing/runs/{id}/analyze: why a run failed, and what to do about it (contract 6.5). */
import type { Analysis } from '#shared/api/agent-testing/runs.ts';
import { ApiError } from '#shared/errors.ts';
import type { LanguageModel } from '#shared/models/language-model.ts';
import { ModelUnavailable } from '#shared/models/model-unavailable.ts';
import { fromJson, toJson } from '../../db/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { round4 } from '../judging/statistics.ts';
import { findRecord, requireRun } from '../records/run-store.ts';
import { type FailedCase, nodeName, unmetAssertions } from './case.ts';
import { detect } from './detect.ts';
import type { Cause, Finding } from './finding.ts';
import { loadCase } from './load-case.ts';
import { analyzeByModel } from './model-analysis.ts';

const mostSuggestions = 20;

/** @throws ApiError RUN_NOT_FOUND, RUN_NOT_FINISHED, RUN_NOT_FAILED, RUN_RECORD_DELETED, MODEL_UNAVAILABLE */
export async function analyzeRun(
  { database, models }: Pick<TestingDeps, 'database' | 'models'>,
  orgId: string,
  runId: string,
): Promise<Analysis> {
  const { db } = database;
  const run = await requireRun(db, orgId, runId);
  if (run.status === 'PENDING' || run.status === 'RUNNING') throw ApiError.of('RUN_NOT_FINISHED');
  if (run.status !== 'FAILED') throw ApiError.of('RUN_NOT_FAILED', { status: run.status });
  const { analysis: before, deleted_at } = await findRecord(db, run.id);
  if (before !== null) return fromJson<Analysis>(before);
  if (deleted_at !== null) throw ApiError.of('RUN_RECORD_DELETED', { deleted_at });
  const failed = await loadCase(db, run);
  const analysis = models.judge ? await byModel(models.judge, failed) : byRules(failed);
  // Of two concurrent ones the first is stored, so that a repeat returns the same.
  await db
    .updateTable('test_run_records')
    .set({ analysis: toJson(analysis) })
    .where('run_id', '=', run.id)
    .where('analysis', 'is', null)
    .execute();
  const kept = (await findRecord(db, run.id)).analysis;
  return kept === null ? analysis : fromJson<Analysis>(kept);
}

async function byModel(model: LanguageModel, failed: FailedCase): Promise<Analysis> {
  try {
    const { cause, rootCause, findings } = await analyzeByModel(model, failed, detect(failed));
    return analysisOf(failed, cause, rootCause, findings);
  } catch (error) {
    if (error instanceof ModelUnavailable) throw ApiError.of('MODEL_UNAVAILABLE');
    throw error;
  }
}

/** By rules only: the same run gives the same analysis. */
function byRules(failed: FailedCase): Analysis {
  const findings = detect(failed);
  const [first] = findings;
  if (first) return analysisOf(failed, first.cause, first.description, findings);
  const [unmet] = unmetAssertions(failed);
  const reason = unmet
    ? `${unmet.result.name ?? unmet.result.type}: ${unmet.result.reasoning}`
    : 'The score is too low.';
  const cause = failed.agentByRules ? 'flow' : 'model';
  return analysisOf(failed, cause, `Nothing in the run shows what led to it: ${reason}`, []);
}

function analysisOf(
  failed: FailedCase,
  cause: Cause,
  rootCause: string,
  findings: readonly Finding[],
): Analysis {
  const suggestions = findings.slice(0, mostSuggestions).map((finding) => ({
    type: finding.type,
    target_node_id: finding.nodeId,
    target_node_name: finding.nodeId === null ? null : nodeName(failed, finding.nodeId),
    description: finding.description,
    suggested_change: finding.suggestedChange,
    confidence: round4(finding.confidence),
  }));
  const named = suggestions.flatMap(({ target_node_id: id }) => (id === null ? [] : [id]));
  const ids = new Set([...(failed.record.nodes_visited ?? []), ...named]);
  return {
    root_cause_class: cause,
    root_cause: rootCause,
    suggestions,
    node_id_to_name: Object.fromEntries([...ids].map((id) => [id, nodeName(failed, id)])),
  };
}
