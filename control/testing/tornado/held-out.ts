/** Tries a fork on variants that its fixes were not made from. A scenario passes on it only with its variants. */
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import { newId } from '#shared/ids.ts';
import { fromJson } from '../../db/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { RunUsage } from '../judging/usage.ts';
import { findRecord, runsOf } from '../records/run-store.ts';
import { executeRun } from '../runs/execute.ts';
import type { ScenarioOutcome } from './outcome.ts';
import type { SessionState } from './state.ts';
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
 * @param state without the outcome of the iteration @param batchId of the iteration
 * Rejects with the reason of `signal` when that is aborted.
 */
export async function triedOnVariants(
  services: TestingDeps,
  state: SessionState,
  batchId: string,
  outcomes: Outcomes,
  signal: AbortSignal,
): Promise<HeldOut> {
  const base = new Map(state.outcomes[0] ?? []);
  const fixed = fixedSince(state, outcomes);
  if (fixed.size === 0) return { outcomes, held: null };
  const { db } = services.database;
  const failed = new Set<string>();
  let passed = 0;
  for (const run of await runsOf(db, 'batch_id', batchId)) {
    if (!fixed.has(run.scenario_id)) continue;
    const scenario = fromJson<Scenario>((await findRecord(db, run.id)).scenario);
    for (let number = 1; number <= variantsEach; number++) {
      const work = {
        run: { ...run, id: newId(), seed: (run.seed + 7919 * number) % 2 ** 31 },
        scenario: variantOf(scenario, number),
        usage: new RunUsage(null),
      };
      const { end } = await executeRun(
        // Only pathways are repaired.
        { ...services, missed: () => undefined, calledTargets: { turn: async () => undefined } },
        work,
        signal,
        () => undefined,
      );
      if (end.status === 'PASSED') passed++;
      else failed.add(run.scenario_id);
    }
  }
  return {
    outcomes: outcomes.map(([id, outcome]) => [
      id,
      failed.has(id) ? unproven(outcome, base.get(id)) : outcome,
    ]),
    held: { variants: fixed.size * variantsEach, passed },
  };
}

/** For a session that ends before variants could be tried: what fixes made pass does not count. */
export function untried(state: SessionState, outcomes: Outcomes): HeldOut {
  const base = new Map(state.outcomes[0] ?? []);
  const fixed = fixedSince(state, outcomes);
  return {
    outcomes: outcomes.map(([id, outcome]) => [
      id,
      fixed.has(id) ? unproven(outcome, base.get(id)) : outcome,
    ]),
    held: null,
  };
}

/** Scenarios that pass now and did not on the base. */
function fixedSince({ outcomes: [base] }: SessionState, outcomes: Outcomes): ReadonlySet<string> {
  const before = new Map(base ?? []);
  const passes = outcomes.filter(
    ([id, { status }]) => status === 'PASSED' && before.get(id)?.status !== 'PASSED',
  );
  return new Set(base === undefined ? [] : passes.map(([id]) => id));
}

/** No better than on the base. */
function unproven(outcome: ScenarioOutcome, before: ScenarioOutcome | undefined): ScenarioOutcome {
  return { ...outcome, status: 'FAILED', score: before?.score ?? 0, failure: variantFailed };
}
