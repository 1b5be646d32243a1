/** Deletes what is kept no longer: call logs, traces, answers for repeated requests (contract 3.4 and 1.8). */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import { forgetNotices } from './alerts/notices-store.ts';
import { forgetProbeRuns } from './alerts/probes-store.ts';
import { forgetAlerts } from './alerts/store.ts';
import { deleteCallsBefore, deleteTracesBefore } from './calls/store.ts';
import type { Db } from './db/tables.ts';
import { forgetAnswers } from './http/idempotency.ts';
import { forgetChecks } from './sip/checks-store.ts';
import { forgetHealth } from './sip/health-store.ts';
import { forgetDeliveries } from './webhooks/store.ts';

const dayMs = 24 * 60 * 60 * 1000;
const everyMs = 60 * 60 * 1000;

export interface RetentionLimits {
  readonly callLogDays: number;
  readonly traceDays: number;
}

/** What one round deleted. */
export interface Forgotten {
  readonly calls: number;
  readonly traceParts: number;
  readonly answers: number;
  readonly probes: number;
  readonly checks: number;
  readonly webhooks: number;
  readonly alerts: number;
  readonly alertNotices: number;
}

export async function forgetOld(db: Db, clock: Clock, limits: RetentionLimits): Promise<Forgotten> {
  const before = (days: number) => new Date(clock.now() - days * dayMs).toISOString();
  return {
    traceParts: await deleteTracesBefore(db, before(limits.traceDays)),
    calls: await deleteCallsBefore(db, before(limits.callLogDays)),
    answers: await forgetAnswers(db, clock),
    probes: (await forgetHealth(db, clock)) + (await forgetProbeRuns(db, clock)),
    checks: await forgetChecks(db, clock),
    webhooks: await forgetDeliveries(db, clock),
    alerts: await forgetAlerts(db, clock),
    alertNotices: await forgetNotices(db, clock),
  };
}

/** Forgets once an hour. Returns a function that stops this and resolves when no round is under way. */
export function startRetention(
  db: Db,
  clock: Clock,
  limits: RetentionLimits,
  log: FastifyBaseLogger,
): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  const round = () => {
    running = forgetOld(db, clock, limits).then(
      (forgotten) => log.info(forgotten, 'old records deleted'),
      (error: unknown) => log.error({ err: error }, 'old records could not be deleted'),
    );
    timer = clock.after(everyMs, round);
  };
  timer = clock.after(everyMs, round);
  return async () => {
    timer.cancel();
    await running;
  };
}
