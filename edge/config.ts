/** Settings of the edge. Besides main.ts the only code in `edge` that reads the environment. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { embeddedVoice, type FliteVoice, fliteVoices } from '#shared/models/flite-voices.ts';
import { type AgentModelSettings, readAgentModels } from '#shared/models/model-settings.ts';
import { pathExists } from '#shared/path-exists.ts';
import { type LogSettings, readLog } from '#shared/settings/log.ts';
import {
  type Environment,
  SettingError,
  type SettingReader,
  settingReader,
} from '#shared/settings/reader.ts';
import type { SettingName } from '#shared/settings/table.ts';
import { readTracing, type TracingSettings } from '#shared/tracing/settings.ts';
import { workerBinary } from './media/worker/location.ts';
import {
  type TranscriptionServer,
  transcriptionServers,
  type VoiceServer,
  voiceServer,
} from './speech-settings.ts';

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
  /** Inbound TLS connections at a time. */
  readonly maxConnections: number;
  readonly maxCalls: number;
  /** 0: never. */
  readonly mediaTimeoutMs: number;
  readonly followRefer: boolean;
  readonly probeIntervalMs: number;
  readonly drainTimeoutMs: number;
  readonly media: {
    readonly shards: number | null;
    readonly workerBin: string;
  };
  /** Used without a speech server. */
  readonly voice: FliteVoice;
  readonly tts: VoiceServer | null;
  /** Best first; empty: calls are driven by key presses. */
  readonly stt: readonly TranscriptionServer[];
  readonly models: AgentModelSettings;
  readonly log: LogSettings;
  /** null: no traces. */
  readonly tracing: TracingSettings | null;
}

/** @throws SettingError for the first unusable value */
export function readSettings(env: Environment = process.env): EdgeSettings {
  const read = settingReader('edge', env);
  const dataDir = resolve(read.text('TRUNKLINE_DATA'));
  const tlsFile = (name: 'TLS_CERT' | 'TLS_KEY' | 'TLS_CA', file: string): string =>
    resolve(read.optional(name) ?? join(dataDir, 'tls', file));
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
      ca: read.optional('TLS_CA') === null ? ownAuthority(dataDir) : tlsFile('TLS_CA', 'ca.crt'),
      clients: join(dataDir, 'tls', 'clients'),
    },
    drachtio: drachtio(read),
    // The embedded engine gets the port; another engine has it in its configuration.
    hep: read.address('HEP_HOST', read.isSet('DRACHTIO_HOST') ? 9060 : 0),
    controlUrl: read.url('CONTROL_URL'),
    edgeToken: read.optional('EDGE_TOKEN'),
    maxConnections: read.integer('SIP_MAX_CONNECTIONS', 1, 1_000_000),
    maxCalls: read.integer('MAX_CALLS', 1, 100_000),
    mediaTimeoutMs: read.integer('MEDIA_TIMEOUT_S', 0, 86_400) * 1000,
    followRefer: read.flag('FOLLOW_REFER'),
    probeIntervalMs: read.integer('TRUNK_PROBE_INTERVAL_S', 1, 86_400) * 1000,
    drainTimeoutMs: read.integer('DRAIN_TIMEOUT_S', 0, 86_400) * 1000,
    media: {
      shards: read.isSet('MEDIA_WORKERS') ? read.integer('MEDIA_WORKERS', 1, 256) : null,
      workerBin: read.optional('MEDIASOUP_WORKER') ?? workerBinary(env),
    },
    ...voiceSettings(read),
    stt: transcriptionServers(read),
    models: readAgentModels(read),
    log: readLog(read),
    tracing: readTracing(read),
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

/** The certificate of the authority that control creates with those of the edge; null: there is none. */
function ownAuthority(dataDir: string): string | null {
  const file = join(dataDir, 'tls', 'ca.crt');
  return pathExists(file) ? file : null;
}

/** The settings once the files of control can be there: at its first start they appear after the settings were read. */
export function withOwnAuthority(settings: EdgeSettings): EdgeSettings {
  const { tls, dataDir } = settings;
  return tls.ca === null ? { ...settings, tls: { ...tls, ca: ownAuthority(dataDir) } } : settings;
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
          `${name}: the file ${file} does not exist; control creates it at its first start on this machine; on a machine without control, set ${name} to a file`,
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

type Reader = SettingReader<SettingName<'edge'>>;

function rtpPorts(read: Reader): EdgeSettings['rtp'] {
  const portMin = read.integer('RTP_PORT_MIN', 1024, 65_534);
  const portMax = read.integer('RTP_PORT_MAX', 1025, 65_535);
  if (portMax <= portMin) {
    throw new SettingError(`RTP_PORT_MAX must be greater than RTP_PORT_MIN (${portMin}), not "${portMax}"`);
  }
  return { host: read.text('RTP_HOST'), publicIp: read.optional('RTP_PUBLIC_IP'), portMin, portMax };
}

function drachtio(read: Reader): EdgeSettings['drachtio'] {
  if (!read.isSet('DRACHTIO_HOST')) return null;
  const secret = read.optional('DRACHTIO_SECRET');
  if (secret === null) throw new SettingError('DRACHTIO_SECRET must be set when DRACHTIO_HOST is');
  return { ...read.address('DRACHTIO_HOST', 9022), secret };
}

function voiceSettings(read: Reader): Pick<EdgeSettings, 'voice' | 'tts'> {
  const tts = voiceServer(read);
  if (tts) return { voice: 'slt', tts };
  const name = read.optional('TTS_VOICE');
  const voice = name === null ? 'slt' : embeddedVoice(name);
  if (voice) return { voice, tts: null };
  throw new SettingError(`TTS_VOICE must be one of ${fliteVoices.join(', ')}, not "${name}"`);
}
