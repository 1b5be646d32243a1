/** What every part of the edge needs: settings, log, counters, the current configuration. */
import { readFileSync } from 'node:fs';
import { systemClock } from '#shared/clock.ts';
import { KnownSecrets } from '#shared/known-secrets.ts';
import { certificates, controlAddress, type EdgeSettings } from '../config.ts';
import { CurrentConfig } from '../current-config.ts';
import { localAddress } from '../local-address.ts';
import type { EdgeLog } from '../log.ts';
import { Metrics } from '../metrics.ts';

export const clock = systemClock;

export interface Ground {
  readonly settings: EdgeSettings;
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
}

/** @throws SettingError when the certificates or control's address do not appear in time */
export async function layGround(settings: EdgeSettings, log: EdgeLog, software: string): Promise<Ground> {
  // Another engine has its own certificates.
  if (!settings.drachtio) await certificates(settings);
  const { controlUrl, edgeToken } = await controlAddress(settings);
  const { rtp, tls } = settings;
  return {
    settings,
    log,
    software,
    metrics: new Metrics(),
    current: new CurrentConfig(),
    keys: new KnownSecrets(),
    controlUrl,
    edgeToken,
    publicIp: rtp.publicIp ?? localAddress(rtp.host),
    privateAuthority: tls.ca === null ? null : readFileSync(tls.ca, 'utf8'),
  };
}
