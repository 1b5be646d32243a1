/** Trunk health from the edges' probes: the last probe of each endpoint, and sums per hour (contract 3.3). */
import { sql } from 'kysely';
import type { Clock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import {
  builtOnce,
  type Db,
  excluded,
  type Flag,
  type SipConfigurationRow,
  type TrunkEndpointRow,
  type TrunkHourRow,
  toJson,
} from '../db/index.ts';
import { type EventType, type Happening, recordEvents } from '../events/index.ts';
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
export async function pruneHealth(db: Db, clock: Clock): Promise<number> {
  const before = new Date(clock.now() - (keptDays + 1) * dayMs).toISOString();
  const hours = await db.deleteFrom('trunk_hours').where('hour', '<', hourOf(before)).executeTakeFirst();
  const endpoints = await db
    .deleteFrom('trunk_endpoints')
    .where('checked_at', '<', before)
    .executeTakeFirst();
  return Number(hours.numDeletedRows + endpoints.numDeletedRows);
}

type HealthReport = Pick<Extract<ReportBody, { type: 'health' }>, 'probes' | 'moves'>;

const findTrunk = builtOnce((db, id: string) =>
  db.selectFrom('sip_configurations').selectAll().where('id', '=', id).where('direction', '=', 'outbound'),
);

const findTrunks = builtOnce((db, orgId: string, number: string) =>
  db
    .selectFrom('sip_configurations')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('number', '=', number)
    .where('direction', '=', 'outbound')
    .orderBy('priority'),
);

const findEndpoints = builtOnce((db, orgId: string, number: string) =>
  db
    .selectFrom('trunk_endpoints')
    .innerJoin('sip_configurations', 'sip_configurations.id', 'trunk_endpoints.configuration_id')
    .selectAll('trunk_endpoints')
    .where('sip_configurations.org_id', '=', orgId)
    .where('sip_configurations.number', '=', number),
);

const saveEndpoint = builtOnce((db, row: TrunkEndpointRow) => {
  const { configuration_id: _, host: _host, port: _port, ...changes } = row;
  return db
    .insertInto('trunk_endpoints')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['configuration_id', 'host', 'port'])
        .doUpdateSet({
          ...excluded(changes),
          // Few reports have one.
          certificate: sql`coalesce(excluded.certificate, trunk_endpoints.certificate)`,
        })
        .where('trunk_endpoints.checked_at', '<=', row.checked_at),
    );
});

type EndpointKey = Pick<TrunkEndpointRow, 'configuration_id' | 'host' | 'port'>;

/** Deactivates the other endpoints of a record, as far as nothing newer is known of them. */
const deactivateOthers = builtOnce((db, row: TrunkEndpointRow) =>
  db
    .updateTable('trunk_endpoints')
    .set({ active: 0 })
    .where('configuration_id', '=', row.configuration_id)
    .where((eb) => eb.or([eb('host', '!=', row.host), eb('port', '!=', row.port)]))
    .where('checked_at', '<=', row.checked_at),
);

const activateOnly = builtOnce((db, { configuration_id, host, port }: EndpointKey) =>
  db
    .updateTable('trunk_endpoints')
    .set((eb) => ({
      active: eb
        .case()
        .when(eb.and([eb('host', '=', host), eb('port', '=', port)]))
        .then<Flag>(1)
        .else<Flag>(0)
        .end(),
    }))
    .where('configuration_id', '=', configuration_id),
);

const addToHour = builtOnce((db, row: TrunkHourRow) =>
  db
    .insertInto('trunk_hours')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'number', 'hour']).doUpdateSet((eb) => ({
        rounds: eb('trunk_hours.rounds', '+', row.rounds),
        healthy_rounds: eb('trunk_hours.healthy_rounds', '+', row.healthy_rounds),
        answered_probes: eb('trunk_hours.answered_probes', '+', row.answered_probes),
        response_ms: eb('trunk_hours.response_ms', '+', row.response_ms),
      })),
    ),
);

/**
 * Stores the probes of one report. A probe of the primary endpoint of a number's primary record is a round. It counts as
 * healthy when the trunk was, from what was known of all its endpoints. Absent edges add no rounds, so unobserved time
 * does not count as up.
 * @throws RangeError for a probe with an invalid time
 */
export async function storeHealth(db: Db, { probes, moves = [] }: HealthReport, now: string): Promise<void> {
  const happenings: Happening[] = [];
  const dated = probes.map((probe) => ({ probe, at: new Date(probe.at).toISOString() }));
  for (const { probe, at } of dated) {
    const own = await storeProbe(db, probe, at);
    if (!own) continue;
    const { certificate: _certificate, changed: _, trunk_id, ...result } = probe;
    happenings.push(happening('trunk.health', own, now, { probe: { ...result, at } }));
  }
  for (const { trunk_id, active_priority } of moves) {
    const moved = await moveTo(db, trunk_id, active_priority);
    if (!moved) continue;
    const { endpoint, record } = moved;
    happenings.push(happening('trunk.moved', record, now, { active: endpoint }));
  }
  await recordEvents(db, happenings);
}

type Own = Pick<SipConfigurationRow, 'id' | 'org_id' | 'number'>;

function happening(type: EventType, { id, number, org_id }: Own, at: string, data: object): Happening {
  return { orgId: org_id, type, at, subject: { trunk_id: id, number }, data };
}

/** @returns the trunk; null when it was detached while the report was under way */
async function storeProbe(db: Db, probe: HealthProbe, at: string): Promise<Own | null> {
  const [own] = await findTrunk(db, probe.trunk_id);
  if (!own) return null;
  const row = endpointRow(probe, at);
  await saveEndpoint(db, row);
  // Only one endpoint of a record is active.
  if (probe.active) await deactivateOthers(db, row);
  const all = await findTrunks(db, own.org_id, own.number);
  const isRound = all[0]?.id === own.id && probe.endpoint.priority === 0;
  const isHealthy =
    isRound && trunkStatus(all, await findEndpoints(db, own.org_id, own.number)) === 'healthy';
  await addToHour(db, {
    org_id: own.org_id,
    number: own.number,
    hour: hourOf(at),
    rounds: isRound ? 1 : 0,
    healthy_rounds: isHealthy ? 1 : 0,
    answered_probes: probe.healthy && probe.response_time_ms !== null ? 1 : 0,
    response_ms: probe.healthy ? (probe.response_time_ms ?? 0) : 0,
  });
  return own;
}

async function moveTo(db: Db, id: string, priority: number) {
  const [record] = await findTrunk(db, id);
  const active = record && usableEndpoints(record).find((endpoint) => endpoint.priority === priority);
  if (!active) return null;
  const { host, port } = active;
  await activateOnly(db, { configuration_id: id, host, port });
  return { record, endpoint: { host, port, priority } };
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
    certificate: probe.certificate ? toJson(probe.certificate) : null,
  };
}
