/** Builds the execution of tests: queue, live conversations, streams, and batch listeners. */
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { ApiError } from '#shared/errors.ts';
import { isoTime } from '../../organizations/index.ts';
import { SharedPlaces } from '../../replicas/index.ts';
import { webhookSubject } from '../../webhooks/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { CalledTargets } from '../foreign/called.ts';
import { countWaiting, requireRun } from '../records/run-store.ts';
import { announceEnds, runSubject, runsEndedSubject } from '../records/subjects.ts';
import { cancelledEnd, finishRun } from '../records/write.ts';
import { BatchCompletions, type BatchListener } from './batches/completions.ts';
import { brokenOff, executeRun } from './execute.ts';
import { batchSubject, LiveRuns } from './live.ts';
import { runMetrics } from './metrics.ts';
import { RunQueue } from './queue.ts';
import { TestStreams } from './streams.ts';

/** The interface of running tests for routes and other parts of agent testing. */
export interface TestRuns {
  readonly live: LiveRuns;
  readonly streams: TestStreams;
  /** Cancels one run at once. @throws ApiError RUN_NOT_FOUND, RUN_NOT_ACTIVE */
  cancel(orgId: string, runId: string): Promise<void>;
  /** Call after the commit that canceled runs in other ways. */
  stopped(runIds: readonly string[]): void;
  /** Called at least once for each batch; register before `start`. */
  onBatchCompleted(listener: BatchListener): void;
  /** Starts waiting runs, and resumes interrupted ones. */
  start(): void;
  /** Starts no more runs. */
  hold(): void;
  /** Ends streams, then runs. */
  close(): Promise<void>;
}

export function createTestRuns(services: TestingDeps, log: FastifyBaseLogger, registry: Registry): TestRuns {
  const { announcements, clock, config, database, replica } = services;
  const { db } = database;
  const { testing } = services.limits;
  const limits = { ...testing, perOrganization: config.quotas.runsAtOnce };
  const live = new LiveRuns((id) => announcements.announce(runSubject(id)), services.bus);
  const completions = new BatchCompletions({ db, clock, log });
  const calledTargets = new CalledTargets(clock, services.sharedCounts);
  let queue: RunQueue | null = null;
  const metrics = runMetrics(registry, {
    running: () => queue?.running ?? 0,
    waiting: () => countWaiting(db),
    calls: () => services.agentTestSockets.open,
  });
  const streams = new TestStreams({
    clock,
    perOrganization: testing.streamsPerOrganization,
    heartbeatMs: testing.heartbeatMs,
    places: new SharedPlaces(services.sharedCounts.as('test streams')),
    metrics,
  });
  const stopped = (runIds: readonly string[]) => {
    for (const id of runIds) {
      metrics.cancelled();
      queue?.stop(id);
    }
    announceEnds(announcements, runIds);
  };
  announcements.on(runsEndedSubject, () => {
    announcements.announce(webhookSubject);
    void completions.check();
  });
  return {
    live,
    streams,
    stopped,
    cancel: async (orgId, runId) => {
      const { batch_id } = await requireRun(db, orgId, runId);
      const now = isoTime(clock);
      const lines = live.lines(runId);
      const end = lines
        ? brokenOff('CANCELLED', now, 'The run was cancelled.', lines, null)
        : cancelledEnd(now);
      const ended = await db.transaction().execute((trx) => finishRun(trx, runId, end));
      if (!ended) throw ApiError.of('RUN_NOT_ACTIVE');
      stopped([runId]);
      if (batch_id !== null) announcements.announce(batchSubject(batch_id));
    },
    onBatchCompleted: (listener) => completions.onBatchCompleted(listener),
    start: () => {
      void completions.check();
      queue = new RunQueue({
        db,
        clock,
        log,
        announcements,
        replica,
        limits,
        live,
        metrics,
        execute: (...work) => executeRun({ ...services, missed: metrics.callMissed, calledTargets }, ...work),
        onEnd: () => void completions.check(),
      });
    },
    hold: () => queue?.hold(),
    close: async () => {
      streams.close();
      await queue?.close();
      await completions.check();
    },
  };
}
