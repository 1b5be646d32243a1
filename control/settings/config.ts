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
import { type Environment, SettingError, settingReader } from '#shared/setting-reader.ts';
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
import { settings } from './settings.ts';

export type { CarrierSettings, MailSettings, ScanSettings, SmsSettings } from './outside-settings.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export interface PortingSettings {
  /** Upper case. */
  readonly countries: readonly string[];
  /** null: an operator does the work by hand. */
  readonly carrier: CarrierSettings | null;
  readonly webhookSecret: string | null;
  readonly scan: ScanSettings | null;
  readonly scanTimeoutMs: number;
  readonly uploadsAtOnce: number;
  readonly unusedDocuments: number;
}

export interface ControlConfig {
  readonly dataFolder: string;
  /** 64 hexadecimal digits, or null: kept in a file of the data folder. */
  readonly secretKey: string | null;
  readonly region: string;
  /** Path of the SQLite file, or `:memory:`. */
  readonly databaseFile: string;
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly shutdownSeconds: number;
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
  readonly callLogDays: number;
  readonly traceDays: number;
  readonly toolLogDays: number;
  readonly testRecordDays: number;
  readonly testRunsKept: number;
  readonly portDays: number;
  readonly tornadoDays: number;
  readonly tools: {
    readonly cacheMs: number;
    readonly runsPerOrganization: number;
    readonly code: {
      readonly threads: number;
      readonly waiting: number;
      readonly cpuMs: number;
      readonly memoryBytes: number;
    };
  };
  readonly quotas: {
    readonly pathways: number;
    readonly pathwayVersions: number;
    readonly graphBytes: number;
    readonly tools: number;
    readonly personas: number;
    readonly widgets: number;
    readonly numbers: number;
    readonly openThreads: number;
    readonly openThreadsOfVisitor: number;
    readonly openThreadsOfAddress: number;
    readonly scenarios: number;
    readonly integrationResources: number;
    readonly chats: number;
    readonly waitingRuns: number;
  };
  readonly auditDays: number;
  /** Null: backups contain no keys. */
  readonly backupPassphrase: string | null;
  readonly edgeCommandTimeoutMs: number;
  readonly edgeLostMs: number;
  readonly callQueuedMs: number;
  readonly edgeFrameBytes: number;
  readonly webhookTimeoutMs: number;
  readonly alerts: {
    readonly evaluationMs: number;
    readonly probeGapMs: number;
    readonly sendTimeoutMs: number;
    /** Mail addresses and URLs. */
    readonly operator: readonly string[];
  };
  readonly agentTesting: {
    readonly limits: {
      /** Runs at a time. */
      readonly perOrganization: number;
      readonly concurrent: number;
      readonly timeoutMs: number;
    };
    readonly calls: { readonly edgeMs: number; readonly socketMs: number };
    readonly streams: { readonly perOrganization: number; readonly heartbeatMs: number };
  };
  readonly widgets: {
    /** Per minute. */
    readonly visitors: {
      readonly sessionsPerMinute: number;
      readonly requestsPerMinute: number;
      readonly messagesPerMinute: number;
    };
    readonly streams: {
      readonly perWidget: number;
      readonly perAddress: number;
      /** characters */
      readonly mostPending: number;
      readonly heartbeatMs: number;
    };
    /** Of one thread. */
    readonly mostMessages: number;
    readonly mostWaiting: number;
    readonly threadDays: number;
  };
  /** null: the service log. */
  readonly mail: MailSettings | null;
  readonly sms: SmsSettings | null;
  readonly porting: PortingSettings;
  readonly models: AgentModelSettings & TestModelSettings;
  readonly logLevel: (typeof logLevels)[number];
  /** In log lines, to distinguish processes. */
  readonly instanceId: string;
}

/**
 * Reads the settings from environment variables.
 * @throws SettingError for the first invalid value
 */
