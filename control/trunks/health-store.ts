/** Trunk health from the edges' probes: the last probe of each endpoint, and sums per hour (contract 3.3). */
import type SqliteFile from 'better-sqlite3';
import type { Clock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import type { Db, SipConfigurationRow, TrunkEndpointRow, TrunkHourRow } from '../db/index.ts';
import { usableEndpoints } from './config-rules.ts';
import { hourOf, type Probed, trunkStatus } from './health-rules.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const keptDays = 30;

/** The last probes of all endpoints of these records. */
export async function findProbed(db: Db, configurationIds: readonly string[]): Promise<Probed> {
  if (configurationIds.length === 0) return [];
  return db
    .selectFrom('trunk_endpoints')
    .selectAll()
    .where('configuration_id', 'in', [...configurationIds])
    .execute();
}

/** The sums of a number's last 30 days, and the first hour of its last 24 hours. */
export async function findHours(
  db: Db,
  clock: Clock,
  orgId: string,
  number: string,
): Promise<{ hours: TrunkHourRow[]; dayAgo: string }> {
  const since = (ms: number) => hourOf(new Date(clock.now() - ms).toISOString());
  const hours = await db
    .selectFrom('trunk_hours')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('number', '=', number)
    .where('hour', '>=', since(keptDays * dayMs))
    .execute();
  return { hours, dayAgo: since(dayMs) };
}

/** Deletes health data too old to be shown. Returns how many rows were deleted. */
export async function forgetHealth(db: Db, clock: Clock): Promise<number> {
  const before = new Date(clock.now() - (keptDays + 1) * dayMs).toISOString();
  const hours = await db.deleteFrom('trunk_hours').where('hour', '<', hourOf(before)).executeTakeFirst();
  const endpoints = await db
    .deleteFrom('trunk_endpoints')
    .where('checked_at', '<', before)
    .executeTakeFirst();
  return Number(hours.numDeletedRows + endpoints.numDeletedRows);
}

type HealthReport = Pick<Extract<ReportBody, { type: 'health' }>, 'probes' | 'moves'>;

/**
 * Returns a function that stores the probes of one report. A probe of the primary endpoint of a number's primary record
 * is a round. It counts as healthy when the trunk was, from what was known of all its endpoints. Absent edges add no
 * rounds, so unobserved time does not count as up. The function throws RangeError for a probe with an invalid time.
 */
export function prepareHealth(connection: SqliteFile.Database): (report: HealthReport) => void {
  const trunk = connection.prepare<[string], SipConfigurationRow>(
    `select * from sip_configurations where id = ? and direction = 'outbound'`,
  );
  const trunks = connection.prepare<[string, string], SipConfigurationRow>(
    `select * from sip_configurations where org_id = ? and number = ? and direction = 'outbound'
     order by priority`,
  );
  const known = connection.prepare<[string, string], TrunkEndpointRow>(
    `select trunk_endpoints.* from trunk_endpoints
     join sip_configurations on sip_configurations.id = trunk_endpoints.configuration_id
     where sip_configurations.org_id = ? and sip_configurations.number = ?`,
  );
  const save = connection.prepare<[TrunkEndpointRow]>(
    `insert into trunk_endpoints values (@configuration_id, @host, @port, @healthy, @response_time_ms,
       @checked_at, @consecutive_failures, @active)
     on conflict (configuration_id, host, port) do update set healthy = excluded.healthy,
       response_time_ms = excluded.response_time_ms, checked_at = excluded.checked_at,
       consecutive_failures = excluded.consecutive_failures, active = excluded.active
     where excluded.checked_at >= trunk_endpoints.checked_at`,
  );
  // Only one endpoint of a record is active, so activating one deactivates the others.
  const passive = connection.prepare<[TrunkEndpointRow]>(
    `update trunk_endpoints set active = 0 where @active = 1 and configuration_id = @configuration_id
     and not (host = @host and port = @port) and checked_at <= @checked_at`,
  );
  const activate = connection.prepare<[{ id: string; host: string; port: number }]>(
    'update trunk_endpoints set active = (host = @host and port = @port) where configuration_id = @id',
  );
  const count = connection.prepare<[TrunkHourRow]>(
    `insert into trunk_hours values (@org_id, @number, @hour, @rounds, @healthy_rounds, @answered_probes,
       @response_ms)
     on conflict (org_id, number, hour) do update set rounds = rounds + excluded.rounds,
       healthy_rounds = healthy_rounds + excluded.healthy_rounds,
       answered_probes = answered_probes + excluded.answered_probes,
       response_ms = response_ms + excluded.response_ms`,
  );
  const store = (probe: HealthProbe, at: string): void => {
    const own = trunk.get(probe.trunk_id);
    // The trunk was detached while the report was under way.
    if (!own) return;
    const row = endpointRow(probe, at);
    save.run(row);
    passive.run(row);
    const all = trunks.all(own.org_id, own.number);
    const isRound = all[0]?.id === own.id && probe.endpoint.priority === 0;
    const isHealthy = isRound && trunkStatus(all, known.all(own.org_id, own.number)) === 'healthy';
    count.run({
      org_id: own.org_id,
      number: own.number,
      hour: hourOf(at),
      rounds: isRound ? 1 : 0,
      healthy_rounds: isHealthy ? 1 : 0,
      answered_probes: probe.healthy && probe.response_time_ms !== null ? 1 : 0,
      response_ms: probe.healthy ? (probe.response_time_ms ?? 0) : 0,
    });
  };
  const move = (id: string, priority: number): void => {
    const row = trunk.get(id);
    const active = row && usableEndpoints(row).find((endpoint) => endpoint.priority === priority);
    if (active) activate.run({ id, host: active.host, port: active.port });
  };
  return ({ probes, moves = [] }) => {
    const dated = probes.map((probe) => ({ probe, at: new Date(probe.at).toISOString() }));
    for (const { probe, at } of dated) store(probe, at);
    for (const { trunk_id, active_priority } of moves) move(trunk_id, active_priority);
  };
}

function endpointRow(probe: HealthProbe, at: string): TrunkEndpointRow {
  return {
    configuration_id: probe.trunk_id,
    host: probe.endpoint.host,
    port: probe.endpoint.port,
    healthy: probe.healthy ? 1 : 0,
    response_time_ms: probe.response_time_ms,
    checked_at: at,
    consecutive_failures: probe.consecutive_failures,
    active: probe.active ? 1 : 0,
  };
}
