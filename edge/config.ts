/** Settings of the edge. The only code in `edge` that reads the environment. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EngineLimits } from '#shared/engine-protocol/limits.ts';
import { type FliteVoice, fliteVoices } from '#shared/models/flite.ts';
import { type AgentModelSettings, readAgentModels } from '#shared/models/model-settings.ts';
import { pathExists } from '#shared/path-exists.ts';
import { type Environment, SettingError, settingReader } from '#shared/setting-reader.ts';
import type { AgentTestLimits } from './agent-tests.ts';
import { workerLocation } from './media/worker/location.ts';
import { settings } from './settings.ts';
import type { RegistrationSettings } from './signaling/registration/registration.ts';

type SettingName = (typeof settings)[number]['name'];

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

interface SpeechServer {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

/** Times in milliseconds unless the name says otherwise. */
export interface EdgeSettings {
  readonly dataDir: string;
  /** Encrypts the stored configuration; null: the key in the data folder. */
  readonly secretKey: string | null;
  readonly sip: {
    readonly host: string;
    readonly port: number;
    readonly publicHost: string | null;
    readonly wssPort: number | null;
  };
  readonly rtp: {
    readonly host: string;
    readonly publicIp: string | null;
    readonly portMin: number;
    readonly portMax: number;
  };
  readonly tls: {
    readonly cert: string;
    readonly key: string;
    readonly ca: string | null;
    /** Folder of client certificates; may be missing. */
    readonly clients: string;
  };
  /** null: the embedded engine. */
  readonly drachtio: { readonly host: string; readonly port: number; readonly secret: string } | null;
  /** Where the engine sends copies of SIP messages; port 0: any free port. */
  readonly hep: { readonly host: string; readonly port: number };
  readonly controlUrl: string | null;
  readonly edgeToken: string | null;
  /** Names as in the engine. */
  readonly engineLimits: Partial<EngineLimits>;
  readonly maxCalls: number;
  readonly strangers: {
    readonly tries: number;
    readonly windowS: number;
    readonly blockS: number;
    readonly maxSources: number;
  };
  readonly call: {
    readonly ringAfterMs: number;
    readonly prepareTimeoutMs: number;
    readonly mediaTimeoutMs: number;
    readonly followRefer: boolean;
  };
  readonly agent: {
    readonly greetingMs: number;
    readonly voicemail: { readonly watchMs: number; readonly greetingMs: number };
    readonly acceptWithinMs: number;
  };
  /** Limits of test runs over a call. */
  readonly testCalls: AgentTestLimits;
  readonly session: { readonly expiresS: number; readonly minS: number };
  readonly refers: { readonly subscriptionMs: number; readonly outcomeMs: number };
  readonly trunks: {
    readonly ringTimeoutMs: number;
    /** empty: those of the system */
    readonly dnsServers: readonly string[];
    readonly probes: { readonly intervalMs: number; readonly limitMs: number; readonly concurrency: number };
    readonly failbackAfter: number;
    readonly failoverAfter: number;
  };
  readonly registration: RegistrationSettings;
  readonly drainTimeoutMs: number;
  readonly media: {
    readonly workers: number | null;
    readonly workerBin: string;
    readonly acceptUnmarked: boolean;
    /** null: the system's folders. */
    readonly codecLibraries: string | null;
  };
  /** Used without a speech server. */
  readonly voice: FliteVoice;
  readonly tts: (SpeechServer & { readonly voice: string }) | null;
  readonly stt: SpeechServer | null;
  readonly models: AgentModelSettings;
  readonly logLevel: (typeof logLevels)[number];
}

