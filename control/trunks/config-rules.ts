/** Failover, codecs and alerts of a configuration: defaults, merging, and derived values (contract 3.5). */
import { type CodecName, defaultCodecs } from '#shared/codecs.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import { type Endpoint, type FailoverTrigger, failoverTriggers } from '#shared/trunk-protocol.ts';
import { fromJson, type Json, type SipConfigurationRow } from '../db/index.ts';

export interface FailoverEndpoint {
  readonly host: string;
  readonly port: number;
  readonly transport: 'tls';
  readonly priority: number;
}

/** As stored. `active_priority` is added on read; `failback_now` is a command and never stored. */
export interface FailoverConfig {
  readonly enabled: boolean;
  readonly endpoints: readonly FailoverEndpoint[];
  readonly triggers: readonly FailoverTrigger[];
  readonly failback: 'auto' | 'manual';
}

export interface CodecConfig {
  readonly codecs: readonly CodecName[];
  readonly transcode: boolean;
}

export interface AlertConfig {
  readonly enabled: boolean;
  readonly thresholds: {
    readonly unreachable_minutes: number;
    readonly failure_rate_percent: number;
    readonly failure_rate_window_minutes: number;
    readonly response_time_ms: number;
  };
  readonly channels: { readonly email: boolean; readonly sms: boolean; readonly webhook: string | null };
}

const defaultFailover: FailoverConfig = {
  enabled: false,
  endpoints: [],
  triggers: failoverTriggers,
  failback: 'auto',
};
const defaultCodecConfig: CodecConfig = { codecs: defaultCodecs, transcode: false };
const defaultAlerts: AlertConfig = {
  enabled: false,
  thresholds: {
    unreachable_minutes: 5,
    failure_rate_percent: 20,
    failure_rate_window_minutes: 30,
    response_time_ms: 500,
  },
  channels: { email: false, sms: false, webhook: null },
};

export function failoverOf(row: Pick<SipConfigurationRow, 'failover_config'>): FailoverConfig {
  return merged(defaultFailover, parsed(row.failover_config));
}

export function codecsOf(row: Pick<SipConfigurationRow, 'codec_config'>): CodecConfig {
  return merged(defaultCodecConfig, parsed(row.codec_config));
}

export function alertsOf(row: Pick<SipConfigurationRow, 'alert_config'>): AlertConfig {
  return merged(defaultAlerts, parsed(row.alert_config));
}

function parsed(text: Json | null): object {
  return text === null ? {} : fromJson<object>(text);
}

/**
 * A stored configuration with an update applied: objects merge by key at every depth, everything else is replaced.
 * Undefined members of `update` change nothing.
 */
export function merged<T extends object>(base: T, update: object): T {
  const result: Record<string, unknown> = Object.fromEntries(Object.entries(base));
  for (const [name, value] of Object.entries(update)) {
    if (value === undefined) continue;
    const old = result[name];
    result[name] = isPlain(old) && isPlain(value) ? merged(old, value) : value;
  }
  return result as T;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The endpoints of an outbound record: its own as 0, then the failover ones by priority, enabled or not. */
export function configuredEndpoints(
  row: Pick<SipConfigurationRow, 'sip_endpoint' | 'port' | 'failover_config'>,
): Endpoint[] {
  const host = row.sip_endpoint === null ? '' : (parseSipDestination(row.sip_endpoint)?.host ?? '');
  const others = failoverOf(row)
    .endpoints.map(({ host, port, priority }) => ({ host, port, priority }))
    .sort((one, other) => one.priority - other.priority);
  return [{ host, port: row.port, priority: 0 }, ...others];
}

/** Endpoints that are probed but that no call may use: the failover endpoints while failover is disabled. */
export function standbyEndpoints(
  row: Pick<SipConfigurationRow, 'sip_endpoint' | 'port' | 'failover_config'>,
): Endpoint[] {
  return failoverOf(row).enabled ? [] : configuredEndpoints(row).filter(({ priority }) => priority !== 0);
}

/** Endpoints that a call may use: failover endpoints only when failover is enabled. */
export function usableEndpoints(
  row: Pick<SipConfigurationRow, 'sip_endpoint' | 'port' | 'failover_config'>,
): Endpoint[] {
  const { enabled } = failoverOf(row);
  return configuredEndpoints(row).filter(({ priority }) => enabled || priority === 0);
}
