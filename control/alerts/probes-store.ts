/** Probe runs, stored with the reports that contain them (edge-link/reports.ts). */
import type SqliteFile from 'better-sqlite3';
import type { Clock } from '#shared/clock.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { type Db, fromJson, type TrunkProbeRunRow, toJson } from '../db/index.ts';
import { nextRun, type ProbeRun } from './probe-rules.ts';

/** Runs without a probe for this long belong to removed endpoints. */
const keptMs = 24 * 60 * 60 * 1000;

export function readRun(
  row: Pick<TrunkProbeRunRow, 'checked_at' | 'failing_since' | 'response_times'>,
): ProbeRun {
  return {
    checkedAt: Date.parse(row.checked_at),
    failingSince: row.failing_since === null ? null : Date.parse(row.failing_since),
    responseTimes: fromJson(row.response_times),
  };
}

/**
 * Returns a function that stores the probes of one report, in its transaction. It throws RangeError for a probe with an
 * invalid time.
 * @param gapMs a longer gap between two probes breaks a series of failures
 */
export function prepareProbeRuns(
  connection: SqliteFile.Database,
  gapMs: number,
): (probes: readonly HealthProbe[]) => void {
  const find = connection.prepare<[string, string, number], TrunkProbeRunRow>(
    'select * from trunk_probe_runs where configuration_id = ? and host = ? and port = ?',
  );
  const save = connection.prepare<[TrunkProbeRunRow]>(
    `insert into trunk_probe_runs (configuration_id, host, port, checked_at, failing_since, response_times)
     values (@configuration_id, @host, @port, @checked_at, @failing_since, @response_times)
     on conflict (configuration_id, host, port) do update set checked_at = excluded.checked_at,
       failing_since = excluded.failing_since, response_times = excluded.response_times`,
  );
  return (probes) => {
    for (const probe of probes) {
      const { host, port } = probe.endpoint;
      const stored = find.get(probe.trunk_id, host, port);
      const at = Date.parse(new Date(probe.at).toISOString());
      const run = nextRun(stored ? readRun(stored) : null, { ...probe, at }, gapMs);
      if (!run) continue;
      save.run({
        configuration_id: probe.trunk_id,
        host,
        port,
        checked_at: new Date(run.checkedAt).toISOString(),
        failing_since: run.failingSince === null ? null : new Date(run.failingSince).toISOString(),
        response_times: toJson(run.responseTimes),
      });
    }
  };
}

/** Returns how many rows were deleted. */
export async function forgetProbeRuns(db: Db, clock: Clock): Promise<number> {
  const result = await db
    .deleteFrom('trunk_probe_runs')
    .where('checked_at', '<', new Date(clock.now() - keptMs).toISOString())
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
