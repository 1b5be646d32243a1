/** Connects the edges' reports to the areas, for edge-link/reports.ts. */
import type SqliteFile from 'better-sqlite3';
import type { Clock } from '#shared/clock.ts';
import { prepareProbeRuns } from './alerts/index.ts';
import { prepareCallReports } from './calls/index.ts';
import { prepareChecks } from './checks/index.ts';
import type { Database } from './db/index.ts';
import { ReportStore, type ReportWriters } from './edge-link/index.ts';
import { prepareHealth, prepareRegistration, registrationSubject } from './trunks/index.ts';

/** @param probeGapMs a longer gap between two probes of a trunk breaks a series of failures */
export function createReportStore(database: Database, clock: Clock, probeGapMs = 180_000): ReportStore {
  return new ReportStore(database, clock, (connection) => prepareWriters(connection, probeGapMs));
}

function prepareWriters(connection: SqliteFile.Database, probeGapMs: number): ReportWriters {
  const calls = prepareCallReports(connection);
  const health = prepareHealth(connection);
  const probeRuns = prepareProbeRuns(connection, probeGapMs);
  const check = prepareChecks(connection);
  const registration = prepareRegistration(connection);
  return {
    clockSetBack: prepareClockSetBack(connection),
    write: ({ edgeId }, body, now, told) => {
      switch (body.type) {
        case 'call':
          calls.call(body, edgeId, now, told);
          break;
        case 'transcript':
          calls.transcript(body, now);
          break;
        case 'trace':
          calls.trace(body, now);
          break;
        case 'health':
          health(body);
          probeRuns(body.probes);
          break;
        case 'discovery':
          check(body, now);
          if (body.result.status !== 'running') told.announced.add(body.discovery_id);
          break;
        case 'test_call':
          check(body, now);
          break;
        case 'registration':
          registration(body);
          if (body.order_id !== undefined) told.announced.add(registrationSubject(body.order_id));
          break;
      }
    },
  };
}

/**
 * An edge's clock was set back. Its records from before give way to the new reports; otherwise those would count as old
 * until the clock has caught up.
 */
function prepareClockSetBack(connection: SqliteFile.Database): (at: string) => void {
  const statements = [
    'update registrations set at = @before where at > @before',
    'update trunk_endpoints set checked_at = @before where checked_at > @before',
    'update trunk_probe_runs set failing_since = @before where failing_since > @before',
    'update trunk_probe_runs set checked_at = @before where checked_at > @before',
  ].map((sql) => connection.prepare<[{ before: string }]>(sql));
  return (at) => {
    const before = new Date(Date.parse(at) - probesGatheredMs).toISOString();
    for (const statement of statements) statement.run({ before });
  };
}

/** Most that a probe may be older than its report, ms: edges batch probes for a second. */
const probesGatheredMs = 2_000;
