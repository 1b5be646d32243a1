/**
 * Tries a fork on variants that its fixes were not made from. A scenario passes on it only with its variants. They are
 * runs like all others: queued fairly between organizations, bounded, and cancelled with their session.
 */
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import { newId } from '#shared/ids.ts';
import { type Db, fromJson, type TestTornadoSessionRow, toJson } from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { insertBatch } from '../records/batch-store.ts';
import { findRecord, runsOf } from '../records/run-store.ts';
import { insertRuns, type PlannedRun } from '../runs/plan.ts';
import type { ScenarioOutcome } from './outcome.ts';
import type { SessionState } from './state.ts';
import { updateSession } from './store.ts';
import { variantOf, variantsEach } from './variants.ts';

type Outcomes = SessionState['outcomes'][number];

export interface HeldOut {
  readonly outcomes: Outcomes;
  /** Null: nothing had to be tried. */
  readonly held: { readonly variants: number; readonly passed: number } | null;
}

/** What a scenario fails at that passes itself, and not in a variant. */
const variantFailed = 'a held-out variant';

/**
 * What came of the variants.
 * @param state without the outcome of the iteration @param batchId of the iteration
 * @returns `started` when they were queued by this call, `running` while some have not ended
 */
export async function triedOnVariants(
  services: TestingDeps,
  session: TestTornadoSessionRow,
  state: SessionState,
  batchId: string,
  outcomes: Outcomes,
): Promise<HeldOut | 'started' | 'running'> {
  const fixed = fixedSince(state, outcomes);
  if (fixed.size === 0) return { outcomes, held: null };
  const { db } = services.database;
  if (!state.variants) {
    await db
      .transaction()
      .execute(async (trx) => startVariants(services, trx, session, state, batchId, fixed));
    return 'started';
  }
  const runs = await runsOf(db, 'batch_id', state.variants);
  if (runs.some(({ status }) => status === 'PENDING' || status === 'RUNNING')) return 'running';
  const passed = runs.filter(({ status }) => status === 'PASSED').length;
  const failed = new Set(
    runs.filter(({ status }) => status !== 'PASSED').map(({ scenario_id }) => scenario_id),
  );
  return {
    outcomes: withUnproven(state, outcomes, failed),
    held: { variants: fixed.size * variantsEach, passed },
  };
}

async function startVariants(
  services: TestingDeps,
  db: Db,
  session: TestTornadoSessionRow,
  state: SessionState,
  batchId: string,
  fixed: ReadonlySet<string>,
): Promise<void> {
  const planned: PlannedRun[] = [];
  for (const run of await runsOf(db, 'batch_id', batchId)) {
    if (!fixed.has(run.scenario_id)) continue;
    const scenario = fromJson<Scenario>((await findRecord(db, run.id)).scenario);
    const version = { number: run.version_number, contentHash: run.content_hash };
    for (let number = 1; number <= variantsEach; number++)
      planned.push({ scenario: variantOf(scenario, number), version, asIs: false });
  }
  const { current_iteration, org_id: orgId, pathway_id, seed } = session;
  const id = newId();
  // A session that has ended or gone on meanwhile starts nothing.
  if (!(await updateSession(db, session, { state: toJson({ ...state, variants: id }) }))) return;
  await insertBatch(db, {
    id,
    org_id: orgId,
    pathway_id,
    persona_id: null,
    status: 'PENDING',
    trigger_source: 'tornado',
    version_number: planned[0]?.version.number ?? null,
    content_hash: null,
    total_scenarios: planned.length,
    publish_on_pass: 0,
    published: 0,
    webhook_url: null,
    created_at: isoTime(services.clock),
    completed_at: null,
  });
  const order = { orgId, triggerSource: 'held_out' as const, batchId: id, tornadoSessionId: session.id };
  // Other seeds than those of the iterations, and in each iteration others.
  await insertRuns(services, db, order, planned, (seed + 7919 * current_iteration) % 2 ** 31);
}

/** For a session that ends before variants were tried: what fixes made pass does not count. */
export function untried(state: SessionState, outcomes: Outcomes): HeldOut {
  return { outcomes: withUnproven(state, outcomes, fixedSince(state, outcomes)), held: null };
}

/** Scenarios that pass now and did not on the base. */
function fixedSince({ outcomes: [base] }: SessionState, outcomes: Outcomes): ReadonlySet<string> {
  const before = new Map(base ?? []);
  const passes = outcomes.filter(
    ([id, { status }]) => status === 'PASSED' && before.get(id)?.status !== 'PASSED',
  );
  return new Set(base === undefined ? [] : passes.map(([id]) => id));
}

function withUnproven(state: SessionState, outcomes: Outcomes, failed: ReadonlySet<string>): Outcomes {
  const base = new Map(state.outcomes[0] ?? []);
  return outcomes.map(([id, outcome]) => [id, failed.has(id) ? unproven(outcome, base.get(id)) : outcome]);
}

/** No better than on the base. */
function unproven(outcome: ScenarioOutcome, before: ScenarioOutcome | undefined): ScenarioOutcome {
  return { ...outcome, status: 'FAILED', score: before?.score ?? 0, failure: variantFailed };
}
