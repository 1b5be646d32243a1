/** Connects the edges' reports to the areas, for edge-link/reports.ts. */
import type { Clock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { storeProbeRuns } from './alerts/index.ts';
import { storeCall, storeTrace, storeTranscript } from './calls/index.ts';
import { storeCheck } from './checks/index.ts';
import { builtOnce, type Database, type Db } from './db/index.ts';
import { Announcements, type ReportEffects, ReportStore, type ReportWriters } from './edge-link/index.ts';
import { registrationSubject, storeHealth, storeRegistration } from './trunks/index.ts';

/** @param probeGapMs a longer gap between two probes of a trunk breaks a series of failures */
export function createReportStore(
  database: Database,
  clock: Clock,
  announcements = new Announcements(clock),
  probeGapMs = 180_000,
): ReportStore {
  return new ReportStore(database, clock, reportWriters(probeGapMs), announcements);
}

function reportWriters(probeGapMs: number): ReportWriters {
  return {
    clockSetBack,
    write: (db, { edgeId }, body, now, effects) => {
      switch (body.type) {
        case 'call':
          return storeCall(db, body, edgeId, now, effects);
        case 'transcript':
          return storeTranscript(db, body, now);
        case 'trace':
          return storeTrace(db, body, now);
        default:
          return storeOfTrunk(db, body, now, effects, probeGapMs);
      }
    },
  };
}

type TrunkReport = Exclude<ReportBody, { readonly type: 'call' | 'transcript' | 'trace' }>;

async function storeOfTrunk(
  db: Db,
  body: TrunkReport,
  now: string,
  { announced }: ReportEffects,
  probeGapMs: number,
): Promise<void> {
  switch (body.type) {
    case 'health':
      await storeHealth(db, body);
      await storeProbeRuns(db, body.probes, probeGapMs);
      break;
    case 'discovery':
      await storeCheck(db, body, now);
      if (body.result.status !== 'running') announced.add(body.discovery_id);
      break;
    case 'test_call':
      await storeCheck(db, body, now);
      break;
    case 'registration':
      await storeRegistration(db, body);
      if (body.order_id !== undefined) announced.add(registrationSubject(body.order_id));
      break;
  }
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
