/** Settings of the control plane. The only place of `control` that reads the environment. */
import { randomUUID } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import {
  type AgentModelSettings,
  readAgentModels,
  readTestModels,
  type TestModelSettings,
} from '#shared/models/model-settings.ts';
import { isAnyAddress } from '#shared/networks.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { type AmountsOf, quotas, retention } from '#shared/settings/amounts.ts';
import { type LogSettings, readLog } from '#shared/settings/log.ts';
import { type Environment, SettingError, settingReader } from '#shared/settings/reader.ts';
import { readTracing, type TracingSettings } from '#shared/tracing/settings.ts';
import { isServer } from '../db/index.ts';
import {
  type CarrierSettings,
  carrierSettings,
  type MailSettings,
  mailSettings,
  operatorAddresses,
  type ScanSettings,
  type SmsSettings,
  scanSettings,
  smsSettings,
} from './outside-settings.ts';

export type { CarrierSettings, MailSettings, ScanSettings, SmsSettings } from './outside-settings.ts';

/** A probe may be late by a restart of the edge: less would hide outages behind an unknown state. */
const shortestGapMs = 180_000;

export interface PortingSettings {
  /** null: an operator does the work by hand. */
  readonly carrier: CarrierSettings | null;
  readonly webhookSecret: string | null;
  readonly scan: ScanSettings | null;
}

export interface ControlConfig {
  readonly dataFolder: string;
  /** 64 hexadecimal digits, or null: kept in a file of the data folder. */
  readonly secretKey: string | null;
  readonly region: string;
  /** Address of a PostgreSQL database, path of an SQLite file, or `:memory:`. */
  readonly database: string;
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly expectEdge: boolean;
  readonly sip: { readonly host: string; readonly port: number; readonly publicHost: string | null };
  readonly rtp: { readonly publicIp: string | null; readonly portMin: number; readonly portMax: number };
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string | null } | null;
  readonly sipEntitlementDefault: boolean;
  readonly openInbound: boolean;
  readonly allowPrivateTargets: readonly string[];
  readonly requestsPerMinute: number;
  readonly metricsPublic: boolean;
  /** The ceiling of organizations without one set by the operator. */
  readonly callLimits: { readonly concurrent: number | null; readonly per_minute: number | null };
  /** Per organization, unless the table of quotas says otherwise. */
  readonly quotas: AmountsOf<typeof quotas>;
  /** Days. */
  readonly retention: AmountsOf<typeof retention>;
  /** Null: backups contain no keys. */
  readonly backupPassphrase: string | null;
  /** Time without a probe after which the state of a trunk is unknown. */
  readonly probeGapMs: number;
  /** Mail addresses and URLs that get alerts about the deployment. */
  readonly operatorAlerts: readonly string[];
  /** null: the service log. */
  readonly mail: MailSettings | null;
  readonly sms: SmsSettings | null;
  readonly porting: PortingSettings;
  readonly models: AgentModelSettings & TestModelSettings;
  readonly log: LogSettings;
  /** null: no traces. */
  readonly tracing: TracingSettings | null;
  /** In log lines, to distinguish processes. */
  readonly instanceId: string;
}

/**
 * Reads the settings from environment variables.
 * @throws SettingError for the first invalid value
 */
