/** Transcoded bridges in media shards, without signaling. */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '#shared/clock.ts';
import { Gate } from '#shared/models/gate.ts';
import type { MediaLeg } from '../../edge/call/ports/media.ts';
import { edgeLimits } from '../../edge/limits.ts';
import { DiskRoom } from '../../edge/media/recording/disk-room.ts';
import { MediaShards } from '../../edge/shards/media-shards.ts';
import { portRanges } from '../../edge/shards/port-ranges.ts';
import { serveShard } from '../../edge/shards/services.ts';
import { shardThread } from '../../edge/start/media.ts';
import type { ShardSettings } from '../../edge/start/shard-settings.ts';
import { testWorkerBin } from '../kit/fakes/media-worker.ts';
import { QuietLog } from '../kit/fakes/quiet-log.ts';
import { commandLine, family } from '../kit/programs/processes.ts';
import { cpuMs } from './cpu-time.ts';
import { FarEnds } from './far-ends.ts';

export interface TranscodingRow {
  readonly shards: number;
  readonly bridges: number;
  /** Percent of one core: this process with its shards, and the media workers. */
  readonly nodePercent: number;
  readonly workerPercent: number;
  readonly skippedFrames: number;
  readonly latenessP50Ms: number;
  readonly latenessP99Ms: number;
  readonly packets: number;
  readonly lost: number;
}

interface TranscodingScene {
  readonly shards: number;
  readonly bridges: number;
  readonly seconds: number;
}

/** @throws Error when a call could not be set up or bridged */
export async function measureTranscoding(scene: TranscodingScene): Promise<TranscodingRow> {
  const { shards, bridges, seconds } = scene;
  const media = await startShards(shards);
  const farEnds = new FarEnds();
  try {
    const codecs = ['PCMU', 'Opus'] as const;
    const legs: MediaLeg[] = [];
    const answers: string[] = [];
    for (const [index, offer] of (await farEnds.open(2 * bridges, codecs)).entries()) {
      // Both legs of a bridge are in one shard.
      const parentId = index % 2 === 1 ? `bench-${index - 1}` : undefined;
      const leg = await media.createLeg({ callId: `bench-${index}`, codecs, parentId });
      legs.push(leg);
      answers.push(await leg.answer(offer));
    }
    for (let i = 0; i + 1 < legs.length; i += 2) {
      const [one, other] = [legs[i], legs[i + 1]];
      if (!one || !other) continue;
      const { mode } = await media.bridge(one, other, { transcode: true });
      if (mode !== 'transcoded') throw new Error(`the bridge is ${mode}, not transcoded`);
    }
    farEnds.start(answers);
    await pause(2000);

    farEnds.measure();
    const skipped = media.stats().skippedFrames;
    const [node, worker] = [process.cpuUsage(), workerMs()];
    const start = performance.now();
    await pause(seconds * 1000);
    const elapsedMs = performance.now() - start;
    const used = process.cpuUsage(node);
    const workerUsed = workerMs() - worker;
    const result = await farEnds.stop();
    // The counts of shards come once a second.
    await pause(1500);
    return {
      shards,
      bridges,
      nodePercent: (used.user + used.system) / 10 / elapsedMs,
      workerPercent: (100 * workerUsed) / elapsedMs,
      skippedFrames: media.stats().skippedFrames - skipped,
      latenessP50Ms: result.latenessP50MeanMs,
      latenessP99Ms: result.latenessP99MeanMs,
      packets: result.received,
      lost: result.lost,
    };
  } finally {
    await media.close();
    await farEnds.close();
  }
}

async function startShards(shards: number): Promise<MediaShards> {
  const ranges = portRanges({ portMin: 20_000, portMax: 29_999 }, shards).shards;
  return MediaShards.start({
    shards,
    start: (index) => {
      const range = ranges[index];
      if (!range) throw new Error(`there are no ports for shard ${index}`);
      return shardThread({ ...settings, media: { ...settings.media, ...range } }, index, (error) => {
        throw error;
      });
    },
    clock: systemClock,
    log: new QuietLog(),
    limits: edgeLimits.shards,
    serve: (channel) =>
      serveShard(channel, {
        tts: { synthesize: async () => new Int16Array(0) },
        gate: new Gate(1, systemClock),
      }),
    keyKnown: () => {},
    gone: () => {},
  });
}

const settings: ShardSettings = {
  dataDir: '/nonexistent',
  log: { level: 'error', form: null },
  media: {
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin: 20_000,
    portMax: 29_999,
    workerBin: testWorkerBin(),
  },
  recordings: { folder: '/nonexistent', used: DiskRoom.countsOf(1), writer: 0 },
  codecLibraries: null,
  controlUrl: 'http://127.0.0.1:9',
  edgeToken: 'none',
  stt: [],
  models: { agent: null, turbo: null, concurrency: 1 },
  privateAuthority: null,
  limits: edgeLimits,
  tracing: null,
  software: 'Trunkline/0',
};

/** CPU time of the media workers of this process so far, ms. */
function workerMs(): number {
  return family(process.pid)
    .filter((pid) => commandLine(pid).includes('mediasoup-worker'))
    .reduce((all, pid) => all + cpuMs(pid), 0);
}
