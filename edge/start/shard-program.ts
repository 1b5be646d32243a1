/** What a media shard does: media and agents, for the calls of the main thread. */
import { parentPort } from 'node:worker_threads';
import { raisePriority } from '#shared/audio-priority.ts';
import { systemClock as clock } from '#shared/clock.ts';
import { collectGarbage } from '#shared/give-memory-back.ts';
import type { Models } from '#shared/models/models.ts';
import { ruleDialogue } from '#shared/models/rule-dialogue.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import { lookForLibrariesIn } from '#shared/native-library.ts';
import { createAgents } from '../agent/agents.ts';
import { CurrentConfig } from '../current-config.ts';
import { createLog } from '../log.ts';
import { createMedia, type RunningMedia } from '../media/media.ts';
import { DiskRoom } from '../media/recording/disk-room.ts';
import { Metrics } from '../metrics.ts';
import { Channel, type Port } from '../shards/channel.ts';
import { type ShardState, toMain, toShard } from '../shards/messages.ts';
import { paced } from '../shards/paced-port.ts';
import { RemoteGate, RemoteSpeech } from '../shards/services.ts';
import { ShardHost } from '../shards/shard-host.ts';
import { agentDeps, type Speech, voicesOf } from './agents.ts';
import type { EdgeContext } from './context.ts';
import type { ShardSettings } from './shard-settings.ts';
import { outliveRejections } from './stray-rejections.ts';
import { tracingOf } from './tracing.ts';

/** Runs until the main thread ends the thread, or an error does. */
export async function runShard(settings: ShardSettings): Promise<void> {
  const channel = new Channel(paced(toMainThread()), (error) => {
    throw error;
  });
  const current = new CurrentConfig();
  channel.onTell(toShard.configure, (config) =>
    current.apply({ ...config, numbers: [], open_inbound: false }),
  );
  const { limits, controlUrl, edgeToken, privateAuthority } = settings;
  const log = createLog(settings.log, undefined, settings.tracing !== null);
  // Before the media worker is started, which inherits it.
  log.info({ priority: raisePriority() }, 'the threads of audio have their priority');
  outliveRejections(process, log);
  const metrics = new Metrics();
  const tracing = await tracingOf(settings.tracing, settings.software, { log, metrics });
  const models = await modelsOf(settings, channel);
  const speech = {
    tts: new RemoteSpeech(channel),
    ...(await transcriptionIn(settings, { log, metrics, privateAuthority })),
    voices: voicesOf({ log, metrics }),
  };
  const context = { limits, log, metrics, current, controlUrl, edgeToken, privateAuthority, tracing };
  const agents = createAgents(agentDeps(context, speech, models));
  const { folder, used, writer } = settings.recordings;
  lookForLibrariesIn(settings.codecLibraries);
  let media: RunningMedia;
  try {
    media = await createMedia({
      ...settings.media,
      workers: 1,
      workerLimits: limits.workers,
      recordings: {
        folder,
        room: new DiskRoom(limits.recordings.mostBytes, used, writer),
        finished: (recording) => channel.tell(toMain.recordingFinished, { recording }),
      },
      voices: speech.voices,
      log,
      keyKnown: (call_id, key) => channel.tell(toMain.keyKnown, { call_id, key }),
    });
  } catch (error) {
    channel.tell(toMain.unusable, { why: error instanceof Error ? error.message : String(error) });
    parentPort?.close();
    return;
  }
  new ShardHost({ channel, clock, media, agents });
  channel.onAsk(toShard.state, () => ({
    ...stateOf(media),
    counters: { ...metrics.counters(), ...models.metrics('trunkline_edge_') },
    gauges: metrics.gauges(),
  }));
  channel.onAsk(toShard.stop, async () => {
    await media.close();
    await speech.voices.close();
    await tracing?.close();
    return {};
  });
  collectGarbage();
  channel.tell(toMain.ready, { codecs: media.availableCodecs(), ports: media.stats().ports.total });
}

/** What no setting asks for is not loaded: with TypeBox, which nothing else in a shard uses, it takes 7 MiB. */
async function modelsOf(
  { models, limits }: ShardSettings,
  channel: Channel,
): Promise<Pick<Models, 'agent' | 'metrics'> & Partial<Pick<Models, 'traced'>>> {
  if (models.agent === null && models.turbo === null) {
    return { agent: () => ({ understanding: ruleEngine, dialogue: ruleDialogue }), metrics: () => ({}) };
  }
  const { createModels } = await import('#shared/models/models.ts');
  const gate = new RemoteGate(channel);
  return createModels(models, { clock, random: Math.random, limits: limits.models, gate });
}

async function transcriptionIn(
  settings: ShardSettings,
  context: Pick<EdgeContext, 'log' | 'metrics' | 'privateAuthority'>,
): Promise<Pick<Speech, 'stt' | 'transcriber'>> {
  if (settings.stt.length === 0) return { stt: null, transcriber: undefined };
  const { transcriptionOf } = await import('./transcription.ts');
  const stt = settings.stt.map((server) => ({ ...server, url: new URL(server.url) }));
  return transcriptionOf({ ...context, settings: { stt } });
}

function toMainThread(): Port {
  const port = parentPort;
  if (!port) throw new Error('a media shard runs in a thread of the edge');
  return {
    post: (message) => port.postMessage(message),
    listen: (receive) => void port.on('message', receive),
  };
}

function stateOf(media: RunningMedia): Omit<ShardState, 'counters' | 'gauges'> {
  const { legs, ports, workerDeaths, workerHangs, ...counts } = media.stats();
  return {
    legs,
    ports_in_use: ports.inUse,
    worker_deaths: workerDeaths,
    worker_hangs: workerHangs,
    packets_here: counts.packetsHere,
    legs_without_keys: counts.legsWithoutKeys,
    packets_beyond_rate: counts.packetsBeyondRate,
    skipped_frames: counts.skippedFrames,
  };
}