export function readControlConfig(env: Environment = process.env): ControlConfig {
  const read = settingReader('control', env);
  const dataFolder = resolve(read.text('TRUNKLINE_DATA'));
  const agentModels = readAgentModels(read);
  const host = read.text('CONTROL_HOST');
  const port = read.integer('CONTROL_PORT', 0, 65535);
  const organizationQuotas = read.amounts('QUOTAS', quotas);
  const rtp = {
    publicIp: read.optional('RTP_PUBLIC_IP'),
    portMin: read.integer('RTP_PORT_MIN', 1024, 65535),
    portMax: read.integer('RTP_PORT_MAX', 1024, 65535),
  };
  return {
    dataFolder,
    secretKey: secretKey(read.optional('TRUNKLINE_SECRET_KEY')),
    region: read.text('TRUNKLINE_REGION'),
    database: databaseAddress(read.optional('DATABASE_URL'), dataFolder),
    host,
    port,
    url: read.optional('CONTROL_URL') ?? `http://${urlHost(host)}:${port}`,
    trustedProxies: networks('TRUSTED_PROXIES', read.list('TRUSTED_PROXIES')),
    corsOrigins: origins(read.list('CORS_ORIGINS')),
    expectEdge: read.flag('EXPECT_EDGE'),
    sip: {
      host: read.text('SIP_HOST'),
      port: read.integer('SIP_TLS_PORT', 1, 65535),
      publicHost: read.optional('SIP_PUBLIC_HOST'),
    },
    rtp,
    tls: certificateFiles(read.optional('TLS_CERT'), read.optional('TLS_KEY'), read.optional('TLS_CA')),
    sipEntitlementDefault: read.flag('SIP_ENTITLEMENT_DEFAULT'),
    openInbound: read.flag('SIP_OPEN_INBOUND'),
    allowPrivateTargets: networks('ALLOW_PRIVATE_TARGETS', read.list('ALLOW_PRIVATE_TARGETS')),
    requestsPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', 1, 1_000_000),
    metricsPublic: read.flag('METRICS_PUBLIC'),
    callLimits: {
      concurrent: organizationQuotas.outgoingCalls,
      per_minute: organizationQuotas.outgoingCallsPerMinute,
    },
    quotas: organizationQuotas,
    retention: read.amounts('RETENTION_DAYS', retention),
    backupPassphrase: read.optional('BACKUP_PASSPHRASE'),
    probeGapMs: Math.max(shortestGapMs, 3 * 1000 * read.integer('TRUNK_PROBE_INTERVAL_S', 1, 86_400)),
    operatorAlerts: operatorAddresses(read.list('OPERATOR_ALERTS'), read.optional('SMTP_URL') !== null),
    mail: mailSettings(read.optional('SMTP_URL'), read.optional('MAIL_FROM')),
    sms: smsSettings(read.url('SMS_API_URL'), read.optional('SMS_API_KEY'), read.optional('SMS_FROM')),
    porting: {
      carrier: carrierSettings(read.url('PORTING_CARRIER_URL'), read.optional('PORTING_CARRIER_KEY')),
      webhookSecret: read.optional('PORTING_WEBHOOK_SECRET'),
      scan: scanSettings(read.optional('PORTING_VIRUS_SCAN')),
    },
    models: { ...agentModels, ...readTestModels(read, agentModels.agent) },
    log: readLog(read),
    tracing: readTracing(read),
    instanceId: randomUUID(),
  };
}

function secretKey(value: string | null): string | null {
  if (value === null || /^[0-9a-fA-F]{64}$/.test(value)) return value;
  throw new SettingError('TRUNKLINE_SECRET_KEY must be 64 hexadecimal digits (32 bytes)');
}

function databaseAddress(url: string | null, dataFolder: string): string {
  if (url === null) return resolve(dataFolder, 'control.db');
  if (url === ':memory:') return url;
  if (url.startsWith('file:')) return resolve(url.slice('file:'.length).replace(/^\/\//, ''));
  if (isServer(url)) {
    if (URL.canParse(url) && new URL(url).pathname.length > 1) return url;
    throw new SettingError('DATABASE_URL must name a database: postgres://user:password@host:port/database');
  }
  if (/^[a-z]+:\/\//i.test(url)) {
    throw new SettingError(
      `DATABASE_URL has the scheme "${url.split(':')[0]}"; supported are SQLite files and postgres://`,
    );
  }
  return isAbsolute(url) ? url : resolve(url);
}

function certificateFiles(cert: string | null, key: string | null, ca: string | null): ControlConfig['tls'] {
  if (cert === null && key === null) return null;
  if (cert === null || key === null) throw new SettingError('TLS_CERT and TLS_KEY must be set together');
  return { cert: resolve(cert), key: resolve(key), ca: ca && resolve(ca) };
}

function origins(entries: string[]): string[] {
  const wrong = entries.find((entry) => !URL.canParse(entry) || new URL(entry).origin !== entry);
  if (wrong === undefined) return entries;
  throw new SettingError(
    `CORS_ORIGINS must be origins such as https://console.example.com, without a path, not "${wrong}"`,
  );
}

function networks(name: string, entries: string[]): string[] {
  try {
    parseNetworks(entries);
  } catch (error) {
    throw new SettingError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return entries;
}

/** A host in the form of a URL; a listening address for all interfaces becomes this machine's own. */
function urlHost(host: string): string {
  if (isAnyAddress(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
