/** Connects the edges' reports to the areas, for edge-link/reports.ts. */
import type { Clock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { storeProbeRuns } from './alerts/index.ts';
import { CallReports, closeCallsNotRunning, storeRefused } from './calls/index.ts';
import { storeCheck } from './checks/index.ts';
import { builtOnce, type Database, type Db } from './db/index.ts';
import {
  Announcements,
  type ReportEffects,
  type ReportSource,
  ReportStore,
  type ReportWriters,
} from './edge-link/index.ts';
import { Followers } from './events/index.ts';
import type { Fleet } from './fleet/index.ts';
import type { ControlConfig } from './settings/index.ts';
import { learnedProbes, registrationSubject, storeHealth, storeRegistration } from './trunks/index.ts';

import { webhookSubject } from './webhooks/index.ts';

export { closeCallsWithoutOutbox } from './calls/index.ts';

export interface ReportStoreParts {
  readonly announcements: Announcements;
  readonly clock: Clock;
  readonly config: Pick<ControlConfig, 'probeGapMs'>;
  readonly database: Database;
  readonly fleet: Fleet;
  /** Shared with who opens windows of events. */
  readonly followers: Followers;
}

/**
 * @param probeGapMs a longer gap between two probes of a trunk breaks a series of failures
 * @param followers shared with who opens windows of events
 * @param fleet knows which reports are from an edge whose work others have taken over: these are dropped
 */
export function createReportStore(
  database: Database,
  clock: Clock,
  announcements = new Announcements(clock),
  probeGapMs = 180_000,
  fleet: Pick<Fleet, 'isOutdated'> = { isOutdated: () => false },
  followers: Followers = new Followers(database),
): ReportStore {
  return new ReportStore(database, clock, reportWriters(fleet, probeGapMs, followers), announcements);
}

/** That of a running control plane. */
export function reportStoreOf({
  announcements,
  clock,
  config,
  database,
  fleet,
  followers,
}: ReportStoreParts): ReportStore {
  return createReportStore(database, clock, announcements, config.probeGapMs, fleet, followers);
}

function reportWriters(
  fleet: Pick<Fleet, 'isOutdated'>,
  probeGapMs: number,
  followers: Followers,
): ReportWriters {
  return {
    begin: (db, now) => {
      let calls = new CallReports(followers);
      /** Calls that were reported earlier in the transaction are judged, too. */
      const closeOthers = async (source: ReportSource, body: RunningReport, effects: ReportEffects) => {
        await calls.store(db, now);
        calls = new CallReports(followers);
        await storeRunning(db, source, body, now, effects);
      };
      return {
        clockSetBack: (at) => clockSetBack(db, at),
        write: (source, body, effects) => {
          const { edgeId } = source;
          switch (body.type) {
            case 'call':
              calls.addCall(body, edgeId, now, effects);
              return;
            case 'transcript':
              calls.addTranscript(body, now, effects);
              return;
            case 'trace':
              calls.addTrace(body, now);
              return;
            case 'measured':
              calls.addMeasured(body, now);
              return;
            case 'refused':
              return storeRefused(db, body.refused, edgeId);
            case 'running':
              return closeOthers(source, body, effects);
            case 'health':
            case 'registration':
              if (fleet.isOutdated(edgeId, body.epoch)) {
                effects.lost.outdated += 1;
                return;
              }
              return storeOfFleet(db, body, edgeId, effects, { now, probeGapMs });
            default:
              return storeOfCheck(db, body, now, effects);
          }
        },
        finish: () => calls.store(db, now),
      };
    },
  };
}

type RunningReport = Extract<ReportBody, { readonly type: 'running' }>;

async function storeRunning(
  db: Db,
  { edgeId, outboxId }: ReportSource,
  { call_ids, lost_reports }: RunningReport,
  now: string,
  { announced, lost }: ReportEffects,
): Promise<void> {
  const { closed, webhooksQueued } = await closeCallsNotRunning(
    db,
    { edgeId, outboxId, callIds: call_ids },
    now,
  );
  if (webhooksQueued) announced.add(webhookSubject);
  lost.calls += closed;
  lost.reports += lost_reports;
}

type FleetReport = Extract<ReportBody, { readonly type: 'health' | 'registration' }>;

async function storeOfFleet(
  db: Db,
  body: FleetReport,
  edgeId: string,
  { announced, learned }: ReportEffects,
  { now, probeGapMs }: { readonly now: string; readonly probeGapMs: number },
): Promise<void> {
  if (body.type === 'health') {
    await storeHealth(db, body, now);
    await storeProbeRuns(db, body.probes, probeGapMs);
    learned.probes.push(...learnedProbes(body.probes));
    learned.moves.push(...(body.moves ?? []));
    return;
  }
  const facts = await storeRegistration(db, body, edgeId, now);
  if (facts && body.changed === true) learned.registrations.push(facts);
  if (body.order_id !== undefined) announced.add(registrationSubject(body.order_id));
}

type CheckReport = Extract<ReportBody, { readonly type: 'discovery' | 'test_call' }>;

async function storeOfCheck(
  db: Db,
  body: CheckReport,
  now: string,
  { announced }: ReportEffects,
): Promise<void> {
  await storeCheck(db, body, now);
  if (body.type === 'discovery' && body.result.status !== 'running') announced.add(body.discovery_id);
}

const dateRegistrations = builtOnce((db, at: string) =>
  db.updateTable('registrations').set({ at }).where('at', '>', at),
);
const dateEndpoints = builtOnce((db, checked_at: string) =>
  db.updateTable('trunk_endpoints').set({ checked_at }).where('checked_at', '>', checked_at),
);
const dateFailures = builtOnce((db, failing_since: string) =>
  db.updateTable('trunk_probe_runs').set({ failing_since }).where('failing_since', '>', failing_since),
);
const dateProbeRuns = builtOnce((db, checked_at: string) =>
  db.updateTable('trunk_probe_runs').set({ checked_at }).where('checked_at', '>', checked_at),
);

/**
 * An edge's clock was set back. Its records from before give way to the new reports; otherwise those would count as old
 * until the clock has caught up.
 */
async function clockSetBack(db: Db, at: string): Promise<void> {
  const before = new Date(Date.parse(at) - probesGatheredMs).toISOString();
  for (const date of [dateRegistrations, dateEndpoints, dateFailures, dateProbeRuns]) await date(db, before);
}

/** Most that a probe may be older than its report, ms: edges batch probes for a second. */
const probesGatheredMs = 2_000;
