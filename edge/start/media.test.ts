/** A real media shard in its thread: real audio, and what is left when it is ended. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { Gate } from '#shared/models/gate.ts';
import { recordingOrder } from '../../test/kit/edge/recordings.ts';
import { echoAgent } from '../../test/kit/fakes/fake-agents.ts';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { SrtpPeer } from '../../test/kit/fakes/srtp-peer.ts';
import { isLong } from '../../test/kit/is-long.ts';
import { testedFile } from '../../test/kit/programs/built-programs.ts';
import { freeUdpRange } from '../../test/kit/programs/ports.ts';
import { edgeLimits } from '../limits.ts';
import { DiskRoom } from '../media/recording/disk-room.ts';
import { MediaShards } from '../shards/media-shards.ts';
import { serveShard } from '../shards/services.ts';
import { type ShardThread, shardLimits } from '../shards/shard-slot.ts';
import { shardThread } from './media.ts';
import type { ShardSettings } from './shard-settings.ts';

const settings: ShardSettings = {
  dataDir: '/nonexistent',
  log: { level: 'error', form: null },
  media: {
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin: 0,
    portMax: 0,
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

/** As it starts in whole systems: loading the sources takes each thread several times as much CPU. */
const program = pathToFileURL(testedFile(join(import.meta.dirname, 'shard-thread.ts')));

/** Several threads that compile everything at once take long on a loaded machine. */
const startMs = 240_000;
const patient = { startMs, hangMs: startMs };

/** Starts shards of real threads with `pairs` RTP ports each. */
async function start(
  count: number,
  pairs: number,
  {
    noteKey = () => {},
    recordings = settings.recordings,
  }: { noteKey?: (key: string) => void; recordings?: ShardSettings['recordings'] } = {},
) {
  const unfinished: string[] = [];
  const first = await freeUdpRange(2 * pairs * count);
  const threads: ShardThread[] = [];
  const shards = await MediaShards.start({
    shards: count,
    start: (index) => {
      const portMin = first + 2 * pairs * index;
      const media = { ...settings.media, portMin, portMax: portMin + 2 * pairs - 1 };
      const thread = shardThread({ ...settings, media, recordings }, index, () => {}, program);
      threads[index] = thread;
      return thread;
    },
    clock: systemClock,
    log: new QuietLog(),
    limits: { ...shardLimits, ...patient, lookMs: 20, restartMs: 5 },
    serve: (channel) =>
      serveShard(channel, {
        tts: { synthesize: async () => new Int16Array(0) },
        gate: new Gate(1, systemClock),
      }),
    keyKnown: (callId, key) => noteKey(`${callId} ${key}`),
    gone: (_, recordings) => void unfinished.push(...recordings),
  });
  shards.configure({ version: 1, organizations: [], pathways: [], allowed_private_targets: [] });
  return { shards, threads, unfinished };
}

const tone = { ...echoAgent, kind: 'tone' as const, frequency_hz: 440 };
const descriptors = () => readdirSync('/proc/self/fd').length;
const host = {
  hangup: () => {},
  sendDtmf: async () => {},
  keysPossible: () => true,
  transcript: () => {},
  variables: () => {},
  transfer: async () => ({ ok: true }) as const,
  join: () => {},
  answeredBy: () => {},
  fail: () => {},
};

/** A call of the tone agent that its peer hears. */
async function talk(shards: MediaShards, callId: string, failed: string[] = [], parentId?: string) {
  const peer = await SrtpPeer.open();
  const leg = await shards.createLeg({
    callId,
    parentId,
    codecs: ['PCMU'],
    failed: (error) => void failed.push(error.message),
  });
  peer.connect(await leg.answer(peer.sdp()));
  const facts = { callId, orgId: 'o', trunkId: null, sipCallId: callId, from: '+1', to: '+2', variables: {} };
  const agent = shards.create(
    tone,
    { ...facts, direction: 'inbound', ...(parentId !== undefined && { parentId }) },
    host,
  );
  await agent.prepare();
  leg.attach(agent);
  agent.start();
  await peer.heard(3);
  const end = () => {
    agent.close('over');
    leg.close();
    peer.close();
  };
  return { leg, agent, peer, end };
}

