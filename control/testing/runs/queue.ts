/**
 * Runs waiting test runs from the database (contract 6.5):
 *
 *     PENDING --claim--> RUNNING --conversation, verdict--> PASSED, FAILED, ERROR
 *        |                |   ^
 *        |                +---+ engine or model failed, or the process died: at most 2 repeats
 *        +----------------+----> CANCELLED
 *
 * A claim is the worker's name and the number of the attempt. A run is ended in one transaction that checks whether the
 * row still has the claim, so no run ends twice. Runs of a worker that has ended are taken over: at once what an orderly
 * shutdown gave back, after a pause what was running during a crash, because it may have caused it.
 */

import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import {
  type BackgroundWork,
  type Db,
  fromJson,
  pauseAfterCrash,
  type Replica,
  type TestRunRow,
} from '../../db/index.ts';
import { modelPricesOf } from '../../organizations/index.ts';
import { webhookSubject } from '../../webhooks/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import type { ChatLine } from '../judging/ports.ts';
import { RunUsage } from '../judging/usage.ts';
import { beginBatch } from '../records/batch-store.ts';
import {
  claimRun,
  countRunning,
  findRecord,
  holdsClaim,
  orphans,
  releaseRun,
  setContentHash,
  stillClaimed,
} from '../records/run-store.ts';
import { beginSet } from '../records/set-store.ts';
import { finishRun, type RunEnd } from '../records/write.ts';
import { brokenOff, type Executed, type Work } from './execute.ts';
import { HopelessRun, isHopeless, textOfAttempts } from './failures.ts';
import { batchSubject, type LiveRuns } from './live.ts';
import type { RunMetrics } from './metrics.ts';
import { testRunsSubject } from './plan.ts';
import { RunTimer } from './run-timer.ts';
import { nextFairly } from './turns.ts';

export interface QueueLimits {
  /** Concurrent runs on all replicas, per organization and in total. */
  readonly perOrganization: number;
  readonly concurrent: number;
  /** For one run, including retries, ms. */
  readonly timeoutMs: number;
}

export interface QueueParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: { error(facts: object, message: string): void };
  readonly announcements: TestingDeps['announcements'];
  /** Whose id is the worker's name. */
  readonly replica: Replica;
  readonly limits: QueueLimits;
  readonly live: LiveRuns;
  readonly metrics: Pick<RunMetrics, 'began' | 'ended'>;
  readonly execute: (work: Work, signal: AbortSignal, onLine: (line: ChatLine) => void) => Promise<Executed>;
  /** Called after the end of a run, and periodically. */
  readonly onEnd: () => void;
}

const repeats = 2;
/** Interval of the check for runs whose worker is gone, and for unreported ends, ms. */
const sweepMs = 30_000;
/** After a database failure, ms. */
const retryMs = 5_000;
/** Read by versions that know no replicas: a claim outlives its run's timeout by this much. */
const leaseMs = 60_000;

type Stop = 'timeout' | 'cancelled' | 'closing';

export class RunQueue implements BackgroundWork {
  readonly #parts: QueueParts;
  readonly #running = new Map<string, { orgId: string; stop: AbortController; done: Promise<void> }>();
  readonly #stopListening: () => void;
  #orphans: TestRunRow[] = [];
  /** Runs interrupted by a crash: when each may be resumed, ms. */
  #crashed: { readonly run: TestRunRow; readonly from: number }[] = [];
  #waking: Timer | null = null;
  #lastOrganization = '';
  #look: Promise<void>;
  #sweep: Timer;
  #isHeld = false;
  #closing = false;

