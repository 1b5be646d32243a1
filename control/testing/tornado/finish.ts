/** Ends a session: cancels its runs, keeps the best fork, deletes the others, and queues the event. */
import type { TornadoStatus } from '#shared/api/agent-testing/tornado.ts';
import {
  fromJson,
  type TestTornadoIterationRow,
  type TestTornadoSessionRow,
  toJson,
} from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { contentHash } from '../../pathways/index.ts';
import { queueEvent, webhookSubject } from '../../webhooks/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { requireSession } from '../records/tornado-sessions.ts';
import { cancelBatch } from '../runs/batches/start.ts';
import { mostlyErrors } from './end-state.ts';
import { outcomesOf } from './evidence.ts';
import { deleteForks } from './forks.ts';
import { endedIteration } from './iteration-row.ts';
import { keptFixes } from './kept.ts';
import { handedBack } from './leaner.ts';
import { failedIds, type IterationOutcome, passedIds } from './outcome.ts';
import type { Review } from './review.ts';
import { iterationsOf, type SessionState } from './state.ts';
import { listIterations, markReverted, updateIteration, updateSession } from './store.ts';
import { statusView } from './views.ts';

export interface Finish {
  /** The last iteration. */
  readonly iteration: TestTornadoIterationRow;
  /** With its outcome, if it has ended. */
  readonly state: SessionState;
  readonly status: Exclude<TornadoStatus, 'RUNNING'>;
  readonly failure: string | null;
  /** Null: nothing was planned after it. */
  readonly review: Review | null;
}

/** @returns the canceled runs, for `TestRuns.stopped`; null when the session had already ended */
export async function finishSession(
  services: TestingDeps,
  session: TestTornadoSessionRow,
  { failure, iteration, review, state, status }: Finish,
): Promise<string[] | null> {
  const now = isoTime(services.clock);
  const before: string[] = fromJson(session.unfixable_ids);
  const iterations = iterationsOf(state);
  const best = handedBack(iterations);
  const kept = state.forks[best]?.version ?? session.base_version;
  const forks = state.forks.slice(1).map(({ version }) => version);
  const outcome = iterations[best] ?? new Map();
  const cancelled = await services.catalogue.change(async (db, altered) => {
    const ended = await updateSession(db, session, {
      status,
      completed_at: now,
      passed_scenarios: passedIds(outcome).length,
      failed_scenarios: failedIds(outcome).length,
      unfixable_ids: toJson(state.unfixable),
      forked_version: kept === session.base_version ? null : kept,
      fixes: toJson(keptFixes(state.base, state.forks[best]?.fixes ?? [])),
      base_hash: contentHash({ nodes: toJson([...state.base.nodes]), edges: toJson([...state.base.edges]) }),
      error_message: status === 'ERROR' ? (failure ?? errorOf(iterations.at(-1))) : null,
      state: null,
    });
    if (!ended) return null;
    const runs = await cancelBatch(services, db, iteration.batch_id);
    if (state.variants) runs.push(...(await cancelBatch(services, db, state.variants)));
    const broken = state.outcomes.length < state.forks.length;
    const outcomes = broken ? ((await outcomesOf(db, iteration.batch_id)) ?? []) : null;
    const last = outcomes ? { ...state, outcomes: [...state.outcomes, outcomes] } : state;
    await updateIteration(db, session.id, iteration.iteration, endedIteration(last, before, review, now));
    if (review) await markReverted(db, session.id, review.reverted);
    // The fork has them, whatever came of versions without them.
    await markReverted(db, session.id, state.forks[best]?.fixes ?? [], 'applied');
    await deleteForks(
      services,
      db,
      altered,
      session,
      forks.filter((version) => version !== kept),
    );
    const row = await requireSession(db, session.org_id, session.id);
    await queueEvent(db, services.clock, {
      orgId: session.org_id,
      type: 'tornado.completed',
      url: session.webhook_url,
      subjectId: session.id,
      data: statusView(row, await listIterations(db, session.id), Date.parse(now)),
    });
    return runs;
  });
  services.announcements.announce(webhookSubject);
  return cancelled;
}

function errorOf(last: IterationOutcome | undefined): string {
  return last && mostlyErrors(last)
    ? 'More than half of the runs of the iteration ended in ERROR; see their error_message.'
    : 'The session could not continue.';
}
