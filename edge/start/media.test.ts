/** A real media shard in its thread: real audio, and what is left when it is ended. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { Gate } from '#shared/models/gate.ts';
import { echoAgent } from '../../test/kit/fakes/fake-agents.ts';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { SrtpPeer } from '../../test/kit/fakes/srtp-peer.ts';
import { edgeLimits } from '../limits.ts';
import { MediaShards } from '../shards/media-shards.ts';
import { serveShard } from '../shards/services.ts';
import { type ShardThread, shardLimits } from '../shards/shard-slot.ts';
import { shardThread } from './media.ts';
import type { ShardSettings } from './shard-settings.ts';

const settings: ShardSettings = {
  dataDir: '/nonexistent',
  logLevel: 'error',
  media: {
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin: 31_400,
    portMax: 31_403,
    workerBin: testWorkerBin(),
  },
  recordings: { folder: '/nonexistent', used: new SharedArrayBuffer(4) },
  codecLibraries: null,
  controlUrl: 'http://127.0.0.1:9',
  edgeToken: 'none',
  stt: [],
  models: { agent: null, turbo: null, concurrency: 1 },
  privateAuthority: null,
  limits: edgeLimits,
};

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

describe('a media shard in its thread', () => {
  let shards: MediaShards;
  let thread: ShardThread | null = null;
  const keys: string[] = [];

  beforeAll(async () => {
    shards = await MediaShards.start({
      shards: 1,
      start: () => {
        thread = shardThread(settings, 0, () => {});
        return thread;
      },
      clock: systemClock,
      log: new QuietLog(),
      limits: { ...shardLimits, lookMs: 20, restartMs: 5 },
      serve: (channel) =>
        serveShard(channel, {
          tts: { synthesize: async () => new Int16Array(0) },
          gate: new Gate(1, systemClock),
        }),
      keyKnown: (callId, key) => void keys.push(`${callId} ${key}`),
    });
    shards.configure({ version: 1, organizations: [], pathways: [], allowed_private_targets: [] });
  });

  afterAll(() => shards.close());

  /** A call of the tone agent that its peer hears. */
  async function talk(callId: string, failed: string[]) {
    const peer = await SrtpPeer.open();
    const leg = await shards.createLeg({
      callId,
      codecs: ['PCMU'],
      failed: (error) => void failed.push(error.message),
    });
    peer.connect(await leg.answer(peer.sdp()));
    const facts = {
      callId,
      orgId: 'o',
      trunkId: null,
      sipCallId: callId,
      from: '+1',
      to: '+2',
      variables: {},
    };
    const agent = shards.create(tone, { ...facts, direction: 'inbound' }, host);
    await agent.prepare();
    leg.attach(agent);
    agent.start();
    await peer.heard(3);
    return { leg, agent, peer };
  }

  it('plays an agent to an SRTP peer, and counts', async () => {
    const { leg, agent, peer } = await talk('a', []);
    expect(leg.codec).toBe('PCMU');
    expect((await leg.report())?.packets_sent).toBeGreaterThanOrEqual(3);
    expect(keys.filter((key) => key.startsWith('a '))).toHaveLength(2);
    agent.close('over');
    leg.close();
    peer.close();
    await expect.poll(() => shards.stats()).toMatchObject({ legs: 0, ports: { inUse: 0, total: 2 } });
  });

  it('gives ports, descriptors and its media worker back when it is ended, and is replaced', async () => {
    const before = descriptors();
    const failed: string[] = [];
    const first = await talk('b', failed);
    thread?.kill();
    await expect
      .poll(() => failed)
      .toEqual([expect.stringContaining('the media shard that carried the call ended')]);
    first.agent.close('over');
    first.leg.close();
    first.peer.close();
    await expect
      .poll(() => shards.stats(), { timeout: 80_000 })
      .toMatchObject({ shards: 1, deaths: 1, legs: 0 });
    // Both pairs of the range can be used again.
    const again = [await talk('c', []), await talk('d', [])];
    for (const { leg, agent, peer } of again) {
      agent.close('over');
      leg.close();
      peer.close();
    }
    await expect.poll(() => shards.stats().ports.inUse).toBe(0);
    await expect.poll(descriptors).toBe(before);
  });
});
