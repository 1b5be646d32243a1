/** Probe runs, stored with the reports that contain them (edge-link/reports.ts). */
import type { Clock } from '#shared/clock.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { builtOnce, type Db, excluded, fromJson, type TrunkProbeRunRow, toJson } from '../db/index.ts';
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

const findRun = builtOnce((db, configurationId: string, host: string, port: number) =>
  db
    .selectFrom('trunk_probe_runs')
    .selectAll()
    .where('configuration_id', '=', configurationId)
    .where('host', '=', host)
    .where('port', '=', port),
);

const saveRun = builtOnce((db, row: TrunkProbeRunRow) => {
  const { configuration_id: _, host: _host, port: _port, ...changes } = row;
  return db
    .insertInto('trunk_probe_runs')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['configuration_id', 'host', 'port']).doUpdateSet(excluded(changes)),
    );
});

/**
 * Stores the probes of one report, in its transaction.
 * @param gapMs a longer gap between two probes breaks a series of failures
 * @throws RangeError for a probe with an invalid time
 */
export async function storeProbeRuns(db: Db, probes: readonly HealthProbe[], gapMs: number): Promise<void> {
  for (const probe of probes) {
    const { host, port } = probe.endpoint;
    const [stored] = await findRun(db, probe.trunk_id, host, port);
    const at = Date.parse(new Date(probe.at).toISOString());
    const run = nextRun(stored ? readRun(stored) : null, { ...probe, at }, gapMs);
    if (!run) continue;
    await saveRun(db, {
      configuration_id: probe.trunk_id,
      host,
      port,
      checked_at: new Date(run.checkedAt).toISOString(),
      failing_since: run.failingSince === null ? null : new Date(run.failingSince).toISOString(),
      response_times: toJson(run.responseTimes),
    });
  }
}

/** Returns how many rows were deleted. */
export async function pruneProbeRuns(db: Db, clock: Clock): Promise<number> {
  const result = await db
    .deleteFrom('trunk_probe_runs')
    .where('checked_at', '<', new Date(clock.now() - keptMs).toISOString())
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
