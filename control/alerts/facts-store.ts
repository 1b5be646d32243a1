/**
 * Reads the facts for evaluation page by page: a few set queries per page, all from indexes, so a round over many
 * thousands is fast and does not block requests.
 */
import { sql } from 'kysely';
import {
  type Db,
  fromJson,
  type SipConfigurationRow,
  type TrunkEndpointRow,
  type TrunkProbeRunRow,
} from '../db/index.ts';
import { activePriority, alertsOf, usableEndpoints } from '../trunks/index.ts';
import { readRun } from './probes-store.ts';
import { reachability, type TrunkFacts } from './rules.ts';

export interface Judged {
  readonly row: SipConfigurationRow;
  readonly facts: TrunkFacts;
}

/** Configurations with alert settings, by id. */
export function configurationsAfter(db: Db, id: string, limit: number) {
  return db
    .selectFrom('sip_configurations')
    .selectAll()
    .where('alert_config', 'is not', null)
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit);
}

/**
 * @param now ms
 * @param gapMs an older probe says nothing about now
 */
export async function findFacts(
  db: Db,
  rows: readonly SipConfigurationRow[],
  now: number,
  gapMs: number,
): Promise<Judged[]> {
  const calls = await countCalls(db, rows, now);
  const probes = await findProbes(db, rows);
  return rows.map((row) => ({
    row,
    facts: {
      direction: row.direction,
      calls: calls.get(row.id) ?? { ended: 0, failed: 0 },
      ...probedFacts(row, probes.get(row.id) ?? [], now, gapMs),
    },
  }));
}

interface CallCount {
  readonly ended: number;
  readonly failed: number;
}

/** Calls ended in each configuration's window. Configurations with the same window share a query. */
async function countCalls(
  db: Db,
  rows: readonly SipConfigurationRow[],
  now: number,
): Promise<Map<string, CallCount>> {
  const counts = new Map<string, CallCount>();
  const windows = Map.groupBy(rows, (row) => alertsOf(row).thresholds.failure_rate_window_minutes);
  for (const [minutes, group] of windows) {
    const since = new Date(now - minutes * 60_000).toISOString();
    const ids = group.map((row) => row.id);
    for (const { trunk_id, ended, failed } of await endedCalls(db, ids, since).execute()) {
      if (trunk_id !== null) counts.set(trunk_id, { ended, failed: failed ?? 0 });
    }
  }
  return counts;
}

/** For each configuration, how many of its calls ended after `since` (ISO), and how many of them failed. */
export function endedCalls(db: Db, configurationIds: readonly string[], since: string) {
  return db
    .selectFrom('calls')
    .select(['trunk_id', sql<number>`count(*)`.as('ended')])
    .select(sql<number | null>`sum(case when outcome = 'failed' then 1 else 0 end)`.as('failed'))
    .where('trunk_id', 'in', [...configurationIds])
    .where('ended_at', '>', since)
    .groupBy('trunk_id');
}

type ProbeRow = TrunkEndpointRow & Pick<TrunkProbeRunRow, 'failing_since' | 'response_times'>;

async function findProbes(db: Db, rows: readonly SipConfigurationRow[]): Promise<Map<string, ProbeRow[]>> {
  const outbound = rows.filter((row) => row.direction === 'outbound').map((row) => row.id);
  if (outbound.length === 0) return new Map();
  const found = await db
    .selectFrom('trunk_endpoints')
    .innerJoin('trunk_probe_runs', (join) =>
      join
        .onRef('trunk_probe_runs.configuration_id', '=', 'trunk_endpoints.configuration_id')
        .onRef('trunk_probe_runs.host', '=', 'trunk_endpoints.host')
        .onRef('trunk_probe_runs.port', '=', 'trunk_endpoints.port'),
    )
    .selectAll('trunk_endpoints')
    .select(['trunk_probe_runs.failing_since', 'trunk_probe_runs.response_times'])
    .where('trunk_endpoints.configuration_id', 'in', outbound)
    .execute();
  return Map.groupBy(found, (row) => row.configuration_id);
}

/** Calls try the active endpoint first, so its response time is the trunk's. */
function probedFacts(
  row: SipConfigurationRow,
  found: readonly ProbeRow[],
  now: number,
  gapMs: number,
): Pick<TrunkFacts, 'reachability' | 'responseTimes' | 'certificate'> {
  const usable = usableEndpoints(row);
  const probed = found.map((probe) => ({ ...readRun(probe), ...probe, healthy: probe.healthy === 1 }));
  const first = usable.find(({ priority }) => priority === activePriority(row, found));
  const active = probed.find(({ host, port }) => host === first?.host && port === first.port);
  const isKnown = active?.healthy === true && now - active.checkedAt <= gapMs;
  return {
    reachability: reachability(usable, probed, now, gapMs),
    responseTimes: isKnown ? active.responseTimes : null,
    certificate: firstToExpire(
      found.filter((probe) => usable.some(({ host, port }) => host === probe.host && port === probe.port)),
    ),
  };
}

function firstToExpire(found: readonly ProbeRow[]): TrunkFacts['certificate'] {
  const [first] = found
    .flatMap(({ certificate }) => (certificate === null ? [] : [fromJson(certificate)]))
    .map(({ valid_from, expires_at }) => ({
      validFrom: Date.parse(valid_from),
      expiresAt: Date.parse(expires_at),
    }))
    .sort((a, b) => a.expiresAt - b.expiresAt);
  return first ?? null;
}
