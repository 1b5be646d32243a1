import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { call, manner, RecordingHost, RecordingLog, settle } from '../../test/kit/edge/agent.ts';
import { BotServer, type BotSocket } from '../../test/kit/edge/stream-server.ts';
import type { TransferOutcome } from '../call/ports/transfer.ts';
import { decodeMulaw } from './mulaw.ts';
import { StreamAgent } from './stream-agent.ts';
import { type StreamLimits, streamLimits } from './stream-link.ts';

const open: { close: () => Promise<void> | void }[] = [];

afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

interface Setup {
  readonly server?: BotServer;
  readonly url?: string;
  readonly allowed?: string[];
  readonly limits?: Partial<StreamLimits>;
  readonly fallback?: string;
  readonly resolve?: (host: string) => Promise<string[]>;
}

function agentFor({ server, url, allowed = ['127.0.0.1'], limits = {}, fallback, resolve }: Setup) {
  const clock = new FakeClock();
  const host = new RecordingHost();
  const log = new RecordingLog();
  const agent = new StreamAgent(
    {
      kind: 'stream',
      stream_url: url ?? server?.url ?? '',
      ...manner,
      fallback_number: fallback ?? null,
      request_data: { plan: { id: 7 }, vip: true },
    },
    call,
    host,
    {
      signingSecret: 'c0ffee',
      allowed: () => parseNetworks(allowed),
      resolve: resolve ?? (async () => ['127.0.0.1']),
      ca: server?.ca,
      clock,
      log,
      newId: () => 'stream-1',
      limits: { ...streamLimits, ...limits },
    },
  );
  open.push({ close: () => agent.close('test over') });
  return { agent, clock, host, log };
}

async function listen(...options: Parameters<typeof BotServer.listen>): Promise<BotServer> {
  const server = await BotServer.listen(...options);
  open.push(server);
  return server;
}

async function begun(setup: Setup & { server: BotServer }) {
  const parts = agentFor(setup);
  await parts.agent.prepare();
  const bot = await setup.server.accept();
  parts.agent.start();
  await bot.next();
  const start = await bot.next();
  return { ...parts, bot, start };
}

/** Waits until the bot's earlier messages have been processed: a ping sent after them was answered. */
async function arrived(bot: BotSocket, agent: StreamAgent): Promise<void> {
  const pong = new Promise<void>((resolve) => bot.socket.once('pong', () => resolve()));
  bot.socket.ping();
  await pong;
  await settle();
  expect(agent.sampleRate).toBeGreaterThan(0);
}

const frame = (value = 0) => new Int16Array(160).fill(value);
const silence20ms = Buffer.alloc(160, 0xff).toString('base64');

