/** Settings of the control plane. The only place of `control` that reads the environment. */
import { randomUUID } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
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
  { name: 'RATE_LIMIT_PER_MINUTE', default: '600', description: 'Requests per minute and API key.' },
  {
    name: 'METRICS_PUBLIC',
    default: 'false',
    description: 'Whether /metrics answers without an operator key.',
  },
  { name: 'CALL_LOG_DAYS', default: '90', description: 'Days that call records are kept.' },
  { name: 'TRACE_DAYS', default: '14', description: 'Days that SIP traces are kept.' },
  {
    name: 'EDGE_COMMAND_TIMEOUT_MS',
    default: '5000',
    description: 'Longest wait for the answer of an edge to a command.',
  },
  {
    name: 'WEBHOOK_TIMEOUT_MS',
    default: '10000',
    description: 'Longest wait for the answer to one attempt of a webhook.',
  },
  { name: 'EDGE_FRAME_BYTES', default: '16777216', description: 'Largest frame that an edge may send.' },
  {
    name: 'LOG_LEVEL',
    default: 'info',
    description: 'Least severe lines of the log: fatal, error, warn, info, debug, trace or silent.',
  },
] as const satisfies readonly Setting[];

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

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
  readonly expectEdge: boolean;
  readonly sip: { readonly host: string; readonly port: number; readonly publicHost: string | null };
  readonly rtp: { readonly publicIp: string | null; readonly portMin: number; readonly portMax: number };
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string | null } | null;
  readonly sipEntitlementDefault: boolean;
  readonly openInbound: boolean;
  readonly allowPrivateTargets: readonly string[];
  readonly requestsPerMinute: number;
  readonly metricsPublic: boolean;
  readonly callLogDays: number;
  readonly traceDays: number;
  readonly edgeCommandTimeoutMs: number;
  readonly edgeFrameBytes: number;
  readonly webhookTimeoutMs: number;
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
  const host = read.text('CONTROL_HOST');
  const port = read.integer('CONTROL_PORT', 0, 65535);
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
    allowPrivateTargets: networks(read.list('ALLOW_PRIVATE_TARGETS')),
    requestsPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', 1, 1_000_000),
    metricsPublic: read.flag('METRICS_PUBLIC'),
    callLogDays: read.integer('CALL_LOG_DAYS', 1, 36_500),
    traceDays: read.integer('TRACE_DAYS', 1, 36_500),
    edgeCommandTimeoutMs: read.integer('EDGE_COMMAND_TIMEOUT_MS', 100, 60_000),
    webhookTimeoutMs: read.integer('WEBHOOK_TIMEOUT_MS', 100, 60_000),
    edgeFrameBytes: read.integer('EDGE_FRAME_BYTES', 65_536, 268_435_456),
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

function networks(entries: string[]): string[] {
  try {
    parseNetworks(entries);
  } catch (error) {
    throw new SettingError(
      `ALLOW_PRIVATE_TARGETS: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return entries;
}

/** A host as it stands in a URL; a listening address that means "all" is reached on this machine itself. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
