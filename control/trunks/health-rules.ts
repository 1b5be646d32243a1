/** The health of trunks, from the last probe of each endpoint and hourly sums: pure (contract 3.3). */
import type { Static } from 'typebox';
import type { TrunkStatus } from '#shared/api/sip.ts';
import type { TrunkHour } from '#shared/api/trunk-history.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';
import { fromJson, type SipConfigurationRow, type TrunkEndpointRow, type TrunkHourRow } from '../db/index.ts';
import { configuredEndpoints, usableEndpoints } from './config-rules.ts';

export type HealthStatus = 'healthy' | 'unreachable' | 'unchecked';
/** The last probe of every known endpoint. */
export type Probed = readonly TrunkEndpointRow[];

type TrunkFacts = Pick<SipConfigurationRow, 'id' | 'direction' | 'sip_endpoint' | 'port' | 'failover_config'>;

function probeOf(id: string, endpoint: Endpoint, probed: Probed): TrunkEndpointRow | undefined {
  const { host, port } = endpoint;
  return probed.find((row) => row.configuration_id === id && row.host === host && row.port === port);
}

function statusOf(probe: TrunkEndpointRow | undefined): HealthStatus {
  if (!probe) return 'unchecked';
  return probe.healthy === 1 ? 'healthy' : 'unreachable';
}

/** Healthy when a usable endpoint is healthy; unchecked when none was probed. For one or more records. */
export function trunkStatus(rows: readonly TrunkFacts[], probed: Probed): HealthStatus {
  const statuses = rows
    .filter((row) => row.direction === 'outbound')
    .flatMap((row) => usableEndpoints(row).map((endpoint) => statusOf(probeOf(row.id, endpoint, probed))));
  if (statuses.includes('healthy')) return 'healthy';
  return statuses.includes('unreachable') ? 'unreachable' : 'unchecked';
}

/** `priority` of the endpoint that the next call over a record uses first. */
export function activePriority(row: TrunkFacts, probed: Probed): number {
  const active = usableEndpoints(row).find((endpoint) => probeOf(row.id, endpoint, probed)?.active === 1);
  return active?.priority ?? 0;
}

type StatusView = Static<typeof TrunkStatus>['data'];

/**
 * The health of a number's trunk.
 * @param rows of one number, by priority
 * @param hours of that number, in the last 30 days
 * @param dayAgo first hour (as in the rows) of the last 24 hours
 * @param assigned the edge that probes an endpoint; null: none, or each by itself
 */
export function trunkView(
  rows: readonly SipConfigurationRow[],
  probed: Probed,
  hours: readonly TrunkHourRow[],
  dayAgo: string,
  assigned: (endpoint: Endpoint) => string | null,
): StatusView {
  const outbound = rows.filter((row) => row.direction === 'outbound');
  const endpoints = outbound.flatMap((row, index) =>
    configuredEndpoints(row).map((endpoint) => {
      const probe = probeOf(row.id, endpoint, probed);
      return {
        configuration_id: row.id,
        ...endpoint,
        status: statusOf(probe),
        response_time_ms: probe?.response_time_ms ?? null,
        checked_at: probe?.checked_at ?? null,
        consecutive_failures: probe?.consecutive_failures ?? 0,
        // Only the first record has an endpoint that the next call tries first.
        active: index === 0 && endpoint.priority === activePriority(row, probed),
        edge_id: assigned(endpoint),
        certificate: probe?.certificate ? fromJson(probe.certificate) : null,
      };
    }),
  );
  const active = endpoints.find((endpoint) => endpoint.active);
  const lastDay = hours.filter(({ hour }) => hour >= dayAgo);
  return {
    status: trunkStatus(outbound, probed),
    response_time_ms: active?.status === 'healthy' ? active.response_time_ms : null,
    checked_at: active?.checked_at ?? null,
    uptime_percentage: uptime(lastDay),
    uptime_percentage_30d: uptime(hours),
    average_response_time_ms: meanResponse(lastDay),
    endpoints,
  };
}

/** Percentage of healthy probe rounds, with 2 decimals; hours without probes do not count. */
function uptime(hours: readonly TrunkHourRow[]): number | null {
  const rounds = sum(hours, 'rounds');
  return rounds === 0 ? null : Math.round((sum(hours, 'healthy_rounds') / rounds) * 10_000) / 100;
}

function meanResponse(hours: readonly TrunkHourRow[]): number | null {
  const answered = sum(hours, 'answered_probes');
  return answered === 0 ? null : Math.round(sum(hours, 'response_ms') / answered);
}

function sum(
  hours: readonly TrunkHourRow[],
  column: 'rounds' | 'healthy_rounds' | 'answered_probes' | 'response_ms',
): number {
  return hours.reduce((total, row) => total + row[column], 0);
}

/** The probes of a number's trunk by hour, oldest first. @param rows in any order */
export function trunkHours(rows: readonly TrunkHourRow[]): Static<typeof TrunkHour>[] {
  return rows
    .toSorted((a, b) => (a.hour < b.hour ? -1 : 1))
    .map((row) => ({
      hour: `${row.hour}:00:00.000Z`,
      probes: row.rounds,
      healthy_probes: row.healthy_rounds,
      uptime_percentage: uptime([row]),
      average_response_time_ms: meanResponse([row]),
    }));
}

/** The hour of a time, as in the rows: `2030-01-01T05`. @param time ISO with milliseconds */
export function hourOf(time: string): string {
  return time.slice(0, 13);
}
