/** Sessions as the API shows them (contract 6.8). */
import type { Static } from 'typebox';
import type {
  ActiveTornado,
  FixPlan,
  Iteration,
  KeptFixView,
  TornadoStatus,
  TornadoStatusView,
} from '#shared/api/agent-testing/tornado.ts';
import {
  fromJson,
  type TestTornadoIterationRow,
  type TestTornadoSessionRow,
  toJson,
} from '../../db/index.ts';
import { fitPage } from '../../http/index.ts';
import { editedNode } from '../analysis/edits.ts';
import { rounded } from '../judging/statistics.ts';
import type { Fix } from './fixes.ts';

export function activeView(session: TestTornadoSessionRow): Static<typeof ActiveTornado>['data'] {
  const scenarios: string[] = fromJson(session.scenario_ids);
  return {
    session_id: session.id,
    status: 'RUNNING',
    pathway_id: session.pathway_id,
    persona_id: session.persona_id,
    current_iteration: session.current_iteration,
    max_iterations: session.max_iterations,
    total_scenarios: scenarios.length,
    passed_scenarios: session.passed_scenarios,
    failed_scenarios: session.failed_scenarios,
    created_at: session.created_at,
  };
}

/** @param now ms */
export function statusView(
  session: TestTornadoSessionRow,
  iterations: readonly TestTornadoIterationRow[],
  now: number,
): TornadoStatusView {
  const unfixable: string[] = fromJson(session.unfixable_ids);
  const until = session.completed_at === null ? now : Date.parse(session.completed_at);
  return {
    ...activeView(session),
    status: session.status as TornadoStatus,
    base_version: session.base_version,
    unfixable_count: unfixable.length,
    unfixable_ids: unfixable,
    iterations: fitPage(iterations.map(iterationView), {
      diff: null,
      fix_plan: null,
      prompt_excerpt: null,
    }),
    elapsed_ms: Math.max(0, until - Date.parse(session.created_at)),
    timeout_ms: session.timeout_ms,
    forked_version: session.forked_version,
    fixes: fitPage(fromJson<readonly KeptFixView[]>(session.fixes ?? toJson([])).map(keptView), { diff: [] }),
    held_out: heldOutOf(session, iterations),
    error_message: session.error_message,
    completed_at: session.completed_at,
  };
}

/** Without the edit itself. */
function keptView({ description, diff, id, scenario_ids, target_node, type }: KeptFixView): KeptFixView {
  return { id, target_node, description, type, scenario_ids, diff };
}

/** Of the version that the session hands back; null: none, or no variant was tried. */
function heldOutOf(
  { forked_version }: TestTornadoSessionRow,
  iterations: readonly TestTornadoIterationRow[],
): Iteration['held_out'] {
  const row = iterations.find(({ version_number }) => version_number === forked_version);
  return row?.held_out == null ? null : fromJson<Iteration['held_out']>(row.held_out);
}

function iterationView(row: TestTornadoIterationRow): Iteration {
  return {
    iteration: row.iteration,
    batch_id: row.batch_id,
    started_at: row.started_at,
    completed_at: row.completed_at,
    version_number: row.version_number,
    passed_ids: fromJson(row.passed_ids),
    failed_ids: fromJson(row.failed_ids),
    newly_unfixable_ids: fromJson(row.newly_unfixable_ids),
    avg_score: rounded(row.avg_score),
    fix_plan: row.fix_plan === null ? null : fromJson(row.fix_plan),
    prompt_excerpt: row.prompt_excerpt,
    held_out: row.held_out === null ? null : fromJson<Iteration['held_out']>(row.held_out),
    diff: row.diff === null ? null : fromJson<Iteration['diff']>(row.diff),
  };
}

const fixTypes = {
  add_edge: 'flow_change',
  describe_edge: 'flow_change',
  retarget_edge: 'flow_change',
  exchange_edges: 'flow_change',
  set_placeholder: 'config_change',
  set_variable: 'config_change',
  set_transfer_number: 'config_change',
  set_words: 'prompt_edit',
  set_global_prompt: 'prompt_edit',
} as const;

export function fixView({ description, edit, id }: Fix) {
  return { id, target_node: editedNode(edit), description, type: fixTypes[edit.kind] };
}

/** Null: nothing was planned. */
export function planView(applied: readonly Fix[], skipped: readonly Fix[]): FixPlan | null {
  if (applied.length === 0 && skipped.length === 0) return null;
  const view = (fix: Fix, status: 'applied' | 'skipped'): FixPlan['fixes'][number] => ({
    ...fixView(fix),
    status,
  });
  return {
    fixes: [...applied.map((fix) => view(fix, 'applied')), ...skipped.map((fix) => view(fix, 'skipped'))],
    priority_order: [...applied, ...skipped]
      .toSorted((a, b) => b.confidence - a.confidence)
      .map(({ id }) => id),
  };
}
