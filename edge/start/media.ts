/** Media with the settings of this edge: shards for calls, and media of this thread for calls of tests. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { besideAudio } from '#shared/audio-priority.ts';
import type { LocalLeg, LocalMedia, MediaBridge, MediaRoom, MediaSupervision } from '../call/ports/media.ts';
import type { RunningMedia } from '../media/media.ts';
import { DiskRoom } from '../media/recording/disk-room.ts';
import type { RecordingUploads } from '../reporting/recordings/uploads.ts';
import { MediaShards } from '../shards/media-shards.ts';
import { type SharedServices, serveShard } from '../shards/services.ts';
import type { ShardThread } from '../shards/shard-slot.ts';
import { clock, type EdgeContext } from './context.ts';
import {
  mediaSettings,
  type RecordingPlace,
  rangesOf,
  type ShardSettings,
  shardSettings,
} from './shard-settings.ts';

/** @throws Error when no shard can be run */
export function shardsOf(
  context: EdgeContext,
  services: SharedServices,
  recordings: RecordingPlace,
  uploads: Pick<RecordingUploads, 'complete'>,
): Promise<MediaShards> {
  const { log, limits, keys } = context;
  const ranges = rangesOf(context, availableParallelism()).shards;
  return MediaShards.start({
    shards: ranges.length,
    start: (index) => {
      const range = ranges[index];
      if (!range) throw new Error(`there are no ports for media shard ${index}`);
      return shardThread(shardSettings(context, range, recordings, index), index, (error) =>
        log.error({ err: error, shard: index }, 'an error ends a media shard'),
      );
    },
    clock,
    log,
    limits: limits.shards,
    serve: (channel) => serveShard(channel, services),
    keyKnown: (callId, key) => keys.note(callId, key),
    gone: (index, unfinished) => {
      recordings.room.giveAllOf(index);
      uploads.complete(unfinished);
    },
  });
}

/** @param program what the thread runs; only tests give another one */
export function shardThread(
  settings: ShardSettings,
  index: number,
  failed: (error: unknown) => void,
  program = new URL('./shard-thread.ts', import.meta.url),
): ShardThread {
  const worker = new Worker(program, {
    workerData: settings,
    name: `media shard ${index}`,
  });
  let why: string | null = null;
  worker.on('error', (error: unknown) => {
    why = error instanceof Error ? error.message : String(error);
    failed(error);
  });
  return {
    port: {
      post: (message) => besideAudio(() => worker.postMessage(message)),
      listen: (receive) => void worker.on('message', receive),
    },
    kill: () => void worker.terminate(),
    onEnd: (ended) => void worker.once('exit', (code) => ended(why ?? `exit code ${code}`)),
  };
}

/**
 * Media of calls of tests, whose two ends share what they know: in this thread, with ports of their own. It is started
 * with the first of them.
 */
export class TestMedia implements LocalMedia {
  /** Of ports. */
  readonly pairs: number;
  readonly #start: () => Promise<RunningMedia>;
  #running: Promise<RunningMedia> | null = null;
  #media: RunningMedia | null = null;

  constructor(context: EdgeContext, { folder, room }: RecordingPlace) {
    const { shards, tests } = rangesOf(context, availableParallelism());
    const { recordings } = context.limits;
    this.pairs = Math.floor((tests.portMax - tests.portMin + 1) / 2);
    this.#start = async () => {
      const [{ createMedia }, { lookForLibrariesIn }] = await Promise.all([
        import('../media/media.ts'),
        import('#shared/native-library.ts'),
      ]);
      lookForLibrariesIn(context.options.codecLibraries ?? null);
      this.#media = await createMedia({
        ...mediaSettings(context, tests),
        workers: 1,
        // It writes after the shards.
        recordings: {
          folder,
          room: new DiskRoom(recordings.mostBytes, room.shared, shards.length),
        },
        workerLimits: context.limits.workers,
        log: context.log,
        keyKnown: (callId, key) => context.keys.note(callId, key),
      });
      return this.#media;
    };
  }

  async createLeg(...options: Parameters<LocalMedia['createLeg']>): Promise<LocalLeg> {
    return (await this.#started()).createLeg(...options);
  }

  async bridge(...legs: Parameters<LocalMedia['bridge']>): Promise<MediaBridge> {
    return (await this.#started()).bridge(...legs);
  }

  openRoom(...room: Parameters<LocalMedia['openRoom']>): MediaRoom {
    if (!this.#media) throw new Error('a room needs a leg, which starts the media of tests');
    return this.#media.openRoom(...room);
  }

  supervise(...legs: Parameters<LocalMedia['supervise']>): MediaSupervision {
    if (!this.#media) throw new Error('there is no leg without the media of tests');
    return this.#media.supervise(...legs);
  }

  /** Null before the first call of a test. */
  stats(): ReturnType<RunningMedia['stats']> | null {
    return this.#media?.stats() ?? null;
  }

  async close(): Promise<void> {
    const running = await this.#running?.catch(() => null);
    await running?.close();
  }

  #started(): Promise<RunningMedia> {
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#running = null;
      throw error;
    });
    return this.#running;
  }
}
