/**
 * Runs sessions: run the scenarios, check the results, then end, or fork and run again. Every step is one transaction
 * that checks that the session has not advanced since, so a session resumes its iteration after a restart, and no step
 * is done twice. One replica does all steps, under a lease; it learns of what others store by looking now and then.
 */
import type { Timer } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { OneAtATime } from '#shared/one-at-a-time.ts';
import {
  type BackgroundWork,
  claimWork,
  endWork,
  FenceLost,
  fromJson,
  mostCrashes,
  pauseAfterCrash,
  sameFence,
  type TestTornadoIterationRow,
  type TestTornadoSessionRow,
  takeOver,
  toJson,
  underWay,
} from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { sessionOfBatch } from '../records/tornado-sessions.ts';
import { testRunsSubject } from '../runs/plan.ts';
import { endState, type Standing } from './end-state.ts';
import { failedCases, outcomesOf } from './evidence.ts';
import { type Finish, finishSession } from './finish.ts';
import { acceptable } from './forks.ts';
import { goOn } from './go-on.ts';
import { type HeldOut, triedOnVariants, untried } from './held-out.ts';
import { isTrying, leanerVersion } from './leaner.ts';
import type { TornadoMetrics } from './metrics.ts';
import { unfixableIds } from './outcome.ts';
import type { Planner } from './planner.ts';
import { needsPlan, type Review, review } from './review.ts';
import { iterationsOf, type SessionState, targetedBy } from './state.ts';
import { findRunning, listIterations, listRunning } from './store.ts';

export interface SessionsParts {
  readonly services: TestingDeps;
  readonly log: { error(facts: object, message: string): void };
  readonly planner: Planner;
  /** Called after the commit that canceled these runs. */
  readonly stopped: (runIds: readonly string[]) => void;
  readonly metrics: TornadoMetrics;
}

/** Announced when a session has reached another iteration or its end. */
export const sessionSubject = (id: string) => `tornado ${id}`;

const stepQueue = 'tornado step';

/** Retries of a failed step (contract 6.8). */
const repeats = 2;
/** After a session could not be ended, ms. */
const retryMs = 5_000;