/** @throws SettingError for the first unusable value */
export function readSettings(env: Environment = process.env): EdgeSettings {
  const read = settingReader(settings, env);
  const dataDir = resolve(read.text('TRUNKLINE_DATA'));
  const tlsFile = (name: 'TLS_CERT' | 'TLS_KEY' | 'TLS_CA', file: string): string =>
    resolve(read.optional(name) ?? join(dataDir, 'tls', file));
  const ca = tlsFile('TLS_CA', 'ca.crt');
  const expiresS = read.integer('SESSION_EXPIRES_S', 90, 86_400);
  return {
    dataDir,
    secretKey: secretKey(read.optional('EDGE_SECRET_KEY')),
    sip: {
      host: read.text('SIP_HOST'),
      port: read.integer('SIP_TLS_PORT', 1, 65_535),
      publicHost: read.optional('SIP_PUBLIC_HOST'),
      wssPort: read.optional('SIP_WSS_PORT') === null ? null : read.integer('SIP_WSS_PORT', 0, 65_535),
    },
    rtp: rtpPorts(read),
    tls: {
      cert: tlsFile('TLS_CERT', 'server.crt'),
      key: tlsFile('TLS_KEY', 'server.key'),
      ca: read.optional('TLS_CA') !== null || pathExists(ca) ? ca : null,
      clients: clientFolder(read.optional('TLS_CLIENT_CERTS'), dataDir),
    },
    drachtio: drachtio(read),
    hep: { host: read.text('HEP_HOST'), port: hepPort(read) },
    controlUrl: read.url('CONTROL_URL'),
    edgeToken: read.optional('EDGE_TOKEN'),
    engineLimits: {
      maxConnections: read.integer('SIP_MAX_CONNECTIONS', 1, 1_000_000),
      maxConnectionsPerAddress: read.integer('SIP_MAX_CONNECTIONS_PER_ADDRESS', 1, 1_000_000),
      handshakesPerSecond: read.integer('SIP_HANDSHAKES_PER_SECOND', 1, 1_000_000),
      strangersPerAddress: read.integer('SIP_STRANGER_CONNECTIONS_PER_ADDRESS', 1, 1_000_000),
      strangersPerNetwork: read.integer('SIP_STRANGER_CONNECTIONS_PER_NETWORK', 1, 1_000_000),
      firstMessageTimeoutMs: read.integer('SIP_STRANGER_FIRST_MESSAGE_S', 1, 600) * 1000,
      requestsPerSecond: read.integer('SIP_REQUESTS_PER_SECOND', 1, 1_000_000),
      maxMessageBytes: read.integer('SIP_MAX_MESSAGE_BYTES', 4096, 1_048_576),
      maxHeaders: read.integer('SIP_MAX_HEADERS', 16, 10_000),
      connectTimeoutMs: read.integer('SIP_CONNECT_TIMEOUT_S', 1, 60) * 1000,
    },
    maxCalls: read.integer('MAX_CALLS', 1, 100_000),
    strangers: {
      tries: read.integer('INBOUND_TRIES', 1, 10_000),
      windowS: read.integer('INBOUND_TRIES_WINDOW_S', 1, 86_400),
      blockS: read.integer('INBOUND_BLOCK_S', 1, 86_400),
      maxSources: read.integer('INBOUND_SOURCES', 1, 1_000_000),
    },
    call: {
      ringAfterMs: read.integer('RING_AFTER_MS', 0, 60_000),
      prepareTimeoutMs: read.integer('AGENT_PREPARE_TIMEOUT_S', 1, 60) * 1000,
      mediaTimeoutMs: read.integer('MEDIA_TIMEOUT_S', 0, 86_400) * 1000,
      followRefer: read.flag('FOLLOW_REFER'),
    },
    agent: {
      greetingMs: read.integer('GREETING_WAIT_S', 1, 60) * 1000,
      voicemail: {
        watchMs: read.integer('VOICEMAIL_WATCH_S', 1, 120) * 1000,
        greetingMs: read.integer('VOICEMAIL_GREETING_MS', 1000, 60_000),
      },
      acceptWithinMs: read.integer('TRANSFER_ACCEPT_S', 1, 120) * 1000,
    },
    testCalls: {
      caller: {
        turnEndMs: read.integer('TEST_CALL_TURN_END_MS', 100, 60_000),
        patienceMs: read.integer('TEST_CALL_PATIENCE_S', 1, 600) * 1000,
        maxTurnSeconds: read.integer('TEST_CALL_TURN_S', 1, 600),
      },
      ringMs: read.integer('TEST_CALL_RING_S', 1, 600) * 1000,
      otherEndMs: read.integer('TEST_CALL_LAST_WAIT_S', 1, 60) * 1000,
      socketMs: read.integer('TEST_CALL_SOCKET_S', 1, 60) * 1000,
    },
    session: { expiresS, minS: read.integer('SESSION_MIN_S', 90, expiresS) },
    refers: {
      subscriptionMs: read.integer('REFER_TIMEOUT_S', 1, 3600) * 1000,
      outcomeMs: read.integer('REFER_NOTIFY_TIMEOUT_S', 1, 3600) * 1000,
    },
    trunks: {
      ringTimeoutMs: read.integer('RING_TIMEOUT_S', 1, 600) * 1000,
      dnsServers: read.list('DNS_SERVERS'),
      probes: {
        intervalMs: read.integer('TRUNK_PROBE_INTERVAL_S', 1, 86_400) * 1000,
        limitMs: read.integer('TRUNK_PROBE_TIMEOUT_S', 1, 60) * 1000,
        concurrency: read.integer('TRUNK_PROBE_CONCURRENCY', 1, 10_000),
      },
      failbackAfter: read.integer('TRUNK_FAILBACK_PROBES', 1, 1000),
      failoverAfter: read.integer('TRUNK_FAILOVER_PROBES', 1, 1000),
    },
    registration: registrationSettings(read),
    drainTimeoutMs: read.integer('DRAIN_TIMEOUT_S', 0, 86_400) * 1000,
    media: {
      workers: read.isSet('MEDIA_WORKERS') ? read.integer('MEDIA_WORKERS', 1, 256) : null,
      workerBin: read.optional('MEDIASOUP_WORKER') ?? workerLocation(env).binary,
      acceptUnmarked: read.flag('MEDIASOUP_WORKER_ACCEPT'),
      codecLibraries: read.optional('CODEC_LIBRARIES'),
    },
    ...voiceSettings(read),
    stt: speechServer(read, 'STT_BASE_URL', 'STT_API_KEY', 'STT_MODEL'),
    models: readAgentModels(read),
    logLevel: read.choice('LOG_LEVEL', logLevels),
  };
}

