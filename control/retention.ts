/** Deletes expired data: call logs, traces, audit entries, tests, idempotent responses (contract 3.4 and 1.8). */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import { pruneAlerts, pruneProbeRuns } from './alerts/index.ts';
import { deleteChangesBefore } from './audit/index.ts';
import { deleteCallsBefore, deleteSumsBefore, deleteTracesBefore, pruneRefused } from './calls/index.ts';
import { pruneChats } from './chats/index.ts';
import { pruneChecks } from './checks/index.ts';
import { addPartitions, type Database, type Db, mostDeletedAtOnce, type SecretBox } from './db/index.ts';
import type { RetentionMetrics } from './deployment/index.ts';
import { pruneRemoved } from './edge-config/index.ts';
import { pruneAnswers } from './http/index.ts';
import { isoTime, pruneSessions } from './organizations/index.ts';
import { prunePhoneSessions } from './phone-sessions/index.ts';
import { deletePortsBefore } from './porting/index.ts';
import {
  deleteRecordingsBefore,
  type RecordingContents,
  type RecordingStorage,
  UnfinishedRecordings,
} from './recordings/index.ts';
import type { ControlConfig } from './settings/index.ts';
import { deleteRunsBeyond, deleteTornadoBefore, emptyRecordsBefore } from './testing/index.ts';
import { deleteRunsBefore } from './tools/index.ts';
import { pruneHealth } from './trunks/index.ts';
import { pruneAttempts } from './webhooks/index.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Port requests that ended unsigned created no obligation. */
const unsignedDays = 90;
const everyMs = 60 * 60 * 1000;
/** After a round that did not finish. */
const soonMs = 1000;

export interface RetentionLimits {
  /** Days. */
  readonly retention: Omit<ControlConfig['retention'], 'widgetThreads'>;
  readonly quotas: Pick<ControlConfig['quotas'], 'storedRuns'>;
}

/** Deletes a batch of one kind and returns the number of rows; after a full batch the next round comes soon. */
type Forget = (db: Db, clock: Clock, limits: RetentionLimits, deleteRecording: DeleteFile) => Promise<number>;

/** Deletes the file of a recording, if it has one. */
type DeleteFile = (id: string) => Promise<void>;

const kinds = {
  traceParts: (db, clock, { retention }) => deleteTracesBefore(db, daysAgo(clock, retention.traces)),
  calls: (db, clock, { retention }) => deleteCallsBefore(db, daysAgo(clock, retention.calls)),
  callSums: (db, clock, { retention }) => deleteSumsBefore(db, daysAgo(clock, retention.calls)),
  recordings: (db, clock, { retention }, deleteRecording) =>
    deleteRecordingsBefore(db, daysAgo(clock, retention.recordings), deleteRecording),
  refused: (db, clock, { retention }) => pruneRefused(db, daysAgo(clock, retention.calls)),
  changes: (db, clock, { retention }) => deleteChangesBefore(db, daysAgo(clock, retention.changes)),
  toolRuns: (db, clock, { retention }) => deleteRunsBefore(db, daysAgo(clock, retention.toolRuns)),
  testRecords: (db, clock, { retention }) =>
    emptyRecordsBefore(db, daysAgo(clock, retention.testRecords), isoTime(clock)),
  testRuns: (db, _, { quotas }) => deleteRunsBeyond(db, quotas.storedRuns),
  tornado: (db, clock, { retention }) => deleteTornadoBefore(db, daysAgo(clock, retention.tornado)),
  answers: pruneAnswers,
  sessions: pruneSessions,
  phoneSessions: prunePhoneSessions,
  probes: async (db, clock) => (await pruneHealth(db, clock)) + (await pruneProbeRuns(db, clock)),
  checks: pruneChecks,
  webhooks: (db, clock) => pruneAttempts(db, clock, 'webhook_deliveries'),
  alerts: pruneAlerts,
  alertNotices: (db, clock) => pruneAttempts(db, clock, 'alert_notices'),
  chats: pruneChats,
  edgeConfig: pruneRemoved,
  ports: (db, clock, { retention }) =>
    deletePortsBefore(db, daysAgo(clock, retention.ports), daysAgo(clock, unsignedDays)),
} satisfies Record<string, Forget>;

type Kind = keyof typeof kinds;

/** Rows deleted by one round. */
export type Forgotten = Readonly<Record<Kind, number>>;

function daysAgo(clock: Clock, days: number): string {
  return new Date(clock.now() - days * dayMs).toISOString();
}

/** One round over every kind, within the round's limit. */
export async function pruneOld(
  db: Db,
  clock: Clock,
  limits: RetentionLimits,
  deleteRecording: DeleteFile = async () => undefined,
): Promise<Forgotten> {
  const forgotten = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0])) as Record<Kind, number>;
  for (const [kind, forget] of entries()) forgotten[kind] = await forget(db, clock, limits, deleteRecording);
  return forgotten;
}

function entries(): [Kind, Forget][] {
  return Object.entries(kinds) as [Kind, Forget][];
}

interface RetentionParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly config: RetentionLimits;
  /** All or none: without them there are no recordings. */
  readonly recordingContents?: RecordingContents;
  readonly recordingStorage?: RecordingStorage;
  readonly secrets?: SecretBox;
}

/**
 * Runs a round every hour, and has the database's next partitions ready. Returns a function that stops this and resolves
 * when no round is running.
 */
export function startRetention(
  { database, clock, config, recordingContents, recordingStorage, secrets }: RetentionParts,
  log: Pick<FastifyBaseLogger, 'info' | 'error'>,
  metrics: RetentionMetrics,
): () => Promise<void> {
  const { db } = database;
  const ending = new AbortController();
  const unfinished =
    recordingContents && secrets && new UnfinishedRecordings({ clock, database, recordingContents, secrets });
  let timer: Timer;
  const prepare = () =>
    addPartitions(db, clock.now()).catch((error: unknown) =>
      log.error({ err: error }, 'the partitions of the call log could not be added'),
    );
  let running = prepare();
  /** Whether anything is left for the next round. A failing kind does not block the others. */
  const round = async (): Promise<boolean> => {
    const forgotten: Partial<Record<Kind, number>> = {};
    for (const [kind, forget] of entries()) {
      if (ending.signal.aborted) return false;
      try {
        const count = await forget(db, clock, config, async (id) => recordingContents?.delete(id));
        forgotten[kind] = count;
        metrics.deleted(kind, count);
        if (kind === 'recordings' && count > 0) recordingStorage?.wake();
      } catch (error) {
        metrics.failed(kind);
        log.error({ err: error, kind }, 'old records could not be deleted');
      }
    }
    const unread = await unfinished?.open().catch((error: unknown) => {
      log.error({ err: error }, 'recordings whose edge is away could not be read');
    });
    log.info(forgotten, 'old records deleted');
    return unread?.more === true || Object.values(forgotten).some((count) => count >= mostDeletedAtOnce);
  };
  const start = () => {
    running = prepare()
      .then(round)
      .then((more) => {
        if (!ending.signal.aborted) timer = clock.after(more ? soonMs : everyMs, start);
      });
  };
  timer = clock.after(everyMs, start);
  return async () => {
    ending.abort();
    timer.cancel();
    await running;
  };
}
