/** The queue of test runs over a database in memory; a test decides how each run continues. */
import { expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { Database } from '../../../control/db/open.ts';
import type { Replica } from '../../../control/db/replica.ts';
import { Announcements } from '../../../control/edge-link/announcements.ts';
import { runSubject } from '../../../control/testing/records/subjects.ts';
import { cancelledEnd, type RunEnd } from '../../../control/testing/records/write.ts';
import type { Executed, Work } from '../../../control/testing/runs/execute.ts';
import { LiveRuns } from '../../../control/testing/runs/live.ts';
import { RunQueue } from '../../../control/testing/runs/queue.ts';
import { killReplica, testReplica } from '../db/replicas.ts';
import { openTestDatabase } from '../db/test-database.ts';
import { releaseAll } from '../fakes/release.ts';
import { storeFinishedRun } from './agent-testing.ts';

/** Longest duration of a run. */
export const runTimeoutMs = 600_000;

const passed: RunEnd = {
  ...cancelledEnd('2030-01-01T00:00:00.000Z'),
  status: 'PASSED',
  score: 1,
};

/** A run that the queue has started. */
interface BegunRun {
  readonly work: Work;
  readonly signal: AbortSignal;
  readonly done: (end?: Partial<RunEnd>) => void;
  readonly fail: (error: Error) => void;
}

export class QueuedRuns {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly announcements: Announcements;
  /** Running runs, in order of their start. */
  readonly begun: BegunRun[] = [];
  readonly #replicas: Replica[] = [];
  #queue: RunQueue | null = null;
  #failed = 0;
  #made = 0;
  #news = Promise.withResolvers<void>();

  private constructor(database: Database, clock: FakeClock) {
    this.database = database;
    this.clock = clock;
    this.announcements = new Announcements(clock);
  }

  static async open(clock = new FakeClock()): Promise<QueuedRuns> {
    return new QueuedRuns(await openTestDatabase(), clock);
  }

  close(): Promise<void> {
    return releaseAll(
      () => this.queue.close(),
      () => expect(this.clock.pending).toBe(0),
      ...this.#replicas.map((replica) => () => replica.close()),
      () => this.database.close(),
    );
  }

  /** The queue that was started last, or was set to be closed. */
  get queue(): RunQueue {
    if (!this.#queue) throw new Error('no queue is started');
    return this.#queue;
  }

  set queue(queue: RunQueue) {
    this.#queue = queue;
  }

  start(limits: { perOrganization?: number; concurrent?: number } = {}, worker = 'me'): RunQueue {
    const { announcements, clock } = this;
    // The queue before was that of another process, which is dead.
    const before = this.#replicas.at(-1);
    if (before) void killReplica(this.database, before);
    const replica = testReplica(this.database, worker);
    this.#replicas.push(replica);
    this.#queue = new RunQueue({
      db: this.database.db,
      clock,
      log: { error: () => this.#failed++ },
      announcements,
      replica,
      limits: { perOrganization: 20, concurrent: 64, timeoutMs: runTimeoutMs, ...limits },
      live: new LiveRuns((id) => announcements.announce(runSubject(id))),
      metrics: { began: () => undefined, ended: () => undefined },
      execute: (work, signal) =>
        new Promise<Executed>((resolve, reject) => {
          const done = (end: Partial<RunEnd> = {}) =>
            resolve({ end: { ...passed, ...end }, contentHash: null });
          this.begun.push({ work, signal, done, fail: reject });
          this.#news.resolve();
        }),
      onEnd: () => undefined,
    });
    return this.#queue;
  }

  /** Waits until this many runs have started. */
  async begin(count: number): Promise<void> {
    while (this.begun.length < count) {
      await this.#news.promise;
      this.#news = Promise.withResolvers();
    }
  }

  /** Stores runs that wait to be run. */
  async waiting(orgId: string, count = 1, more: object = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      this.#made++;
      const createdAt = new Date(Date.UTC(2030, 0, 1) + this.#made).toISOString();
      const run = { status: 'PENDING', started_at: null, ...more } as const;
      ids.push(await storeFinishedRun(this.database.db, { orgId, scenarioId: 's', createdAt, more: run }));
    }
    return ids;
  }

  /** Waits until the queue has found what a crash has left. */
  async found(count: number): Promise<void> {
    await expect.poll(() => this.queue.held).toBe(count);
  }

  /** Waits until this many errors are logged. */
  async failures(count: number): Promise<void> {
    await expect.poll(() => this.#failed).toBe(count);
  }

  rowOf(id: string) {
    return this.database.db
      .selectFrom('test_runs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  }

  /** The row once it has this status. */
  async turned(id: string, status: string) {
    for (;;) {
      const announced = Promise.withResolvers<void>();
      const stop = this.announcements.on(runSubject(id), announced.resolve);
      const row = await this.rowOf(id);
      if (row.status === status) {
        stop();
        return row;
      }
      await announced.promise;
      stop();
    }
  }

  organizations(): string[] {
    return this.begun.map(({ work }) => work.run.org_id);
  }
}