export interface ControlAddress {
  readonly controlUrl: string;
  readonly edgeToken: string;
}

/**
 * Address of control, from the settings or from the file that control's first start writes to the data folder. Waits
 * for that file, because both programs may be started together.
 * @throws SettingError when it does not appear within `waitMs`
 */
export async function controlAddress(config: EdgeSettings, waitMs = 15_000): Promise<ControlAddress> {
  const file = join(config.dataDir, 'bootstrap.json');
  const { controlUrl, edgeToken } = config;
  if (controlUrl !== null && edgeToken !== null) return { controlUrl, edgeToken };
  const stepMs = 100;
  for (let waited = 0; ; waited += stepMs) {
    const found = readBootstrap(file);
    if (found) return { controlUrl: controlUrl ?? found.controlUrl, edgeToken: edgeToken ?? found.edgeToken };
    if (waited >= waitMs) break;
    await pause(stepMs);
  }
  throw new SettingError(
    `CONTROL_URL and EDGE_TOKEN are not both set and ${file} is missing or incomplete: start control first, or set both`,
  );
}

/** Waits for the certificate files that control creates on its first start. @throws SettingError when one is missing */
export async function certificates(config: EdgeSettings, waitMs = 15_000): Promise<void> {
  const stepMs = 100;
  for (const [name, file] of [
    ['TLS_CERT', config.tls.cert],
    ['TLS_KEY', config.tls.key],
  ] as const) {
    for (let waited = 0; !pathExists(file); waited += stepMs) {
      if (waited >= waitMs) {
        throw new SettingError(
          `${name}: the file ${file} does not exist; start control first, which creates it, or set another file`,
        );
      }
      await pause(stepMs);
    }
  }
}

