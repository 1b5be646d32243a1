/** Shards in real threads whose media is a fake: how calls are placed, and what happens when a shard ends. */
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { Gate } from '#shared/models/gate.ts';
import type { FakeShardData } from '../../test/kit/edge/fake-shard.ts';
import { echoAgent } from '../../test/kit/fakes/fake-agents.ts';
import { sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { eventually, saw } from '../../test/kit/programs/eventually.ts';
import type { AgentHost, CallFacts } from '../call/ports/agents.ts';
import { MediaShards } from './media-shards.ts';
import { serveShard } from './services.ts';
import { type ShardThread, shardLimits } from './shard-slot.ts';

const program = new URL('../../test/kit/edge/fake-shard.ts', import.meta.url);

const facts = (callId: string, parentId?: string): CallFacts => ({
  callId,
  orgId: 'org-1',
  trunkId: null,
  sipCallId: `${callId}@test`,
  direction: 'inbound',
  from: '+1',
  to: '+2',
  variables: {},
  ...(parentId === undefined ? {} : { parentId }),
});

/** Notes what an agent wants. */
function hostOf(heard: string[]): AgentHost {
  return {
    hangup: (reason) => void heard.push(`hangup: ${reason}`),
    sendDtmf: async (digits) => void heard.push(`keys: ${digits}`),
    keysPossible: () => true,
    transcript: ({ text }) => void heard.push(`said: ${text}`),
    variables: () => {},
    transfer: async () => ({ ok: true }),
    join: () => void heard.push('join'),
    answeredBy: (who) => void heard.push(who),
    fail: (error) => void heard.push(`failed: ${error.message}`),
  };
}

describe('media shards', () => {
  const threads: Worker[] = [];
  let shards: MediaShards | null = null;

  function startThread(data: FakeShardData): ShardThread {
    const worker = new Worker(program, { workerData: data, stderr: true });
    threads.push(worker);
    let why: string | null = null;
    worker.on('error', (error: unknown) => {
      why = String(error);
    });
    return {
      port: {
        post: (message) => worker.postMessage(message),
        listen: (receive) => void worker.on('message', receive),
      },
      kill: () => void worker.terminate(),
      onEnd: (ended) => void worker.once('exit', (code) => ended(why ?? `exit code ${code}`)),
    };
  }

  let log = new QuietLog();

  async function start(
    count: number,
    data: FakeShardData = { ports: 2 },
    hangMs = 60_000,
    thread: (data: FakeShardData) => ShardThread = startThread,
  ) {
    log = new QuietLog();
    shards = await MediaShards.start({
      shards: count,
      start: () => thread(data),
      clock: systemClock,
      log,
      limits: { ...shardLimits, lookMs: 5, hangMs, restartMs: 5 },
      serve: (channel) =>
        serveShard(channel, {
          tts: { synthesize: async () => new Int16Array(0) },
          gate: new Gate(1, systemClock),
        }),
      keyKnown: () => {},
      gone: () => {},
    });
    return shards;
  }

  afterEach(async () => {
    await shards?.close();
    shards = null;
    await Promise.all(threads.splice(0).map((thread) => thread.terminate()));
  });

  const leg = (media: MediaShards, callId: string, failed: string[] = [], parentId?: string) =>
    media.createLeg({
      callId,
      codecs: ['PCMU'],
      parentId,
      failed: (error) => void failed.push(error.message),
    });

  it('carry a call as one thread would, and mirror what calls read', async () => {
    const media = await start(1);
    expect(media.availableCodecs()).toEqual(['PCMU']);
    const one = await leg(media, 'a');
    expect({ codec: one.codec, held: one.held, keys: one.keys }).toEqual({
      codec: null,
      held: false,
      keys: null,
    });
    expect(await one.answer(sdpOffer)).toContain('m=audio');
    expect({ codec: one.codec, keys: one.keys }).toEqual({ codec: 'PCMU', keys: 'telephone-event' });
    await one.answer(`${sdpOffer}a=sendonly\r\n`);
    expect(one.held).toBe(true);
    await expect(one.answer('v=0')).rejects.toMatchObject({
      sipStatus: 488,
      warning: expect.stringContaining('SRTP'),
    });
    expect(await one.report()).toMatchObject({ packets_sent: 10, verdict: 'two_way' });
    expect(await one.silentForMs()).toBe(0);
    one.close();
    await expect
      .poll(() => media.stats())
      .toMatchObject({ shards: 1, deaths: 0, legs: 0, ports: { inUse: 0, total: 2 } });
    expect(media.placed).toBe(0);
  });

  it('share the calls, keep those of a transfer together, and are full only when all are', async () => {
    const media = await start(2);
    const [a, b, besideA] = [await leg(media, 'a'), await leg(media, 'b'), await leg(media, 'c', [], 'a')];
    await Promise.all([a, b, besideA].map((one) => one.answer(sdpOffer)));
    const bridge = await media.bridge(a, besideA, { transcode: false });
    expect(bridge.mode).toBe('relayed');
    await expect(media.bridge(a, b, { transcode: false })).rejects.toThrow('two media shards');
    // One place is left: on the shard of b.
    const d = await leg(media, 'd');
    await d.answer(sdpOffer);
    expect((await media.bridge(b, d, { transcode: false })).mode).toBe('relayed');
    await expect(leg(media, 'e')).rejects.toMatchObject({ sipStatus: 503 });
    d.close();
    await leg(media, 'e');
  });

  it('have the calls of an organization on one shard, and those of another one on the other', async () => {
    const media = await start(2, { ports: 8 });
    const of = (callId: string, orgId: string) => media.createLeg({ callId, orgId, codecs: ['PCMU'] });
    const [a, b, c, d] = [
      await of('a', 'org-1'),
      await of('b', 'org-2'),
      await of('c', 'org-1'),
      await of('d', 'org-2'),
    ];
    await Promise.all([a, b, c, d].map((one) => one.answer(sdpOffer)));
    for (const [one, other] of [
      [a, c],
      [b, d],
    ] as const)
      expect((await media.bridge(one, other, { transcode: false })).mode).toBe('relayed');
    await expect(media.bridge(a, b, { transcode: false })).rejects.toThrow('two media shards');
    // An organization without calls has no place any more.
    for (const one of [a, c]) one.close();
    const agent = media.create(echoAgent, facts('e'), hostOf([]));
    await agent.prepare();
    const e = await of('e', 'org-1');
    e.attach(agent);
    await e.answer(sdpOffer);
    await expect(media.bridge(e, b, { transcode: false })).rejects.toThrow('two media shards');
    agent.close('over');
  });

  it('have the agent and the legs of an outbound call on one shard', async () => {
    const media = await start(2);
    await leg(media, 'other');
    const heard: string[] = [];
    const agent = media.create(echoAgent, facts('a'), hostOf(heard));
    await agent.prepare();
    const one = await leg(media, 'a');
    one.attach(agent);
    agent.start();
    expect(media.placed).toBe(2);
    agent.close('over');
    await agent.lastWords?.();
    one.close();
    expect(media.placed).toBe(1);
  });

  it.each([
    ['an error that nobody catches', 'throw', 60_000, 'a bug in the shard'],
    ['a hang', 'hang', 5_000, 'exit code 1'],
  ])('end their own calls after %s, and are replaced', async (_, what, hangMs, why) => {
    const media = await start(2, { ports: 2 }, hangMs);
    const [failedA, failedB, heard]: string[][] = [[], [], []];
    const a = await leg(media, 'a', failedA);
    const b = await leg(media, 'b', failedB);
    const agent = media.create(echoAgent, facts('a'), hostOf(heard ?? []));
    await agent.prepare();
    const lost = a.answer(`${sdpOffer}${what}`).catch((error: unknown) => String(error));
    await expect.poll(() => media.stats().deaths, { timeout: 60_000 }).toBe(1);
    // What failed may quote another customer's data, so that the log alone has it.
    const sentence = 'the media shard that carried the call ended';
    if (what === 'hang') expect(await lost).toBe(`Error: ${sentence}`);
    expect(failedA).toEqual([sentence]);
    expect(log.lines.find(({ message }) => message.startsWith('a media shard ended'))?.fields).toMatchObject({
      why: expect.stringContaining(why),
    });
    expect(heard).toEqual([expect.stringContaining('failed: the media shard')]);
    expect(await a.report()).toBeNull();
    expect(await a.silentForMs()).toBe(0);
    agent.close('over');
    a.close();
    // The other shard and its call are as before.
    expect(failedB).toEqual([]);
    expect(await b.answer(sdpOffer)).toContain('m=audio');
    // The log says why one could not start.
    await eventually('another shard', () => saw({ ...media.stats(), log: log.lines }).shards === 2 || null);
    const legs = await Promise.all(['c', 'd', 'e'].map((id) => leg(media, id)));
    await Promise.all(legs.map((one) => one.answer(sdpOffer)));
    // What was counted stays counted.
    await expect.poll(() => media.stats()).toMatchObject({ workerDeaths: 3, skippedFrames: 6 });
    expect(media.metrics()).toEqual({ requests: 3, inside: 2 });
  });

  it('are tried again when the system makes no more threads', async () => {
    let made = 0;
    const media = await start(1, { ports: 1 }, 60_000, (data) => {
      made++;
      if (made === 2 || made === 3) throw new Error('no more threads');
      return startThread(data);
    });
    await threads[0]?.terminate();
    await eventually(
      'another shard',
      () => (made === 4 && saw({ ...media.stats(), log: log.lines }).shards === 1) || null,
    );
    const failed = log.lines.filter(({ message }) => message.endsWith('trying again'));
    expect(failed.map(({ fields }) => ('err' in fields ? String(fields.err) : null))).toEqual([
      'Error: no more threads',
      'Error: no more threads',
    ]);
    await leg(media, 'a');
  });

  it('refuse calls with 503 while none is up, and say why one cannot start', async () => {
    const media = await start(1);
    await threads[0]?.terminate();
    await expect.poll(() => media.stats().deaths).toBe(1);
    await expect(leg(media, 'a')).rejects.toMatchObject({ sipStatus: 503 });
    await expect(start(1, { ports: 1, unusable: 'no media worker: run npm run setup' })).rejects.toThrow(
      'no media worker: run npm run setup',
    );
    await media.close();
  });
});