export function readControlConfig(env: Environment = process.env): ControlConfig {
  const read = settingReader(settings, env);
  const dataFolder = resolve(read.text('TRUNKLINE_DATA'));
  const agentModels = readAgentModels(read);
  const edgeCommandTimeoutMs = read.integer('EDGE_COMMAND_TIMEOUT_MS', 100, 60_000);
  const host = read.text('CONTROL_HOST');
  const port = read.integer('CONTROL_PORT', 0, 65535);
  const optionalInteger = (name: 'CALL_LIMIT_CONCURRENT' | 'CALL_LIMIT_PER_MINUTE', most: number) =>
    read.optional(name) === null ? null : read.integer(name, 1, most);
  const rtp = {
    publicIp: read.optional('RTP_PUBLIC_IP'),
    portMin: read.integer('RTP_PORT_MIN', 1024, 65535),
    portMax: read.integer('RTP_PORT_MAX', 1024, 65535),
  };
  return {
    dataFolder,
    secretKey: secretKey(read.optional('TRUNKLINE_SECRET_KEY')),
    region: read.text('TRUNKLINE_REGION'),
    databaseFile: databaseFile(read.optional('DATABASE_URL'), dataFolder),
    host,
    port,
    url: read.optional('CONTROL_URL') ?? `http://${urlHost(host)}:${port}`,
    shutdownSeconds: read.integer('CONTROL_SHUTDOWN_SECONDS', 0, 3600),
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
      concurrent: optionalInteger('CALL_LIMIT_CONCURRENT', 10_000),
      per_minute: optionalInteger('CALL_LIMIT_PER_MINUTE', 10_000),
    },
    callLogDays: read.integer('CALL_LOG_DAYS', 1, 36_500),
    traceDays: read.integer('TRACE_DAYS', 1, 36_500),
    toolLogDays: read.integer('TOOL_LOG_DAYS', 1, 36_500),
    testRecordDays: read.integer('TEST_RECORD_DAYS', 1, 36_500),
    testRunsKept: read.integer('TEST_RUNS_KEPT', 1000, 10_000_000),
    portDays: read.integer('PORT_DAYS', 90, 36_500),
    tornadoDays: read.integer('TORNADO_DAYS', 1, 36_500),
    tools: {
      cacheMs: read.integer('TOOL_CACHE_SECONDS', 1, 86_400) * 1000,
      runsPerOrganization: read.integer('TOOL_RUNS_PER_ORG', 1, 10_000),
      code: {
        threads: read.integer('TOOL_CODE_THREADS', 1, 64),
        waiting: read.integer('TOOL_CODE_QUEUE', 1, 10_000),
        cpuMs: read.integer('TOOL_CODE_MS', 10, 60_000),
        memoryBytes: read.integer('TOOL_CODE_MEMORY_MB', 1, 1024) * 1_048_576,
      },
    },
    quotas: {
      pathways: read.integer('QUOTA_PATHWAYS', 1, 1_000_000),
      pathwayVersions: read.integer('QUOTA_PATHWAY_VERSIONS', 1, 1_000_000),
      graphBytes: read.integer('QUOTA_GRAPH_MB', 1, 1_000_000) * 1_048_576,
      tools: read.integer('QUOTA_TOOLS', 1, 1_000_000),
      personas: read.integer('QUOTA_PERSONAS', 1, 1_000_000),
      widgets: read.integer('QUOTA_WIDGETS', 1, 1_000_000),
      numbers: read.integer('QUOTA_NUMBERS', 1, 10_000_000),
      openThreads: read.integer('QUOTA_WIDGET_THREADS', 1, 10_000_000),
      openThreadsOfVisitor: read.integer('QUOTA_WIDGET_THREADS_PER_VISITOR', 1, 10_000_000),
      openThreadsOfAddress: read.integer('QUOTA_WIDGET_THREADS_PER_ADDRESS', 1, 10_000_000),
      scenarios: read.integer('QUOTA_SCENARIOS', 1, 1_000_000),
      integrationResources: read.integer('QUOTA_INTEGRATION_RESOURCES', 1, 1_000_000),
      chats: read.integer('QUOTA_CHATS', 1, 1_000_000),
      waitingRuns: read.integer('QUOTA_TEST_RUNS_WAITING', 1, 10_000_000),
    },
    auditDays: read.integer('AUDIT_DAYS', 1, 36_500),
    backupPassphrase: read.optional('BACKUP_PASSPHRASE'),
    edgeCommandTimeoutMs,
    edgeLostMs: read.integer('EDGE_LOST_SECONDS', 1, 604_800) * 1000,
    // A call being placed must not be taken for an abandoned one.
    callQueuedMs: Math.max(read.integer('CALL_QUEUED_SECONDS', 1, 86_400) * 1000, 2 * edgeCommandTimeoutMs),
    webhookTimeoutMs: read.integer('WEBHOOK_TIMEOUT_MS', 100, 60_000),
    alerts: {
      evaluationMs: read.integer('ALERT_EVALUATION_SECONDS', 1, 86_400) * 1000,
      probeGapMs: read.integer('ALERT_PROBE_GAP_SECONDS', 1, 604_800) * 1000,
      sendTimeoutMs: read.integer('ALERT_SEND_TIMEOUT_MS', 100, 300_000),
      operator: operatorAddresses(read.list('OPERATOR_ALERTS'), read.optional('SMTP_URL') !== null),
    },
    mail: mailSettings({
      url: read.optional('SMTP_URL'),
      from: read.optional('MAIL_FROM'),
      requireTls: read.flag('SMTP_REQUIRE_TLS'),
      ca: read.optional('SMTP_CA'),
    }),
    sms: smsSettings(read.url('SMS_API_URL'), read.optional('SMS_API_KEY'), read.optional('SMS_FROM')),
    agentTesting: {
      limits: {
        perOrganization: read.integer('TEST_RUNS_PER_ORG', 1, 10_000),
        concurrent: read.integer('TEST_RUNS', 1, 10_000),
        timeoutMs: read.integer('TEST_RUN_TIMEOUT_SECONDS', 1, 86_400) * 1000,
      },
      calls: {
        edgeMs: read.integer('TEST_CALL_EDGE_SECONDS', 1, 3600) * 1000,
        socketMs: read.integer('TEST_CALL_SOCKET_SECONDS', 1, 3600) * 1000,
      },
      streams: {
        perOrganization: read.integer('TEST_STREAMS_PER_ORG', 1, 100_000),
        heartbeatMs: read.integer('TEST_HEARTBEAT_SECONDS', 1, 30) * 1000,
      },
    },
    widgets: {
      visitors: {
        sessionsPerMinute: read.integer('WIDGET_SESSIONS_PER_MINUTE', 1, 1_000_000),
        requestsPerMinute: read.integer('WIDGET_REQUESTS_PER_MINUTE', 1, 1_000_000),
        messagesPerMinute: read.integer('WIDGET_MESSAGES_PER_MINUTE', 1, 1_000_000),
      },
      streams: {
        perWidget: read.integer('WIDGET_STREAMS_PER_WIDGET', 1, 100_000),
        perAddress: read.integer('WIDGET_STREAMS_PER_ADDRESS', 1, 100_000),
        mostPending: read.integer('WIDGET_STREAM_BUFFER', 1024, 16_777_216),
        heartbeatMs: read.integer('WIDGET_HEARTBEAT_SECONDS', 1, 30) * 1000,
      },
      mostMessages: read.integer('WIDGET_THREAD_MESSAGES', 2, 100_000),
      mostWaiting: read.integer('WIDGET_THREAD_QUEUE', 1, 1000),
      threadDays: read.integer('WIDGET_THREAD_DAYS', 1, 36_500),
    },
    edgeFrameBytes: read.integer('EDGE_FRAME_BYTES', 16_777_216, 268_435_456),
    porting: {
      countries: countries(read.list('PORTING_COUNTRIES')),
      carrier: carrierSettings(read.url('PORTING_CARRIER_URL'), {
        key: read.optional('PORTING_CARRIER_KEY'),
        pollMs: read.integer('PORTING_CARRIER_POLL_SECONDS', 10, 86_400) * 1000,
        timeoutMs: read.integer('PORTING_CARRIER_TIMEOUT_MS', 100, 300_000),
      }),
      webhookSecret: read.optional('PORTING_WEBHOOK_SECRET'),
      scan: scanSettings(read.optional('PORTING_VIRUS_SCAN')),
      scanTimeoutMs: read.integer('PORTING_SCAN_TIMEOUT_MS', 100, 600_000),
      uploadsAtOnce: read.integer('PORTING_UPLOADS', 1, 1000),
      unusedDocuments: read.integer('PORTING_UNUSED_DOCUMENTS', 1, 1_000_000),
    },
    models: { ...agentModels, ...readTestModels(read, agentModels.agent) },
    logLevel: read.choice('LOG_LEVEL', logLevels),
    instanceId: randomUUID(),
  };
}