function secretKey(value: string | null): string | null {
  if (value === null || /^[0-9a-fA-F]{64}$/.test(value)) return value;
  throw new SettingError('EDGE_SECRET_KEY must be 64 hexadecimal digits (32 bytes)');
}

function readBootstrap(file: string): ControlAddress | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { control_url: controlUrl, edge_token: edgeToken } = value as Record<string, unknown>;
  return typeof controlUrl === 'string' && typeof edgeToken === 'string' ? { controlUrl, edgeToken } : null;
}

type Reader = ReturnType<typeof settingReader<SettingName>>;

function rtpPorts(read: Reader): EdgeSettings['rtp'] {
  const portMin = read.integer('RTP_PORT_MIN', 1024, 65_534);
  const portMax = read.integer('RTP_PORT_MAX', 1025, 65_535);
  if (portMax <= portMin) {
    throw new SettingError(`RTP_PORT_MAX must be greater than RTP_PORT_MIN (${portMin}), not "${portMax}"`);
  }
  return { host: read.text('RTP_HOST'), publicIp: read.optional('RTP_PUBLIC_IP'), portMin, portMax };
}

function registrationSettings(read: Reader): RegistrationSettings {
  return {
    perSecond: read.integer('REGISTER_PER_SECOND', 1, 10_000),
    timeoutMs: read.integer('REGISTER_TIMEOUT_S', 1, 32) * 1000,
    keepaliveMs: read.integer('REGISTER_KEEPALIVE_S', 0, 3600) * 1000,
    retryMs: read.integer('REGISTER_RETRY_S', 1, 3600) * 1000,
    retryMaxMs: read.integer('REGISTER_RETRY_MAX_S', 1, 86_400) * 1000,
    refusedPauseMs: read.integer('REGISTER_REFUSED_PAUSE_S', 1, 86_400) * 1000,
  };
}

function clientFolder(named: string | null, dataDir: string): string {
  const folder = resolve(named ?? join(dataDir, 'tls', 'clients'));
  if (named === null || pathExists(folder)) return folder;
  throw new SettingError(
    `TLS_CLIENT_CERTS: the folder ${folder} does not exist; create it, or unset the setting`,
  );
}

function drachtio(read: Reader): EdgeSettings['drachtio'] {
  const host = read.optional('DRACHTIO_HOST');
  if (host === null) return null;
  const secret = read.optional('DRACHTIO_SECRET');
  if (secret === null) throw new SettingError('DRACHTIO_SECRET must be set when DRACHTIO_HOST is');
  return { host, port: read.integer('DRACHTIO_PORT', 1, 65_535), secret };
}

/** The embedded engine is told the port; another engine has it in its configuration. */
function hepPort(read: Reader): number {
  if (read.isSet('HEP_PORT')) return read.integer('HEP_PORT', 0, 65_535);
  return read.isSet('DRACHTIO_HOST') ? 9060 : 0;
}

function speechServer(
  read: Reader,
  url: 'TTS_BASE_URL' | 'STT_BASE_URL',
  key: 'TTS_API_KEY' | 'STT_API_KEY',
  model: 'TTS_MODEL' | 'STT_MODEL',
): SpeechServer | null {
  const baseUrl = read.url(url);
  return baseUrl === null ? null : { baseUrl, apiKey: read.optional(key), model: read.text(model) };
}

function voiceSettings(read: Reader): Pick<EdgeSettings, 'voice' | 'tts'> {
  const server = speechServer(read, 'TTS_BASE_URL', 'TTS_API_KEY', 'TTS_MODEL');
  const name = read.optional('TTS_VOICE');
  if (server) return { voice: 'slt', tts: { ...server, voice: name ?? 'alloy' } };
  const voice = name === null ? 'slt' : fliteVoices.find((known) => known === name);
  if (voice) return { voice, tts: null };
  throw new SettingError(`TTS_VOICE must be one of ${fliteVoices.join(', ')}, not "${name}"`);
}