describe('opening', () => {
  it('signs the handshake, sends connected at once and start when the call is answered', async () => {
    const server = await listen();
    const { agent, clock } = agentFor({ server });
    await agent.prepare();
    const bot = await server.accept();
    const { headers } = bot.request;
    const seconds = String(clock.now() / 1000);
    expect(headers['x-call-id']).toBe(call.callId);
    expect(headers['x-webhook-timestamp']).toBe(seconds);
    expect(headers['x-webhook-signature']).toBe(
      createHmac('sha256', 'c0ffee').update(`${server.url}\n${call.callId}\n${seconds}`).digest('hex'),
    );
    expect(await bot.next()).toEqual({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    agent.start();
    expect(await bot.next()).toEqual({
      event: 'start',
      sequenceNumber: '1',
      streamSid: 'stream-1',
      start: {
        streamSid: 'stream-1',
        accountSid: call.orgId,
        callSid: call.callId,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: {
          plan: '{"id":7}',
          vip: 'true',
          'sip_header_x-plan': 'gold',
          tries: '3',
          from: call.from,
          to: call.to,
          direction: 'inbound',
        },
      },
    });
  });

  it('announces in start that no keys will come, when the peer has no telephone-event', async () => {
    const server = await listen();
    const { agent, host } = agentFor({ server });
    host.keys = false;
    await agent.prepare();
    const bot = await server.accept();
    agent.start();
    await bot.next();
    expect(await bot.next()).toMatchObject({ event: 'start', start: { customParameters: { keys: 'none' } } });
  });

  it('fails when the server does not answer within 5 s', async () => {
    const server = await listen();
    const never = new Promise<never>(() => undefined);
    const { agent, clock } = agentFor({ server, resolve: () => never });
    const outcome = agent.prepare().catch((error: Error) => error.message);
    clock.advance(4999);
    await settle();
    clock.advance(1);
    expect(await outcome).toBe(`${server.url} did not open within 5000 ms`);
    expect(clock.pending).toBe(0);
  });

  it('fails when the server rejects the handshake', async () => {
    const server = await listen();
    server.refusing = true;
    await expect(agentFor({ server }).agent.prepare()).rejects.toThrow('Unexpected server response: 503');
  });

  it('fails when the certificate is not trusted', async () => {
    const server = await listen();
    await expect(agentFor({ url: server.url }).agent.prepare()).rejects.toThrow(
      'localhost has a self-signed TLS certificate',
    );
  });

  it('rejects ws:// and private addresses, without a connection', async () => {
    const server = await listen();
    await expect(agentFor({ url: 'ws://localhost/' }).agent.prepare()).rejects.toThrow('is not a wss:// URL');
    await expect(agentFor({ server, allowed: [] }).agent.prepare()).rejects.toThrow(
      '127.0.0.1 is a loopback address',
    );
    const mixed = async () => ['8.8.8.8', '10.0.0.1'];
    await expect(agentFor({ server, resolve: mixed }).agent.prepare()).rejects.toThrow(
      '10.0.0.1 is a private address',
    );
    expect(server.attempts).toBe(0);
  });

  it('connects to the checked address, whatever the name resolves to afterwards', async () => {
    const server = await listen();
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const { agent } = agentFor({ server, resolve: async () => answers.shift() ?? [] });
    await agent.prepare();
    expect((await server.accept()).request.socket.remoteAddress).toBe('127.0.0.1');
    expect(answers).toHaveLength(1);
  });

  it.each([
    ['audio.l16.16000', 16000],
    ['audio.l16.8000', 8000],
  ] as const)('carries linear PCM when the server selects %s', async (subprotocol, sampleRate) => {
    const server = await listen((offered) => offered.has(subprotocol) && subprotocol);
    const { agent, bot, start } = await begun({ server });
    expect(agent.sampleRate).toBe(sampleRate);
    expect(start).toMatchObject({
      start: { mediaFormat: { encoding: 'audio/l16', sampleRate, channels: 1 } },
    });
    const samples = Int16Array.from({ length: sampleRate / 50 }, (_, i) => i * 100 - 8000);
    agent.write(samples);
    const media = await bot.media();
    expect(new Int16Array(Uint8Array.from(Buffer.from(media.payload, 'base64')).buffer)).toEqual(samples);
    bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: media.payload } });
    await arrived(bot, agent);
    const heard = new Int16Array(sampleRate / 50);
    expect(agent.read(heard)).toBe(true);
    expect(heard).toEqual(samples);
  });

  it('uses mu-law with a server that selects the first protocol offered', async () => {
    const server = await listen((offered) => [...offered][0] ?? false);
    const { agent, start } = await begun({ server });
    expect(agent.sampleRate).toBe(8000);
    expect(start).toMatchObject({ start: { mediaFormat: { encoding: 'audio/x-mulaw' } } });
  });
});