  /** Starts at once. */
  constructor(parts: QueueParts) {
    this.#parts = parts;
    const stops = [
      parts.announcements.on(testRunsSubject, () => this.#wake()),
      parts.replica.onLook(() => this.#wakeToLook()),
    ];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    this.#look = this.#guarded(() => this.#fill());
    this.#sweep = parts.clock.after(sweepMs, () => this.#sweepNow());
  }

  get running(): number {
    return this.#running.size;
  }

  /** Runs waiting because a crash interrupted them. */
  get held(): number {
    return this.#crashed.length;
  }

  /** Aborts a canceled run. */
  stop(runId: string): void {
    this.#running.get(runId)?.stop.abort('cancelled' satisfies Stop);
  }

  hold(): void {
    this.#isHeld = true;
    this.#stopListening();
    this.#sweep.cancel();
    this.#waking?.cancel();
  }

  /** Aborts everything; it is repeated after the next start, and the attempt does not count. */
  async close(): Promise<void> {
    this.#closing = true;
    this.hold();
    await this.#look;
    for (const { stop } of this.#running.values()) stop.abort('closing' satisfies Stop);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await this.#look;
  }

  #wake(): void {
    this.#look = this.#look.then(() => this.#guarded(() => this.#fill()));
  }

  #sweepNow(): void {
    this.#look = this.#look
      .then(() => this.#guarded(() => this.#lookForLost()))
      .then(() => {
        if (!this.#isHeld) this.#sweep = this.#parts.clock.after(sweepMs, () => this.#sweepNow());
      });
  }

  /** Takes up runs that nobody runs; another replica may be faster. */
  async #takeUp(): Promise<void> {
    const { clock, db, replica } = this.#parts;
    // Its own must not look like those of a dead one.
    await replica.claimant();
    const known = new Set([...this.#running.keys(), ...this.#orphans.map(({ id }) => id)]);
    for (const { run } of this.#crashed) known.add(run.id);
    const left = (await orphans(db, replica.id)).filter(({ id }) => !known.has(id));
    const isOrphan = (run: TestRunRow) => run.worker === null || run.worker === replica.id;
    this.#orphans.push(...left.filter(isOrphan));
    const died = left.filter((run) => !isOrphan(run));
    const now = clock.now();
    this.#crashed.push(...died.map((run, place) => ({ run, from: now + pauseAfterCrash(place) })));
    replica.counts.takenOver += died.length;
  }

  /** What other replicas have stored: new runs, cancellations, and runs that they have taken over. */
  #wakeToLook(): void {
    this.#look = this.#look.then(() =>
      this.#guarded(async () => {
        await this.#stopLost();
        await this.#fill();
        this.#parts.onEnd();
      }),
    );
  }

  async #stopLost(): Promise<void> {
    const { db, replica } = this.#parts;
    const running = [...this.#running];
    if (running.length === 0 || this.#isHeld) return;
    const ids = running.map(([id]) => id);
    const claimed = await stillClaimed(db, replica.id, ids);
    for (const [id, { stop }] of running) if (!claimed.has(id)) stop.abort('cancelled' satisfies Stop);
  }

  async #lookForLost(): Promise<void> {
    const { announcements, onEnd } = this.#parts;
    if (this.#isHeld) return;
    await this.#fill();
    // Runs also end elsewhere, with a deleted scenario.
    announcements.announce(webhookSubject);
    onEnd();
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.log.error({ err: error }, 'the queue of test runs could not be read');
      if (this.#isHeld) return;
      this.#waking?.cancel();
      this.#waking = this.#parts.clock.after(retryMs, () => this.#wake());
    }
  }

  async #fill(): Promise<void> {
    const { limits } = this.#parts;
    if (this.#isHeld) return;
    await this.#takeUp();
    this.#release();
    for (;;) {
      const running = await countRunning(this.#parts.db);
      if (this.#isHeld || total(running) >= limits.concurrent) return;
      const isFull = (orgId: string) => (running.get(orgId) ?? 0) >= limits.perOrganization;
      const orphan = this.#takeOrphan(isFull);
      const run = orphan ?? (await this.#nextWaiting(isFull));
      // Also when that happened during the database read.
      if (!run || this.#isHeld) return;
      try {
        await this.#claim(run);
      } catch (error) {
        if (orphan) this.#orphans.push(orphan);
        throw error;
      }
    }
  }

  /** Starts those whose pause after a crash is over. */
  #release(): void {
    const { clock } = this.#parts;
    // Read once: a run whose pause ended between two readings would be on neither list.
    const now = clock.now();
    const { over = [], waiting = [] } = Object.groupBy(this.#crashed, ({ from }) =>
      from <= now ? 'over' : 'waiting',
    );
    this.#orphans.push(...over.map(({ run }) => run));
    this.#crashed = waiting;
    this.#waking?.cancel();
    this.#waking = null;
    const next = Math.min(...this.#crashed.map(({ from }) => from));
    if (!this.#isHeld && Number.isFinite(next)) {
      this.#waking = clock.after(next - now, () => this.#wake());
    }
  }

  #takeOrphan(isFull: (orgId: string) => boolean): TestRunRow | undefined {
    const index = this.#orphans.findIndex(({ org_id }) => !isFull(org_id));
    return index < 0 ? undefined : this.#orphans.splice(index, 1)[0];
  }

  async #nextWaiting(isFull: (orgId: string) => boolean): Promise<TestRunRow | undefined> {
    const run = await nextFairly(this.#parts.db, this.#lastOrganization, isFull);
    if (run) this.#lastOrganization = run.org_id;
    return run;
  }

  async #claim(found: TestRunRow): Promise<void> {
    const { db, clock, limits, replica } = this.#parts;
    const now = clock.now();
    const times = {
      now: new Date(now).toISOString(),
      leaseUntil: new Date(now + limits.timeoutMs + leaseMs).toISOString(),
    };
    const work = await db.transaction().execute(async (trx): Promise<Work | null> => {
      // Replicas claim one after another, so that they pass no limit together.
      const running = await countRunning(trx);
      const ofOrganization = running.get(found.org_id) ?? 0;
      if (total(running) >= limits.concurrent || ofOrganization >= limits.perOrganization) return null;
      const run = await claimRun(trx, found, replica.id, times);
      if (!run) return null;
      if (run.batch_id !== null) await beginBatch(trx, run.batch_id);
      if (run.simulation_set_id !== null) await beginSet(trx, run.simulation_set_id);
      const scenario: Scenario = fromJson((await findRecord(trx, run.id)).scenario);
      const usage = new RunUsage(await modelPricesOf(trx, run.org_id));
      if (found.started_at !== null)
        usage.lacks('agent', 'The run was interrupted, and what it had used before is not known.');
      return { run, isRepeated: found.started_at !== null, scenario, usage };
    });
    if (work) this.#begin(work);
  }

  #begin(work: Work): void {
    const { clock, limits, live, log, metrics } = this.#parts;
    const { id, org_id: orgId } = work.run;
    const stop = new AbortController();
    const time = new RunTimer(clock, limits.timeoutMs, () => stop.abort('timeout' satisfies Stop));
    metrics.began();
    const done = this.#attempts({ ...work, time }, stop.signal)
      .catch((error: unknown) => log.error({ err: error, run: id }, 'a test run could not be executed'))
      .finally(() => {
        time.stop();
        live.end(id);
        this.#running.delete(id);
        if (!this.#isHeld) this.#wake();
      });
    this.#running.set(id, { orgId, stop, done });
  }

  async #attempts(first: Work, signal: AbortSignal): Promise<void> {
    const { clock, db, limits, live, log, replica } = this.#parts;
    const failures: unknown[] = [];
    for (let work: Work | null = first; work; ) {
      const { run } = work;
      live.begin(run.id, run.attempts);
      this.#tellBatch(run);
      if (run.attempts > repeats + 1) {
        return this.#broken(work, `The run was broken off ${repeats + 1} times and is not tried again.`);
      }
      try {
        const executed = await untilAborted(
          this.#parts.execute(work, signal, (line) => live.said(run.id, run.attempts, line)),
          signal,
        );
        return await this.#end(run, executed.end, executed.contentHash);
      } catch (error) {
        if (signal.aborted) return this.#stopped(work, signal.reason as Stop);
        failures.push(error);
        if (isHopeless(error, run) || run.attempts > repeats)
          return this.#broken(work, textOfAttempts(failures), error);
        log.error(
          { err: error, run: run.id, attempt: run.attempts },
          'a test run failed and will be retried',
        );
      }
      // After a fault it stays claimed, and waits after the next start.
      if (this.#isHeld && !this.#closing) return;
      const now = clock.now();
      const next: TestRunRow | undefined = await claimRun(db, run, replica.id, {
        now: new Date(now).toISOString(),
        leaseUntil: new Date(now + limits.timeoutMs + leaseMs).toISOString(),
      });
      work = next ? { ...work, run: next, isRepeated: true } : null;
    }
  }

  async #stopped(work: Work, why: Stop): Promise<void> {
    const { run } = work;
    // A canceled run was already ended by the code that canceled it.
    if (why === 'cancelled') return;
    if (why === 'timeout') {
      return this.#broken(work, `The run took longer than ${spoken(this.#parts.limits.timeoutMs)}.`);
    }
    await releaseRun(this.#parts.db, run.id, { worker: this.#parts.replica.id, attempts: run.attempts });
  }

  async #broken({ run, usage }: Work, reason: string, error?: unknown): Promise<void> {
    const { clock, live, log } = this.#parts;
    // A scenario's error is reported to its author, and is not a fault of this service.
    if (error !== undefined && !(error instanceof HopelessRun)) {
      log.error({ err: error, run: run.id }, 'a test run ended in ERROR');
    }
    const now = new Date(clock.now()).toISOString();
    const end = brokenOff('ERROR', now, reason, live.lines(run.id) ?? [], usage.view(), error);
    await this.#end(run, end, null);
  }

  async #end(run: TestRunRow, end: RunEnd, contentHash: string | null): Promise<void> {
    const { announcements, db, metrics, onEnd, replica } = this.#parts;
    const ended = await db.transaction().execute(async (trx) => {
      if (!(await holdsClaim(trx, run.id, { worker: replica.id, attempts: run.attempts }))) return false;
      if (contentHash !== null && contentHash !== run.content_hash) {
        await setContentHash(trx, run.id, contentHash);
      }
      return finishRun(trx, run.id, end);
    });
    if (!ended) return;
    metrics.ended(end.status, end.durationMs);
    this.#tellBatch(run);
    announcements.announce(webhookSubject);
    onEnd();
  }

  #tellBatch({ batch_id }: TestRunRow): void {
    if (batch_id !== null) this.#parts.announcements.announce(batchSubject(batch_id));
  }
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

const spoken = (ms: number) => (ms % 60_000 === 0 ? counted(ms / 60_000, 'minute') : `${ms / 1000} s`);

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new Error('the run was aborted'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