export class Sessions implements BackgroundWork {
  readonly #parts: SessionsParts;
  readonly #steps = new OneAtATime();
  readonly #under = new Set<Promise<void>>();
  readonly #timers = new Map<string, Timer>();
  /**
   * Sessions whose step was interrupted by a crash, or that could not be ended: until the pause is over only their
   * cancellation and their timeout take a step.
   */
  readonly #waiting = new Map<string, Timer>();
  /** Aborts a session's planning when it is canceled. */
  readonly #planning = new Map<string, AbortController>();
  /** Work that is started from elsewhere, such as a request, is under the lease, too. */
  readonly #underLease = sameFence();
  readonly #stopLooking: () => void;
  #isResumed = false;
  #isHeld = false;
  #closing = false;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#stopLooking = parts.services.replica.onLook(() => void this.look());
  }

  get active(): number {
    return this.#timers.size;
  }

  /** Resumes sessions that were running when the process ended. */
  async resume(): Promise<void> {
    const { clock, database, replica } = this.#parts.services;
    // The earlier owner of the lease writes nothing more, even if it lives.
    const left = await takeOver(
      database.db,
      stepQueue,
      await underWay(database.db, stepQueue),
      () => true,
      clock.now(),
      pauseAfterCrash,
    );
    replica.counts.takenOver += left.length;
    const crashed = (await underWay(database.db, stepQueue)).map(({ id }) => id);
    const running = await listRunning(database.db);
    if (this.#isHeld) return;
    for (const session of running) {
      const place = crashed.indexOf(session.id);
      if (place < 0) this.watch(session);
      else
        this.#waiting.set(
          session.id,
          clock.after(pauseAfterCrash(place), () => this.#waited(session)),
        );
    }
    this.#isResumed = true;
  }

  /** Takes up what other replicas have stored: new sessions, and cancellations. Never rejects. */
  async look(): Promise<void> {
    if (!this.#isResumed || this.#isHeld) return;
    try {
      for (const session of await listRunning(this.#parts.services.database.db)) {
        if (session.cancel_requested_at !== null) void this.cancelled(session.id);
        else if (!this.#waiting.has(session.id)) this.watch(session);
      }
    } catch (error) {
      this.#parts.log.error({ err: error }, 'tornado sessions could not be read');
    }
  }

  #waited(session: TestTornadoSessionRow): void {
    this.#waiting.delete(session.id);
    this.watch(session);
  }

  /** Starts watching a session: its first check, and its timeout. */
  watch({ id, created_at, timeout_ms }: TestTornadoSessionRow): void {
    if (this.#isHeld || this.#timers.has(id)) return;
    const { clock } = this.#parts.services;
    const leftMs = Date.parse(created_at) + timeout_ms - clock.now();
    this.#timers.set(
      id,
      clock.after(Math.max(0, leftMs), () => {
        this.#planning.get(id)?.abort();
        void this.advance(id);
      }),
    );
    void this.advance(id);
  }

  /** A batch has ended; may be called more than once. */
  async batchCompleted(batchId: string): Promise<void> {
    const id = await sessionOfBatch(this.#parts.services.database.db, batchId);
    // Not awaited: a model may plan for a while. Before `resume` it is unknown which sessions wait, and it checks all
    // of them.
    if (id !== null && this.#isResumed && !this.#waiting.has(id)) void this.advance(id);
  }

  /** Aborts the planning; the session then handles its cancellation. */
  async cancelled(id: string): Promise<void> {
    this.#planning.get(id)?.abort();
    await this.advance(id);
  }

  /** Does the next step, if any. Never rejects. */
  advance(id: string): Promise<void> {
    return this.#inTurn(id, () => this.#guarded(id));
  }

  #inTurn(id: string, work: () => Promise<void>): Promise<void> {
    if (this.#isHeld) return Promise.resolve();
    const run = () => this.#steps.run(id, work);
    const step = this.#underLease(run).finally(() => this.#under.delete(step));
    this.#under.add(step);
    return step;
  }

  hold(): void {
    this.#isHeld = true;
    this.#stopLooking();
    for (const timer of [...this.#timers.values(), ...this.#waiting.values()]) timer.cancel();
  }

  /** Aborts all planning; it is repeated after the next start. */
  async close(): Promise<void> {
    this.#closing = true;
    this.hold();
    for (const planning of this.#planning.values()) planning.abort();
    await Promise.all(this.#under);
    this.#timers.clear();
  }

  async #guarded(id: string): Promise<void> {
    for (let attempt = 0; !this.#isHeld; attempt++) {
      try {
        return await this.#counted(id);
      } catch (error) {
        if (this.#closing || error instanceof FenceLost) return;
        this.#parts.log.error({ err: error, session: id, attempt }, 'a step of a tornado session failed');
        if (attempt >= repeats) return this.#fail(id, error);
      }
    }
  }

  /** A step that has crashed the program several times ends its session instead. */
  async #counted(id: string): Promise<void> {
    const { clock, database, replica } = this.#parts.services;
    const claimant = await replica.claimant();
    const item = { id, org_id: '' };
    const tries = (await claimWork(database.db, stepQueue, [item], claimant, clock.now())).get(id) ?? 1;
    try {
      await this.#step(id, tries > mostCrashes ? 'The service ended again and again during a step.' : null);
    } finally {
      await endWork(database.db, stepQueue, id, claimant);
    }
  }

  async #fail(id: string, error: unknown): Promise<void> {
    const known = error instanceof ApiError || (error instanceof Error && error.name === 'ModelUnavailable');
    const failure = known ? error.message : 'The test engine failed; see the service log.';
    try {
      await this.#step(id, failure);
    } catch (again) {
      if (!this.#isHeld) this.#failLater(id, error);
      this.#parts.log.error({ err: again, session: id }, 'a tornado session could not be ended');
    }
  }

  /** Nothing else may call for its end: its batch has ended, and its time may be over. */
  #failLater(id: string, error: unknown): void {
    this.#waiting.get(id)?.cancel();
    const again = () => {
      this.#waiting.delete(id);
      void this.#inTurn(id, () => this.#fail(id, error));
    };
    this.#waiting.set(id, this.#parts.services.clock.after(retryMs, again));
  }

  async #step(id: string, failure: string | null): Promise<void> {
    const { database } = this.#parts.services;
    const session = await findRunning(database.db, id);
    const iteration = session && (await listIterations(database.db, id)).at(-1);
    if (!session || !iteration) return this.#forget(id);
    const state = fromJson<SessionState>(session.state ?? toJson(null));
    const outcomes = await outcomesOf(database.db, iteration.batch_id);
    const tried = outcomes && (await this.#tried(session, iteration, state, outcomes, failure));
    if (tried === 'started') this.#parts.services.announcements.announce(testRunsSubject);
    // The end of the variants takes the next step.
    if (tried === 'started' || tried === 'running') return;
    const seen = tried ? { ...withOutcomes(state, tried.outcomes), held: tried.held } : state;
    const standing = { ...this.#standing(session, seen), failure };
    if (isTrying(seen)) return this.#leaner(session, iteration, seen, standing);
    const early = endState(standing);
    if (early) return this.#finish(session, { iteration, state: seen, status: early, failure, review: null });
    if (outcomes) await this.#ended(session, iteration, seen, standing);
  }

  /** After everything passed: the next version with a fix left out, or the end. */
  async #leaner(
    session: TestTornadoSessionRow,
    iteration: TestTornadoIterationRow,
    state: SessionState,
    { cancelRequested, elapsedMs, failure, timeoutMs }: Standing,
  ): Promise<void> {
    const { services } = this.#parts;
    const isOver = failure !== null || cancelRequested || elapsedMs >= timeoutMs;
    const isRunning = state.outcomes.length < state.forks.length;
    if (isRunning && !isOver) return;
    const leaner = isOver ? null : leanerVersion(state, (graph) => acceptable(services, graph));
    const went = leaner && (await goOn(services, session, iteration, state, leaner).catch(noRoom));
    // Without room for another version the one that passed is handed back as it is.
    if (leaner === null || typeof went === 'string') {
      const status = 'COMPLETED_ALL_PASSED';
      return this.#finish(session, { iteration, state, status, failure: null, review: null });
    }
    if (went) this.#went(session, leaner);
  }

  #went({ id }: TestTornadoSessionRow, { fixes, reverted }: Review): void {
    const { metrics, services } = this.#parts;
    metrics.iterated(fixes.length, reverted.length);
    services.announcements.announce(testRunsSubject);
    services.announcements.announce(sessionSubject(id));
  }

  /** Tries what fixes made pass on variants that they were not made from. */
  async #tried(
    session: TestTornadoSessionRow,
    { batch_id }: TestTornadoIterationRow,
    state: SessionState,
    outcomes: SessionState['outcomes'][number],
    failure: string | null,
  ): Promise<HeldOut | 'started' | 'running'> {
    const { cancelRequested, elapsedMs, timeoutMs } = this.#standing(session, state);
    if (failure !== null || cancelRequested || elapsedMs >= timeoutMs) return untried(state, outcomes);
    return triedOnVariants(this.#parts.services, session, state, batch_id, outcomes);
  }

  /** After an iteration that does not itself end the session. */
  async #ended(
    session: TestTornadoSessionRow,
    iteration: TestTornadoIterationRow,
    state: SessionState,
    standing: Standing,
  ): Promise<void> {
    const made = await this.#review(session, iteration, state);
    // Canceled or timed out during planning: check again.
    if (!made) return this.#closing ? undefined : this.#step(session.id, null);
    const status = endState({ ...standing, planned: made.fixes.length });
    if (status) return this.#finish(session, { iteration, state, status, failure: null, review: made });
    const went = await goOn(this.#parts.services, session, iteration, state, made).catch(noRoom);
    if (typeof went === 'string') {
      return this.#finish(session, { iteration, state, status: 'ERROR', failure: went, review: made });
    }
    if (went) this.#went(session, made);
  }

  /** @returns null when aborted */
  async #review(
    session: TestTornadoSessionRow,
    iteration: TestTornadoIterationRow,
    state: SessionState,
  ): Promise<Review | null> {
    const { planner, services } = this.#parts;
    const stop = new AbortController();
    this.#planning.set(session.id, stop);
    try {
      const cases = await failedCases(services.database.db, iteration.batch_id, needsPlan(state));
      const failed = await planner(cases, stop.signal);
      return stop.signal.aborted ? null : review(state, failed, (graph) => acceptable(services, graph));
    } catch (error) {
      if (stop.signal.aborted) return null;
      throw error;
    } finally {
      this.#planning.delete(session.id);
    }
  }

  #standing(session: TestTornadoSessionRow, state: SessionState): Standing {
    return {
      iterations: iterationsOf(state),
      maxIterations: session.max_iterations,
      cancelRequested: session.cancel_requested_at !== null,
      elapsedMs: this.#parts.services.clock.now() - Date.parse(session.created_at),
      timeoutMs: session.timeout_ms,
      failure: null,
      unfixable: new Set(state.unfixable),
      planned: null,
    };
  }

  async #finish(session: TestTornadoSessionRow, finish: Finish): Promise<void> {
    const { metrics, services, stopped } = this.#parts;
    const cancelled = await finishSession(services, session, finish);
    this.#forget(session.id);
    services.announcements.announce(sessionSubject(session.id));
    if (cancelled === null) return;
    metrics.ended(finish.status, Date.parse(isoTime(services.clock)) - Date.parse(session.created_at));
    stopped(cancelled);
  }

  #forget(id: string): void {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
  }
}

/** Why no fork was created when a quota of the organization is reached: repeating the step would not help. */
function noRoom(error: unknown): string {
  if (!(error instanceof ApiError) || error.code !== 'QUOTA_EXCEEDED') throw error;
  return `There is no room for the next fork. ${error.message}`;
}

/** With what the iteration that has just ended came to. */
function withOutcomes(state: SessionState, outcomes: SessionState['outcomes'][number]): SessionState {
  const seen = { ...state, outcomes: [...state.outcomes, outcomes] };
  const hopeless = unfixableIds(iterationsOf(seen), targetedBy(seen));
  return { ...seen, unfixable: [...new Set([...state.unfixable, ...hopeless])] };
}