describe('to the server', () => {
  it('sends every frame and every key in order', async () => {
    const server = await listen();
    const { agent, bot } = await begun({ server });
    agent.write(frame(1000));
    agent.dtmf({ digit: '5', durationMs: 120 });
    agent.write(frame(-1000));
    const first = await bot.next();
    expect(first).toMatchObject({
      event: 'media',
      sequenceNumber: '2',
      streamSid: 'stream-1',
      media: { track: 'inbound', chunk: '1', timestamp: '0' },
    });
    const { payload } = first.media as { payload: string };
    expect([...new Set(decodeMulaw(Buffer.from(payload, 'base64')))]).toEqual([988]);
    expect(await bot.next()).toEqual({
      event: 'dtmf',
      sequenceNumber: '3',
      streamSid: 'stream-1',
      dtmf: { track: 'inbound_track', digit: '5', duration_ms: 120 },
    });
    expect(await bot.next()).toMatchObject({ sequenceNumber: '4', media: { chunk: '2', timestamp: '20' } });
  });

  it('sends stop and closes with 1000 when the call is over', async () => {
    const server = await listen();
    const { agent, bot, clock } = await begun({ server });
    agent.close('caller hung up');
    agent.close('again');
    expect(await bot.next()).toEqual({
      event: 'stop',
      sequenceNumber: '2',
      streamSid: 'stream-1',
      stop: { accountSid: call.orgId, callSid: call.callId, reason: 'caller hung up' },
    });
    expect(await bot.closed()).toBe(1000);
    expect(clock.pending).toBe(0);
  });

  it('drops audio older than a second while the server does not read, and counts it', async () => {
    const server = await listen();
    const { agent, bot, log } = await begun({ server });
    bot.socket.pause();
    let written = 0;
    while (agent.droppedFrames < 100 && written < 200_000) {
      agent.write(frame(1000));
      written++;
      if (written % 20 === 0) await settle(1);
    }
    expect(agent.droppedFrames).toBe(100);
    expect(log.warnings[0]).toMatchObject({ fields: { dropped_frames: 1 } });
    bot.socket.resume();
    const chunks: number[] = [];
    while (chunks.at(-1) !== written) {
      if (bot.arrived.length === 0) {
        agent.write(frame(1000));
        written++;
        await settle();
        continue;
      }
      const media = await bot.media();
      chunks.push(Number(media.chunk));
    }
    const gaps = chunks.slice(1).map((chunk, i) => chunk - (chunks[i] ?? 0) - 1);
    expect(gaps.every((gap) => gap >= 0)).toBe(true);
    expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBe(agent.droppedFrames);
  });
});