function secretKey(value: string | null): string | null {
  if (value === null || /^[0-9a-fA-F]{64}$/.test(value)) return value;
  throw new SettingError('TRUNKLINE_SECRET_KEY must be 64 hexadecimal digits (32 bytes)');
}

function databaseFile(url: string | null, dataFolder: string): string {
  if (url === null) return resolve(dataFolder, 'control.db');
  if (url === ':memory:') return url;
  if (url.startsWith('file:')) return resolve(url.slice('file:'.length).replace(/^\/\//, ''));
  if (/^[a-z]+:\/\//i.test(url)) {
    throw new SettingError(`DATABASE_URL names "${url.split(':')[0]}"; this version stores in SQLite only`);
  }
  return isAbsolute(url) ? url : resolve(url);
}

function certificateFiles(cert: string | null, key: string | null, ca: string | null): ControlConfig['tls'] {
  if (cert === null && key === null) return null;
  if (cert === null || key === null) throw new SettingError('TLS_CERT and TLS_KEY must be set together');
  return { cert: resolve(cert), key: resolve(key), ca: ca && resolve(ca) };
}

function countries(entries: string[]): string[] {
  const wrong = entries.find((entry) => !/^[A-Za-z]{2}$/.test(entry));
  if (wrong === undefined) return entries.map((entry) => entry.toUpperCase());
  throw new SettingError(`PORTING_COUNTRIES must be country codes of two letters, not "${wrong}"`);
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
