/** The step from one iteration to the next: the plan becomes a fork, and all scenarios run on it. */

import {
  fromJson,
  type TestTornadoIterationRow,
  type TestTornadoSessionRow,
  toJson,
} from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { editKey } from '../analysis/edits.ts';
import type { TestingDeps } from '../common/deps.ts';
import { startBatch } from '../runs/batches/start.ts';
import { insertFork } from './forks.ts';
import { endedIteration } from './iteration-row.ts';
import { failedIds, passedIds } from './outcome.ts';
import type { Review } from './review.ts';
import { iterationsOf, type SessionState } from './state.ts';
import { insertIteration, markReverted, updateIteration, updateSession } from './store.ts';

/**
 * @param state with the outcome of `iteration`
 * @returns false when the session has ended or advanced meanwhile
 * @throws ApiError when the pathway or a scenario was deleted
 */
export function goOn(
  services: TestingDeps,
  session: TestTornadoSessionRow,
  iteration: TestTornadoIterationRow,
  state: SessionState,
  review: Review,
): Promise<boolean> {
  const now = isoTime(services.clock);
  const before: string[] = fromJson(session.unfixable_ids);
  const last = iterationsOf(state).at(-1) ?? new Map();
  return services.catalogue
    .change(async (db, altered) => {
      const version = await insertFork(services, db, altered, session, review.graph);
      const next: SessionState = {
        ...state,
        variants: null,
        held: null,
        forks: [...state.forks, { version, fixes: review.next }],
        tried: [...state.tried, ...review.reverted.map(({ edit }) => editKey(edit))],
        numbered: Math.max(state.numbered, numberedBy(review)),
      };
      const number = session.current_iteration + 1;
      const moved = await updateSession(db, session, {
        current_iteration: number,
        passed_scenarios: passedIds(last).length,
        failed_scenarios: failedIds(last).length,
        unfixable_ids: toJson(state.unfixable),
        state: toJson(next),
      });
      // The fork must not be left over.
      if (!moved) throw new MovedOn();
      await updateIteration(db, session.id, iteration.iteration, endedIteration(state, before, review, now));
      await markReverted(db, session.id, review.reverted);
      await beginIteration(services, db, { ...session, current_iteration: number }, version);
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof MovedOn) return false;
      throw error;
    });
}

class MovedOn extends Error {}

function numberedBy({ fixes, next, skipped }: Review): number {
  const last = [...fixes, ...next, ...skipped].map(({ id }) => Number(id.slice('fix-'.length)));
  return Math.max(0, ...last);
}

/** Starts the batch of an iteration. Announce `testRunsSubject` after the commit. */
export async function beginIteration(
  services: TestingDeps,
  db: Parameters<typeof startBatch>[1],
  session: TestTornadoSessionRow,
  version: number,
): Promise<void> {
  const { batchId } = await startBatch(services, db, {
    orgId: session.org_id,
    scenarioIds: fromJson(session.scenario_ids),
    versionNumber: version,
    triggerSource: 'tornado',
    // The same callers in each iteration, so that only the version differs.
    seed: session.seed,
    tornadoSessionId: session.id,
  });
  await insertIteration(db, {
    session_id: session.id,
    iteration: session.current_iteration,
    batch_id: batchId,
    version_number: version,
    started_at: isoTime(services.clock),
    completed_at: null,
    passed_ids: toJson([]),
    failed_ids: toJson([]),
    newly_unfixable_ids: toJson([]),
    avg_score: null,
    fix_plan: null,
    prompt_excerpt: null,
    diff: null,
    held_out: null,
  });
}
