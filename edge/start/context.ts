/** What every part of the edge needs: settings, log, counters, the current configuration. */
import { readFileSync } from 'node:fs';
import { systemClock } from '#shared/clock.ts';
import { KnownSecrets } from '#shared/known-secrets.ts';
import { withLimits } from '#shared/limits.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { certificates, controlAddress, type EdgeSettings, withOwnAuthority } from '../config.ts';
import { CurrentConfig } from '../current-config.ts';
import { type EdgeLimitOverrides, type EdgeLimits, edgeLimits } from '../limits.ts';
import { localAddress } from '../local-address.ts';
import type { EdgeLog } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { tracingOf } from './tracing.ts';

export const clock = systemClock;

/** Other values than those of the product; for tests. */
export interface EdgeOptions {
  readonly limits?: EdgeLimitOverrides;
  /** Name servers as `address` or `address:port`; default: those of the machine. */
  readonly dnsServers?: readonly string[];
  /** The only folder to search for the codecs' libraries; default: those of the system. */
  readonly codecLibraries?: string;
}

export interface EdgeContext {
  readonly settings: EdgeSettings;
  readonly limits: EdgeLimits;
  readonly options: EdgeOptions;
  readonly log: EdgeLog;
  /** Name and version. */
  readonly software: string;
  readonly metrics: Metrics;
  readonly current: CurrentConfig;
  /** SRTP keys of the live calls. */
  readonly keys: KnownSecrets;
  readonly controlUrl: string;
  readonly edgeToken: string;
  /** Address in SDP. */
  readonly publicIp: string;
  /** PEM of an authority trusted in addition to Node's; null: none. */
  readonly privateAuthority: string | null;
  /** null: no traces. */
  readonly tracing: Tracing | null;
}

/** @throws SettingError when the certificates or control's address do not appear in time */
export async function createContext(
  given: EdgeSettings,
  log: EdgeLog,
  software: string,
  options: EdgeOptions,
): Promise<EdgeContext> {
  // Another engine has its own certificates.
  if (!given.drachtio) await certificates(given);
  const { controlUrl, edgeToken } = await controlAddress(given);
  const settings = withOwnAuthority(given);
  const { rtp, tls } = settings;
  const metrics = new Metrics();
  return {
    settings,
    limits: withLimits(edgeLimits, options.limits),
    options,
    log,
    software,
    metrics,
    current: new CurrentConfig(),
    keys: new KnownSecrets(),
    controlUrl,
    edgeToken,
    publicIp: rtp.publicIp ?? localAddress(rtp.host),
    privateAuthority: tls.ca === null ? null : readFileSync(tls.ca, 'utf8'),
    tracing: await tracingOf(settings.tracing, software, { log, metrics }),
  };
}