describe('a media shard in its thread', () => {
  let shards: MediaShards;
  let threads: ShardThread[];
  const keys: string[] = [];

  beforeAll(async () => {
    ({ shards, threads } = await start(1, 2, { noteKey: (key) => void keys.push(key) }));
  }, startMs);

  afterAll(() => shards.close());

  it('plays an agent to an SRTP peer, and counts', async () => {
    const { leg, end } = await talk(shards, 'a');
    expect(leg.codec).toBe('PCMU');
    expect((await leg.report())?.packets_sent).toBeGreaterThanOrEqual(3);
    expect(keys.filter((key) => key.startsWith('a '))).toHaveLength(2);
    end();
    await expect.poll(() => shards.stats()).toMatchObject({ legs: 0, ports: { inUse: 0, total: 2 } });
  });

  it('gives ports, descriptors and its media worker back when it is ended, and is replaced', async () => {
    const before = descriptors();
    const failed: string[] = [];
    const first = await talk(shards, 'b', failed);
    threads[0]?.kill();
    await expect
      .poll(() => failed)
      .toEqual([expect.stringContaining('the media shard that carried the call ended')]);
    first.end();
    await expect
      .poll(() => shards.stats(), { timeout: startMs })
      .toMatchObject({ shards: 1, deaths: 1, legs: 0 });
    // Both pairs of the range can be used again.
    const again = [await talk(shards, 'c'), await talk(shards, 'd')];
    for (const { end } of again) end();
    await expect.poll(() => shards.stats().ports.inUse).toBe(0);
    await expect.poll(descriptors).toBe(before);
  }, 600_000);
});

describe('recordings of a media shard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shard-recordings-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('that it has not finished when it ends are named, and their room is given back', async () => {
    const used = DiskRoom.countsOf(1);
    const counts = new Int32Array(used);
    const { shards, threads, unfinished } = await start(1, 4, { recordings: { folder, used, writer: 0 } });
    const room = new DiskRoom(edgeLimits.recordings.mostBytes, used);
    const [over, up] = [await talk(shards, 'over'), await talk(shards, 'up')];
    try {
      over.leg.record(recordingOrder('over'));
      up.leg.record(recordingOrder('up'));
      const files = () => readdirSync(folder).sort();
      await expect.poll(files).toEqual(['over.part', 'up.part']);
      over.end();
      await expect.poll(() => counts[0]).toBeGreaterThan(0);
      expect(files()).toEqual(['over.rec', 'up.part']);
      // Behind all that the shard has said so far.
      await up.leg.silentForMs();
      threads[0]?.kill();
      await expect.poll(() => shards.stats().deaths).toBe(1);
      expect(unfinished).toEqual(['up']);
      expect(counts[1]).toBeGreaterThan(0);
      room.giveAllOf(0);
      expect(room.usedBytes).toBe(1_024 * (counts[0] ?? 0));
    } finally {
      up.end();
      await shards.close();
    }
  }, 600_000);
});

describe.each(isLong ? [2, 4] : [2])('%i media shards in their threads', (count) => {
  it('carry bridged calls each, and one that ends takes only its own with it', async () => {
    const { shards, threads } = await start(count, 4);
    const ids = Array.from({ length: count }, (_, index) => `call-${count}-${index}`);
    const failed = new Map<string, string[]>();
    const pairs = new Map<string, readonly Awaited<ReturnType<typeof talk>>[]>();
    try {
      for (const id of ids) {
        const errors: string[] = [];
        failed.set(id, errors);
        const [one, other] = [await talk(shards, id, errors), await talk(shards, `${id}-target`, errors, id)];
        pairs.set(id, [one, other]);
        // Only legs of one shard can be bridged.
        expect((await shards.bridge(one.leg, other.leg, { transcode: false })).mode).toBe('relayed');
      }
      const [[one], [next]] = [pairs.get(ids[0] ?? '') ?? [], pairs.get(ids[1] ?? '') ?? []];
      if (!one || !next) throw new Error('two calls stand');
      await expect(shards.bridge(one.leg, next.leg, { transcode: false })).rejects.toThrow(
        'two media shards',
      );

      threads[0]?.kill();
      await expect.poll(() => shards.stats().deaths).toBe(1);
      const lost = ids.filter((id) => failed.get(id)?.length);
      expect(lost).toHaveLength(1);
      expect(failed.get(lost[0] ?? '')).toEqual([
        expect.stringContaining('the media shard that carried the call ended'),
        expect.stringContaining('the media shard that carried the call ended'),
      ]);
      // The others still carry packets from one peer to the other.
      for (const id of ids.filter((other) => other !== lost[0])) {
        const [from, to] = pairs.get(id) ?? [];
        if (!from || !to) throw new Error('a call has two legs');
        const before = to.peer.packets;
        await from.peer.play(from.peer.toneFrames(500, 10));
        await to.peer.heard(before + 5);
      }
      await expect.poll(() => shards.stats().shards, { timeout: startMs }).toBe(count);
      (await talk(shards, 'later')).end();
    } finally {
      for (const both of pairs.values()) for (const { end } of both) end();
      await shards.close();
    }
  }, 600_000);
});
