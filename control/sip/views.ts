/** SIP configurations and numbers as the API shows them: pure functions of rows (contract 2.2, 2.6, 3.3). */
import type { Configuration } from '#shared/api/sip.ts';
import { defaultCodecs } from '#shared/codecs.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import type { SipConfigurationRow } from '../db/tables.ts';
import { secretMask } from './rules.ts';

/** What the API shows besides the record itself. */
export interface ViewContext {
  readonly applied: boolean;
  readonly sources: 'listed' | 'none' | 'open';
}

/** The configuration object of contract 2.2. */
export function configurationView(row: SipConfigurationRow, context: ViewContext): Configuration {
  const headers =
    row.headers === null ? null : { direction: row.direction, headers: JSON.parse(row.headers) };
  return {
    id: row.id,
    number: row.number,
    org_id: row.org_id,
    direction: row.direction,
    priority: row.priority,
    sip_endpoint: row.sip_endpoint,
    headers,
    options: row.direction === 'inbound' ? inboundOptions(row) : outboundOptions(row),
    failover_config: row.direction === 'inbound' ? null : parsed(row.failover_config, defaultFailover),
    codec_config: parsed(row.codec_config, defaultCodecConfig),
    alert_config: parsed(row.alert_config, defaultAlerts),
    ...(row.direction === 'inbound' && { inbound_sources: context.sources }),
    applied: context.applied,
    health_status: 'unchecked',
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function parsed(text: string | null, defaults: object): unknown {
  return text === null ? defaults : JSON.parse(text);
}

/** Defaults of contract 3.5. */
const defaultFailover = {
  enabled: false,
  endpoints: [],
  triggers: ['unreachable', 'auth_failure', 'timeout'],
  failback: 'auto',
  active_priority: 0,
};
const defaultCodecConfig = { codecs: defaultCodecs, transcode: false };
const defaultAlerts = {
  enabled: false,
  thresholds: {
    unreachable_minutes: 5,
    failure_rate_percent: 20,
    failure_rate_window_minutes: 30,
    response_time_ms: 500,
  },
  channels: { email: false, sms: false, webhook: null },
};

function inboundOptions(row: SipConfigurationRow): Configuration['options'] {
  return {
    auth_mode: row.auth_mode ?? 'ip',
    port: row.port,
    transport: 'tls',
    secure_media: true,
    allowed_ips: JSON.parse(row.allowed_ips ?? '[]'),
    ...(row.auth_mode === 'register' && {
      register_auth: { username: row.username ?? '', password: secretMask },
    }),
  };
}

function outboundOptions(row: SipConfigurationRow): Configuration['options'] {
  return {
    port: row.port,
    transport: 'tls',
    secure_media: true,
    sip_username: row.username,
    sip_password: row.password === null ? null : secretMask,
    sip_realm: row.realm,
  };
}

export interface SipNumber {
  phone_number: string;
  directions: string[];
  sip_endpoint: string | null;
  health_status: 'unchecked';
  configuration_count: number;
}

/** One line per number. @param rows sorted by number, direction and priority */
export function sipNumbers(rows: readonly SipConfigurationRow[]): SipNumber[] {
  return [...Map.groupBy(rows, (row) => row.number)].map(([number, own]) => ({
    phone_number: number,
    directions: [...new Set(own.map((row) => row.direction))],
    sip_endpoint: own.find((row) => row.direction === 'outbound')?.sip_endpoint ?? null,
    health_status: 'unchecked',
    configuration_count: own.length,
  }));
}

/** The health of a trunk that nobody probes (contract 3.3). @param rows of one number, by priority */
export function uncheckedTrunk(rows: readonly SipConfigurationRow[]) {
  const outbound = rows.filter((row) => row.direction === 'outbound');
  return {
    status: 'unchecked' as const,
    response_time_ms: null,
    checked_at: null,
    uptime_percentage: null,
    uptime_percentage_30d: null,
    average_response_time_ms: null,
    endpoints: outbound.map((row, index) => ({
      configuration_id: row.id,
      host: row.sip_endpoint === null ? '' : (parseSipDestination(row.sip_endpoint)?.host ?? ''),
      port: row.port,
      priority: 0,
      status: 'unchecked',
      response_time_ms: null,
      checked_at: null,
      consecutive_failures: 0,
      active: index === 0,
    })),
  };
}
