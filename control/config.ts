/** Settings of the control plane. The only place of `control` that reads the environment. */
import { randomUUID } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import {
  type AgentModelSettings,
  agentModelSettings,
  readAgentModels,
  readTestModels,
  type TestModelSettings,
  testModelSettings,
} from '#shared/models/model-settings.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { type Environment, type Setting, SettingError, settingReader } from '#shared/setting-reader.ts';

export const settings = [
  {
    name: 'TRUNKLINE_DATA',
    default: './data',
    description: 'Folder of the database, keys and certificates.',
  },
  {
    name: 'TRUNKLINE_SECRET_KEY',
    default: '',
    description:
      'Key that encrypts stored secrets: 64 hexadecimal digits. Unset: made once and kept in the data folder.',
  },
  {
    name: 'TRUNKLINE_REGION',
    default: 'local',
    description: 'Name of the region that this deployment serves.',
  },
  {
    name: 'DATABASE_URL',
    default: '',
    description: 'SQLite file as a path or file: URL. Unset: control.db in the data folder.',
  },
  { name: 'CONTROL_HOST', default: '127.0.0.1', description: 'Address that the HTTP API listens on.' },
  { name: 'CONTROL_PORT', default: '8080', description: 'Port of the HTTP API.' },
  {
    name: 'CONTROL_URL',
    default: 'http://<CONTROL_HOST>:<CONTROL_PORT>',
    description: 'Where others reach the HTTP API.',
  },
  {
    name: 'CONTROL_SHUTDOWN_SECONDS',
    default: '10',
    description: 'Longest wait for running requests after SIGTERM.',
  },
  {
    name: 'TRUSTED_PROXIES',
    default: '',
    description:
      'Addresses and networks, separated by commas, of proxies whose X-Forwarded-For names the client.',
  },
  {
    name: 'EXPECT_EDGE',
    default: 'false',
    description: 'Whether /health waits for an edge that has applied its configuration.',
  },
  { name: 'SIP_HOST', default: '0.0.0.0', description: 'Address that the edge listens on for SIP over TLS.' },
  { name: 'SIP_TLS_PORT', default: '5061', description: 'Port of SIP over TLS.' },
  {
    name: 'SIP_PUBLIC_HOST',
    default: '',
    description: 'Name or address under which peers reach the edge; goes into the certificate.',
  },
  {
    name: 'RTP_PUBLIC_IP',
    default: '',
    description: 'Address that the edge names in SDP, shown as an address for firewalls.',
  },
  { name: 'RTP_PORT_MIN', default: '10000', description: 'Lowest RTP port.' },
  { name: 'RTP_PORT_MAX', default: '20000', description: 'Highest RTP port.' },
  {
    name: 'TLS_CERT',
    default: '',
    description: 'PEM file of a server certificate, with its chain. Unset: one is made.',
  },
  { name: 'TLS_KEY', default: '', description: 'PEM file of the key of TLS_CERT.' },
  {
    name: 'TLS_CA',
    default: '',
    description: 'PEM file of the authority that issued TLS_CERT, named in bootstrap.json.',
  },
  {
    name: 'SIP_ENTITLEMENT_DEFAULT',
    default: 'false',
    description: 'Whether new organizations may use SIP.',
  },
  {
    name: 'SIP_OPEN_INBOUND',
    default: 'false',
    description: 'Whether inbound calls are taken from every source when a number lists none.',
  },
  {
    name: 'ALLOW_PRIVATE_TARGETS',
    default: '',
    description:
      'Networks in CIDR form, separated by commas, that may be contacted although they are private.',
  },
  {
    name: 'CORS_ORIGINS',
    default: '',
    description:
      'Origins, separated by commas, whose pages may use the API, such as `https://console.example.com`.',
  },
  { name: 'RATE_LIMIT_PER_MINUTE', default: '600', description: 'Requests per minute and API key.' },
  {
    name: 'METRICS_PUBLIC',
    default: 'false',
    description: 'Whether /metrics answers without an operator key.',
  },
  {
    name: 'CALL_LIMIT_CONCURRENT',
    default: '',
    description: 'Outgoing calls at a time of an organization that has set no limits. Unset: no limit.',
  },
  {
    name: 'CALL_LIMIT_PER_MINUTE',
    default: '',
    description: 'Outgoing calls within 60 s of such an organization. Unset: no limit.',
  },
  { name: 'CALL_LOG_DAYS', default: '90', description: 'Days that call records are kept.' },
  { name: 'TRACE_DAYS', default: '14', description: 'Days that SIP traces are kept.' },
  { name: 'TOOL_LOG_DAYS', default: '14', description: 'Days that runs of tools are kept.' },
  {
    name: 'TEST_RECORD_DAYS',
    default: '90',
    description: 'Days that what was said and done in test runs is kept; their verdicts stay.',
  },
  { name: 'TORNADO_DAYS', default: '90', description: 'Days that ended tornado sessions are kept.' },
  {
    name: 'TOOL_CACHE_SECONDS',
    default: '600',
    description: 'Time that a tool with `cache` uses a result again within its conversation.',
  },
  {
    name: 'TOOL_RUNS_PER_ORG',
    default: '50',
    description: 'Tools of one organization that run at a time; further runs fail.',
  },
  {
    name: 'TOOL_CODE_THREADS',
    default: '2',
    description: 'Threads that run the code of `custom-code` tools.',
  },
  {
    name: 'TOOL_CODE_QUEUE',
    default: '20',
    description: 'Runs of such code of one organization that wait for a thread; more fail.',
  },
  {
    name: 'TOOL_CODE_MS',
    default: '5000',
    description: 'Longest time that such code computes; the timeout of the tool limits it, too.',
  },
  { name: 'TOOL_CODE_MEMORY_MB', default: '32', description: 'Memory of such code.' },
  { name: 'QUOTA_PATHWAYS', default: '500', description: 'Pathways that an organization keeps.' },
  { name: 'QUOTA_PATHWAY_VERSIONS', default: '200', description: 'Versions that a pathway keeps.' },
  { name: 'QUOTA_GRAPH_MB', default: '200', description: 'Graphs of an organization, versions included.' },
  { name: 'QUOTA_TOOLS', default: '1000', description: 'Tools that an organization keeps.' },
  { name: 'QUOTA_PERSONAS', default: '1000', description: 'Personas that an organization keeps.' },
  { name: 'QUOTA_WIDGETS', default: '100', description: 'Widgets that an organization keeps.' },
  {
    name: 'QUOTA_NUMBERS',
    default: '10000',
    description: 'Numbers that an organization holds, those that are being ported included.',
  },
  {
    name: 'QUOTA_WIDGET_THREADS',
    default: '10000',
    description: 'Open threads of one widget; more are refused until some end.',
  },
  {
    name: 'QUOTA_WIDGET_THREADS_PER_VISITOR',
    default: '50',
    description: 'Open threads of one visitor of a widget.',
  },
  {
    name: 'QUOTA_WIDGET_THREADS_PER_ADDRESS',
    default: '200',
    description: 'Open threads of a widget that visitors of one client address began.',
  },
  { name: 'AUDIT_DAYS', default: '365', description: 'Days that the log of changes is kept.' },
  {
    name: 'BACKUP_PASSPHRASE',
    default: '',
    description: 'Seals the keys that go into a backup. Unset: keys are left out of backups.',
  },
  {
    name: 'EDGE_COMMAND_TIMEOUT_MS',
    default: '5000',
    description: 'Longest wait for the answer of an edge to a command.',
  },
  {
    name: 'EDGE_LOST_SECONDS',
    default: '900',
    description: 'Seconds without a connection of an edge after which its calls are closed with edge_lost.',
  },
  {
    name: 'CALL_QUEUED_SECONDS',
    default: '60',
    description:
      'Seconds after which a call that no edge reports is closed with edge_unavailable; at least twice EDGE_COMMAND_TIMEOUT_MS.',
  },
  {
    name: 'WEBHOOK_TIMEOUT_MS',
    default: '10000',
    description: 'Longest wait for the answer to one attempt of a webhook.',
  },
  {
    name: 'WIDGET_SESSIONS_PER_MINUTE',
    default: '30',
    description: 'Sessions of widget visitors per minute and client address.',
  },
  {
    name: 'WIDGET_REQUESTS_PER_MINUTE',
    default: '300',
    description: 'Other requests of widget visitors per minute and client address.',
  },
  {
    name: 'WIDGET_MESSAGES_PER_MINUTE',
    default: '30',
    description: 'Messages of a visitor per minute and thread.',
  },
  {
    name: 'WIDGET_THREAD_MESSAGES',
    default: '1000',
    description: 'A widget thread ends with its message of this number.',
  },
  {
    name: 'WIDGET_THREAD_QUEUE',
    default: '10',
    description: 'Messages of one widget thread that are being answered or wait for it; more are refused.',
  },
  { name: 'WIDGET_THREAD_DAYS', default: '90', description: 'Days that ended widget threads are kept.' },
  {
    name: 'TEST_RUNS_PER_ORG',
    default: '20',
    description: 'Test runs of one organization at a time; more wait.',
  },
  { name: 'TEST_RUNS', default: '64', description: 'Test runs of all organizations at a time; more wait.' },
  {
    name: 'TEST_RUN_TIMEOUT_SECONDS',
    default: '600',
    description: 'Longest time of a test run; then it ends in ERROR.',
  },
  {
    name: 'TEST_CALL_EDGE_SECONDS',
    default: '30',
    description: 'Time that a test run over a call waits for an edge that could place it.',
  },
  {
    name: 'TEST_CALL_SOCKET_SECONDS',
    default: '30',
    description: 'Time that the edge may take to open the socket of a test run over a call.',
  },
  {
    name: 'TEST_STREAMS_PER_ORG',
    default: '50',
    description: 'Open event streams of test runs and batches of one organization.',
  },
  {
    name: 'TEST_HEARTBEAT_SECONDS',
    default: '15',
    description: 'Silence of such a stream after which a sign of life is sent.',
  },
  {
    name: 'WIDGET_STREAMS_PER_WIDGET',
    default: '1000',
    description: 'Event streams of one widget that may be open.',
  },
  {
    name: 'WIDGET_STREAMS_PER_ADDRESS',
    default: '20',
    description: 'Event streams that visitors of one client address may have open.',
  },
  {
    name: 'WIDGET_STREAM_BUFFER',
    default: '65536',
    description: 'Characters of an answer in the making that are kept for a slow event stream.',
  },
  {
    name: 'WIDGET_HEARTBEAT_SECONDS',
    default: '15',
    description:
      'Longest silence of an event stream; one that is not read for three times as long is closed.',
  },
  { name: 'EDGE_FRAME_BYTES', default: '16777216', description: 'Largest frame that an edge may send.' },
  { name: 'ALERT_EVALUATION_SECONDS', default: '60', description: 'Time between two evaluations of alerts.' },
  {
    name: 'ALERT_PROBE_GAP_SECONDS',
    default: '180',
    description:
      'Without a probe for longer, nobody knows how a trunk is; more than two times TRUNK_PROBE_INTERVAL_S.',
  },
  {
    name: 'ALERT_SEND_TIMEOUT_MS',
    default: '15000',
    description: 'Longest time of one attempt to send an alert by mail or SMS.',
  },
  {
    name: 'SMTP_URL',
    default: '',
    description:
      'Mail server for alerts and ports: smtp://user:password@host:port, or smtps:// for TLS from the start. Unset: the log.',
  },
  { name: 'MAIL_FROM', default: '', description: 'Address that mail is from; needed with SMTP_URL.' },
  {
    name: 'SMTP_REQUIRE_TLS',
    default: 'false',
    description:
      'Whether mail is sent over TLS only. Unset: TLS where the server offers it; always with a password.',
  },
  {
    name: 'SMTP_CA',
    default: '',
    description: 'PEM file of the authorities that the mail server is trusted by. Unset: those of Node.',
  },
  {
    name: 'SMS_API_URL',
    default: '',
    description: 'SMS service for alerts: takes POST {from, to, text} as JSON. Unset: the log.',
  },
  { name: 'SMS_API_KEY', default: '', description: 'Bearer key of SMS_API_URL.' },
  { name: 'SMS_FROM', default: '', description: 'Sender of SMS; needed with SMS_API_URL.' },
  {
    name: 'PORTING_COUNTRIES',
    default: 'US,CA,PR,GB',
    description: 'Countries whose numbers are ported, two letters each.',
  },
  {
    name: 'PORTING_CARRIER_URL',
    default: '',
    description: 'Porting API of the carrier (docs/porting.md). Unset: an operator does the work by hand.',
  },
  { name: 'PORTING_CARRIER_KEY', default: '', description: 'Bearer key of PORTING_CARRIER_URL.' },
  {
    name: 'PORTING_WEBHOOK_SECRET',
    default: '',
    description:
      'Secret that the carrier signs its webhook with. Unset: no webhook, the carrier is only asked.',
  },
  {
    name: 'PORTING_CARRIER_POLL_SECONDS',
    default: '900',
    description: 'Time between two questions to the carrier about an order.',
  },
  {
    name: 'PORTING_CARRIER_TIMEOUT_MS',
    default: '15000',
    description: 'Longest wait for an answer of the carrier.',
  },
  {
    name: 'PORTING_VIRUS_SCAN',
    default: '',
    description:
      'Looks through uploaded documents: tcp://host:port of clamd, or the path of a program that reads the file from stdin and exits with 0 or 1 (found). Unset: nobody does.',
  },
  { name: 'PORTING_SCAN_TIMEOUT_MS', default: '30000', description: 'Longest time of one virus scan.' },
  { name: 'PORTING_UPLOADS', default: '8', description: 'Uploads of documents at the same time.' },
  {
    name: 'PORTING_UNUSED_DOCUMENTS',
    default: '100',
    description: 'Documents of an organization that no port request uses, at most.',
  },
  ...agentModelSettings,
  ...testModelSettings,
  {
    name: 'LOG_LEVEL',
    default: 'info',
    description: 'Least severe lines of the log: fatal, error, warn, info, debug, trace or silent.',
  },
] as const satisfies readonly Setting[];

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The server that takes mail. */
export interface MailSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the start. */
  readonly secure: boolean;
  readonly user: string | null;
  readonly password: string | null;
  readonly requireTls: boolean;
  /** PEM file of trusted authorities. */
  readonly ca: string | null;
  /** An address, or a name with an address in angle brackets. */
  readonly from: string;
}

