/** What the thread of a media shard is started with: data only, as it would also be passed to a process. */
import type { LogSettings } from '#shared/settings/log.ts';
import type { TracingSettings } from '#shared/tracing/settings.ts';
import type { EdgeSettings } from '../config.ts';
import type { EdgeLimits } from '../limits.ts';
import type { MediaOptions } from '../media/media.ts';
import type { DiskRoom } from '../media/recording/disk-room.ts';
import { type PortRange, portRanges } from '../shards/port-ranges.ts';
import type { EdgeContext } from './context.ts';

export interface ShardSettings {
  readonly dataDir: string;
  readonly log: LogSettings;
  readonly media: Pick<MediaOptions, 'listenIp' | 'publicIp' | 'portMin' | 'portMax' | 'workerBin'>;
  /** Where recordings are written, the counts of their octets that all threads share, and which is this shard's. */
  readonly recordings: { readonly folder: string; readonly used: SharedArrayBuffer; readonly writer: number };
  /** The only folder to search for the codecs' libraries; null: those of the system. */
  readonly codecLibraries: string | null;
  readonly controlUrl: string;
  readonly edgeToken: string;
  /** URLs as text, because URL objects are no data. */
  readonly stt: readonly (Omit<EdgeSettings['stt'][number], 'url'> & { readonly url: string })[];
  readonly models: EdgeSettings['models'];
  /** PEM of an authority trusted in addition to Node's; null: none. */
  readonly privateAuthority: string | null;
  readonly limits: EdgeLimits;
  /** null: no traces. */
  readonly tracing: TracingSettings | null;
  /** Name and version of the edge. */
  readonly software: string;
}

/** Folder and room, for the media that writes. */
export interface RecordingPlace {
  readonly folder: string;
  readonly room: DiskRoom;
}

/** @param cores of the machine */
export function rangesOf({ settings }: EdgeContext, cores: number): ReturnType<typeof portRanges> {
  const { rtp, media } = settings;
  return portRanges(rtp, media.shards ?? Math.max(1, Math.floor(cores / 2)));
}

export function mediaSettings({ settings, publicIp }: EdgeContext, range: PortRange): ShardSettings['media'] {
  const { rtp, media } = settings;
  return { listenIp: rtp.host, publicIp, ...range, workerBin: media.workerBin };
}

export function shardSettings(
  context: EdgeContext,
  range: PortRange,
  { folder, room }: RecordingPlace,
  index: number,
): ShardSettings {
  const { settings, limits, options, controlUrl, edgeToken, privateAuthority, software } = context;
  const { dataDir, log, stt, models, tracing } = settings;
  return {
    dataDir,
    log,
    media: mediaSettings(context, range),
    recordings: { folder, used: room.shared, writer: index },
    codecLibraries: options.codecLibraries ?? null,
    controlUrl,
    edgeToken,
    stt: stt.map((server) => ({ ...server, url: server.url.href })),
    models,
    privateAuthority,
    limits,
    tracing,
    software,
  };
}