describe('from the server', () => {
  it('plays media of any length, and echoes a mark when the audio before it has been played', async () => {
    const server = await listen();
    const { agent, bot } = await begun({ server });
    bot.send({
      event: 'media',
      streamSid: 'stream-1',
      media: { payload: Buffer.alloc(400, 0x80).toString('base64') },
    });
    bot.send({ event: 'mark', streamSid: 'stream-1', mark: { name: 'said' } });
    await arrived(bot, agent);
    const out = frame();
    for (const expected of [160, 160, 80]) {
      expect(agent.read(out)).toBe(true);
      expect(out.filter((sample) => sample === 32124)).toHaveLength(expected);
    }
    await settle();
    expect(bot.arrived).toEqual([]);
    expect(agent.read(out)).toBe(false);
    expect(await bot.next()).toEqual({
      event: 'mark',
      sequenceNumber: '2',
      streamSid: 'stream-1',
      mark: { name: 'said' },
    });
  });

  it('empties the queue on clear, and echoes the marks in it', async () => {
    const server = await listen();
    const { agent, bot } = await begun({ server });
    for (const name of ['a', 'b']) {
      bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: silence20ms } });
      bot.send({ event: 'mark', streamSid: 'stream-1', mark: { name } });
    }
    await arrived(bot, agent);
    expect(agent.read(frame())).toBe(true);
    bot.send({ event: 'clear', streamSid: 'stream-1' });
    expect(await bot.next()).toMatchObject({ event: 'mark', mark: { name: 'a' } });
    expect(await bot.next()).toMatchObject({ event: 'mark', mark: { name: 'b' } });
    expect(agent.read(frame())).toBe(false);
  });

  it('queues up to its limit', async () => {
    const server = await listen();
    const { agent, bot, log } = await begun({ server, limits: { maxQueuedSeconds: 1 } });
    bot.send({
      event: 'media',
      streamSid: 'stream-1',
      media: { payload: Buffer.alloc(9600).toString('base64') },
    });
    await arrived(bot, agent);
    expect(log.warnings).toEqual([
      { fields: { dropped_ms: 200 }, message: 'the queue of audio to play is full' },
    ]);
    let frames = 0;
    while (agent.read(frame())) frames++;
    expect(frames).toBe(50);
  });

  it('executes dtmf and hangup, and ignores unknown messages', async () => {
    const server = await listen();
    const { agent, bot, host, log } = await begun({ server });
    bot.socket.send('not json');
    bot.send({ event: 'dance' });
    bot.send({ event: 'dtmf', streamSid: 'stream-1', dtmf: { digits: '1x' } });
    bot.send({ event: 'hangup', streamSid: 'another' });
    bot.send({ event: 'dtmf', streamSid: 'stream-1', dtmf: { digits: '12w#' }, extra: 1 });
    bot.send({ event: 'transfer', transfer: { target: '1001', method: 'magic' } });
    bot.send({ event: 'hangup', streamSid: 'stream-1', reason: 'all said' });
    await arrived(bot, agent);
    expect(host.keysSent).toEqual(['12w#']);
    expect(host.hangups).toEqual(['all said']);
    expect(host.transfers).toEqual([]);
    expect(log.warnings.map(({ fields }) => Object.values(fields)[0])).toEqual([
      'a message is not JSON',
      'a "dtmf" message lacks required fields',
      'a "hangup" message names another streamSid',
      'a "transfer" message lacks required fields',
    ]);
  });

  const told = (status: string, sip_code: number | null = null, reason: string | null = null) => ({
    event: 'transfer',
    streamSid: 'stream-1',
    transfer: { status, sip_code, reason },
  });

  it('reports the progress of a transfer, even when success closes the agent', async () => {
    const server = await listen();
    const { agent, bot, host } = await begun({ server });
    const outcome = Promise.withResolvers<TransferOutcome>();
    host.outcome = outcome.promise;
    bot.send({ event: 'transfer', transfer: { target: '1 415 555 0199', method: 'refer' } });
    expect(await bot.next()).toEqual(told('started'));
    expect(host.transfers).toEqual([{ target: '+14155550199', method: 'refer', consult: null }]);
    agent.close('transferred');
    outcome.resolve({ ok: true });
    expect(await bot.next()).toEqual(told('completed'));
    expect(await bot.next()).toMatchObject({ event: 'stop', stop: { reason: 'transferred' } });
    expect(await bot.closed()).toBe(1000);
  });

  it('reports why a transfer failed, and continues', async () => {
    const server = await listen();
    const { bot, host } = await begun({ server });
    host.outcome = { ok: false, code: 'target_failed', sipCode: 486, reason: 'The target is busy.' };
    bot.send({ event: 'transfer', transfer: { target: '1001' } });
    expect(await bot.next()).toEqual(told('started'));
    expect(await bot.next()).toEqual(told('failed', 486, 'The target is busy.'));
    bot.send({ event: 'transfer', transfer: { target: 'to nobody' } });
    expect(await bot.next()).toEqual(told('started'));
    const reason = 'The transfer target "to nobody" must be an E.164 number, an extension or a SIP URI.';
    expect(await bot.next()).toEqual(told('failed', null, reason));
    expect(host.transfers).toEqual([{ target: '1001', method: 'bridge', consult: null }]);
    expect(host.hangups).toEqual([]);
  });
});