export interface SmsSettings {
  readonly url: string;
  readonly key: string | null;
  readonly from: string;
}

/** Who looks through uploaded files. */
export type ScanSettings =
  | { readonly kind: 'clamd'; readonly host: string; readonly port: number }
  | { readonly kind: 'program'; readonly path: string };

/** The carrier's porting API. */
export interface CarrierSettings {
  readonly url: string;
  readonly key: string | null;
  readonly pollMs: number;
  readonly timeoutMs: number;
}

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
  /** Of organizations that have set none. */
  readonly callLimits: { readonly concurrent: number | null; readonly per_minute: number | null };
  readonly callLogDays: number;
  readonly traceDays: number;
  readonly toolLogDays: number;
  readonly testRecordDays: number;
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
  };
  readonly auditDays: number;
  /** Null: backups hold no keys. */
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
  /** Told in log lines, so that those of two processes can be told apart. */
  readonly instanceId: string;
}

/**
 * Reads the settings from environment variables.
 * @throws SettingError for the first value that is not usable
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
    },
    auditDays: read.integer('AUDIT_DAYS', 1, 36_500),
    backupPassphrase: read.optional('BACKUP_PASSPHRASE'),
    edgeCommandTimeoutMs,
    edgeLostMs: read.integer('EDGE_LOST_SECONDS', 1, 604_800) * 1000,
    // A call that is being placed must not be taken for one that nobody places.
    callQueuedMs: Math.max(read.integer('CALL_QUEUED_SECONDS', 1, 86_400) * 1000, 2 * edgeCommandTimeoutMs),
    webhookTimeoutMs: read.integer('WEBHOOK_TIMEOUT_MS', 100, 60_000),
    alerts: {
      evaluationMs: read.integer('ALERT_EVALUATION_SECONDS', 1, 86_400) * 1000,
      probeGapMs: read.integer('ALERT_PROBE_GAP_SECONDS', 1, 604_800) * 1000,
      sendTimeoutMs: read.integer('ALERT_SEND_TIMEOUT_MS', 100, 300_000),
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
    edgeFrameBytes: read.integer('EDGE_FRAME_BYTES', 65_536, 268_435_456),
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

interface GivenMail {
  readonly url: string | null;
  readonly from: string | null;
  readonly requireTls: boolean;
  readonly ca: string | null;
}

function mailSettings({ url, from, requireTls, ca }: GivenMail): MailSettings | null {
  if (url === null) return null;
  const target = URL.canParse(url) ? new URL(url) : null;
  // The value itself is not told, because it may hold a password.
  if (!target || !/^smtps?:$/.test(target.protocol) || target.hostname === '') {
    throw new SettingError('SMTP_URL must have the form smtp://user:password@host:port, or smtps://');
  }
  if (from === null || !/^(?:[^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(from)) {
    throw new SettingError('MAIL_FROM must be a mail address when SMTP_URL is set');
  }
  const secure = target.protocol === 'smtps:';
  return {
    host: target.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: target.port === '' ? (secure ? 465 : 587) : Number(target.port),
    secure,
    user: target.username === '' ? null : decodeURIComponent(target.username),
    password: target.password === '' ? null : decodeURIComponent(target.password),
    requireTls,
    ca: ca && resolve(ca),
    from,
  };
}

function smsSettings(url: string | null, key: string | null, from: string | null): SmsSettings | null {
  if (url === null) return null;
  if (from === null) throw new SettingError('SMS_FROM must be set when SMS_API_URL is');
  return { url, key, from };
}

function countries(entries: string[]): string[] {
  const wrong = entries.find((entry) => !/^[A-Za-z]{2}$/.test(entry));
  if (wrong === undefined) return entries.map((entry) => entry.toUpperCase());
  throw new SettingError(`PORTING_COUNTRIES must be country codes of two letters, not "${wrong}"`);
}

function carrierSettings(url: string | null, others: Omit<CarrierSettings, 'url'>): CarrierSettings | null {
  if (url === null) return null;
  if (URL.canParse(url)) return { url: url.replace(/\/+$/, ''), ...others };
  throw new SettingError('PORTING_CARRIER_URL must be a URL');
}

function scanSettings(text: string | null): ScanSettings | null {
  if (text === null) return null;
  if (isAbsolute(text)) return { kind: 'program', path: text };
  const target = URL.canParse(text) ? new URL(text) : null;
  if (target?.protocol === 'tcp:' && target.hostname !== '' && target.port !== '') {
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
    return { kind: 'clamd', host, port: Number(target.port) };
  }
  throw new SettingError(
    `PORTING_VIRUS_SCAN must be tcp://host:port or the absolute path of a program, not "${text}"`,
  );
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

/** A host as it stands in a URL; a listening address that means "all" is reached on this machine itself. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
