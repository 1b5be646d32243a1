/** SIP configurations and numbers as the API shows them: pure functions of rows (contract 2.2, 2.6, 3.3). */
import type { Configuration } from '#shared/api/sip.ts';
import { fromJson, type RegistrationRow, type SipConfigurationRow } from '../db/index.ts';
import { secretMask } from '../http/index.ts';
import { alertsOf, codecsOf, failoverOf } from './config-rules.ts';
import { activePriority, type HealthStatus, type Probed, trunkStatus } from './health-rules.ts';
import { regionOf } from './region.ts';

/** What the API shows besides the record itself. */
export interface ViewContext {
  readonly applied: boolean;
  readonly sources: 'listed' | 'none' | 'open';
  readonly probed: Probed;
  /** Codecs of a list that no edge has. */
  readonly lacking: (codecs: readonly string[]) => string[];
  /** By record id. */
  readonly registrations: ReadonlyMap<string, RegistrationRow>;
}

/** The configuration object of contract 2.2. */
export function configurationView(row: SipConfigurationRow, context: ViewContext): Configuration {
  const headers = row.headers === null ? null : { direction: row.direction, headers: fromJson(row.headers) };
  return {
    id: row.id,
    number: row.number,
    org_id: row.org_id,
    direction: row.direction,
    priority: row.priority,
    sip_endpoint: row.sip_endpoint,
    headers,
    options: row.direction === 'inbound' ? inboundOptions(row) : outboundOptions(row),
    failover_config:
      row.direction === 'inbound' ? null : failoverView(row, activePriority(row, context.probed)),
    codec_config: codecView(row, context),
    alert_config: alertsOf(row),
    region_config: row.direction === 'inbound' ? null : { ...regionOf(row) },
    ...(row.direction === 'inbound' && { inbound_sources: context.sources }),
    registration: registrationView(row, context.registrations.get(row.id)),
    applied: context.applied,
    health_status: trunkStatus([row], context.probed),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** Lists are copied, because answers are not read-only. */
function failoverView(row: SipConfigurationRow, activePriority: number): Configuration['failover_config'] {
  const { endpoints, triggers, ...rest } = failoverOf(row);
  return { ...rest, endpoints: [...endpoints], triggers: [...triggers], active_priority: activePriority };
}

/** Also null until an edge has reported it. */
export function registrationView(
  row: Pick<SipConfigurationRow, 'auth_mode'>,
  last: RegistrationRow | undefined,
): Configuration['registration'] {
  if (row.auth_mode !== 'register' || !last) return null;
  const { state, registrar, expires_at, next_try_at, sip_code, last_error, at, edge_id } = last;
  return { state, registrar, expires_at, next_try_at, sip_code, last_error, at, edge_id };
}

function codecView(
  row: SipConfigurationRow,
  { lacking }: Pick<ViewContext, 'lacking'>,
): Configuration['codec_config'] {
  const { codecs, transcode } = codecsOf(row);
  return { codecs: [...codecs], transcode, unavailable: lacking(codecs) };
}

function inboundOptions(row: SipConfigurationRow): Configuration['options'] {
  return {
    auth_mode: row.auth_mode ?? 'ip',
    port: row.port,
    transport: 'tls',
    secure_media: true,
    transfer_mode: row.transfer_mode,
    allowed_ips: row.allowed_ips === null ? [] : fromJson(row.allowed_ips),
    ...(row.auth_mode === 'register' && {
      register_auth: { username: row.username ?? '', password: secretMask },
    }),
    ...(row.auth_mode === 'digest' && {
      digest_auth: { username: row.username ?? '', password: secretMask },
    }),
  };
}

function outboundOptions(row: SipConfigurationRow): Configuration['options'] {
  return {
    port: row.port,
    transport: 'tls',
    secure_media: true,
    transfer_mode: row.transfer_mode,
    sip_username: row.username,
    sip_password: row.password === null ? null : secretMask,
    sip_realm: row.realm,
  };
}

export interface SipNumber {
  phone_number: string;
  directions: string[];
  sip_endpoint: string | null;
  health_status: HealthStatus;
  configuration_count: number;
}

/** One line per number. @param rows sorted by number, direction and priority */
export function sipNumbers(rows: readonly SipConfigurationRow[], probed: Probed): SipNumber[] {
  return [...Map.groupBy(rows, (row) => row.number)].map(([number, own]) => ({
    phone_number: number,
    directions: [...new Set(own.map((row) => row.direction))],
    sip_endpoint: own.find((row) => row.direction === 'outbound')?.sip_endpoint ?? null,
    health_status: trunkStatus(own, probed),
    configuration_count: own.length,
  }));
}