describe("the socket's life cycle", () => {
  it('hangs up when the server closes with 1000', async () => {
    const server = await listen();
    const { bot, host, clock } = await begun({ server });
    bot.socket.close(1000);
    await bot.closed();
    await settle();
    expect(host.hangups).toEqual(['the stream server closed the socket with 1000']);
    expect(clock.pending).toBe(0);
  });

  it('reconnects after a loss with a start marked resumed, silent in the meantime', async () => {
    const server = await listen();
    const { agent, bot, host, clock } = await begun({ server });
    agent.write(frame());
    bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: silence20ms } });
    await arrived(bot, agent);
    bot.socket.terminate();
    await lost(agent);
    agent.write(frame());
    clock.advance(250);
    const again = await server.accept();
    expect((await again.next()).event).toBe('connected');
    expect(await again.next()).toMatchObject({
      event: 'start',
      sequenceNumber: '1',
      start: { customParameters: { resumed: 'true', from: call.from } },
    });
    agent.write(frame());
    expect(await again.next()).toMatchObject({ sequenceNumber: '2', media: { chunk: '1', timestamp: '0' } });
    expect([host.hangups, host.failures]).toEqual([[], []]);
  });

  it('is abandoned when it does not reconnect within 10 s', async () => {
    const server = await listen();
    const { agent, bot, host, clock, log } = await begun({ server });
    bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: silence20ms } });
    await arrived(bot, agent);
    server.refusing = true;
    bot.socket.terminate();
    await lost(agent);
    const before = server.attempts;
    for (const ms of [250, 500, 1000, 2000, 4000]) {
      const seen = log.infos.length;
      clock.advance(ms);
      while (log.infos.length === seen) await settle(1);
    }
    expect(server.attempts - before).toBe(5);
    clock.advance(2249);
    await settle();
    expect(host.failures).toEqual([]);
    clock.advance(1);
    expect(host.failures[0]?.message).toBe(
      'the stream socket was lost (close code 1006) and did not reconnect in time',
    );
    expect(clock.pending).toBe(0);
  });

  it('transfers the call to the fallback number when the socket cannot be restored', async () => {
    const server = await listen();
    const limits = { reconnectForMs: 0 };
    const { agent, bot, host, log } = await begun({ server, limits, fallback: '+14155550177' });
    host.outcome = { ok: false, code: 'no_route', sipCode: null, reason: 'There is no way.' };
    bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: silence20ms } });
    await arrived(bot, agent);
    bot.socket.terminate();
    await lost(agent);
    await settle();
    expect(host.transfers).toEqual([{ target: '+14155550177', method: 'bridge', consult: null }]);
    expect(log.warnings.at(-1)?.message).toBe('transferring the call to the fallback number');
    expect(host.failures.map(({ message }) => message)).toEqual([
      'the stream socket was lost (close code 1006) and did not reconnect in time; the fallback number +14155550177: There is no way.',
    ]);
  });

  it('pings every 15 s and treats a missing pong as a loss after 10 s', async () => {
    const server = await listen(() => false, { autoPong: false });
    const { agent, bot, clock } = await begun({ server });
    const pings: number[] = [];
    bot.socket.on('ping', (data) => {
      pings.push(clock.now());
      if (pings.length === 1) bot.socket.pong(data);
    });
    const from = clock.now();
    clock.advance(15_000);
    while (pings.length < 1) await settle(1);
    // A mark proves that the pong sent before it has arrived.
    bot.send({ event: 'mark', streamSid: 'stream-1', mark: { name: 'm' } });
    while (bot.arrived.length === 0) {
      agent.read(frame());
      await settle(1);
    }
    clock.advance(15_000);
    while (pings.length < 2) await settle(1);
    expect(pings.map((at) => at - from)).toEqual([15_000, 30_000]);
    clock.advance(9999);
    await settle();
    expect(bot.closeCode).toBeNull();
    clock.advance(1);
    expect(await bot.closed()).toBe(1006);
  });
});

/** The loss has been noticed and the queue cleared. The bot queues a frame before it leaves. */
async function lost(agent: StreamAgent): Promise<void> {
  for (let i = 0; i < 10_000 && agent.queuedSamples > 0; i++) await settle(1);
  expect(agent.queuedSamples).toBe(0);
}
