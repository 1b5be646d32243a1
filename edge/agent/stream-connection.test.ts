/** The WebSocket of a stream agent: opening, pings, loss and reconnection. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { call, settle } from '../../test/kit/edge/agent.ts';
import { arrived, frame, silence20ms, streamScene } from '../../test/kit/edge/stream-agent.ts';
import type { TransferOutcome } from '../call/ports/transfer.ts';
import type { StreamAgent } from './stream-agent.ts';

const { agentFor, listen, begun } = streamScene();

/** The loss has been noticed and the queue cleared. The bot queues a frame before it leaves. */
async function lost(agent: StreamAgent): Promise<void> {
  for (let i = 0; i < 10_000 && agent.queuedSamples > 0; i++) await settle(1);
  expect(agent.queuedSamples).toBe(0);
}

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
    await expect(agentFor({ server }).agent.prepare()).rejects.toThrow('localhost answered 503');
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

describe("the socket's life cycle", () => {
  it('hangs up when the server closes with 1000', async () => {
    const server = await listen();
    const { bot, host, clock } = await begun({ server });
    bot.socket.close(1000);
    await expect.poll(() => host.hangups).toEqual(['the stream server closed the socket with 1000']);
    expect(clock.pending).toBe(0);
  });

  it('is no resumption for a server that was lost before the call was answered', async () => {
    const server = await listen();
    const { agent, clock, log } = agentFor({ server });
    await agent.prepare();
    const first = await server.accept();
    expect(await first.next()).toMatchObject({ event: 'connected' });
    first.socket.terminate();
    while (log.warnings.length === 0) await settle(1);
    agent.start();
    clock.advance(250);
    const second = await server.accept();
    expect(await second.next()).toMatchObject({ event: 'connected' });
    const { start } = await second.next();
    expect(start).toMatchObject({ callSid: call.callId });
    expect(start).not.toHaveProperty('customParameters.resumed');
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

  it('is abandoned when its server accepts connections and loses them at once', async () => {
    const server = await listen();
    const { bot, host, clock } = await begun({ server });
    let last = bot;
    const took: number[] = [];
    while (host.failures.length === 0) {
      last.socket.terminate();
      const from = clock.now();
      const attempts = server.attempts;
      while (server.attempts === attempts && host.failures.length === 0) {
        await settle(1);
        clock.advance(50);
      }
      if (host.failures.length === 0) last = await server.accept();
      took.push(clock.now() - from);
    }
    // Pauses of 0.25, 0.5, 1, 2 and 4 s, and what is left of 10 s.
    expect(took.length).toBeLessThanOrEqual(7);
    expect(host.failures[0]?.message).toMatch(/and did not reconnect in time$/);
  });

  it('is lost when the server sends a message above the limit, and the cause says so', async () => {
    const server = await listen();
    const { bot, host, log } = await begun({ server, limits: { reconnectForMs: 0, maxMessageBytes: 1000 } });
    bot.socket.send('m'.repeat(1001));
    while (host.failures.length === 0) await settle(1);
    expect(host.failures[0]?.message).toMatch(
      /\(close code 1009, the server sent a message of more than 1000 octets\)/,
    );
    expect(log.warnings.at(-1)?.message).toBe('stream socket lost, reconnecting');
  });

  it('is lost when its server reads nothing and lets answers to it pile up, and the cause says so', async () => {
    const server = await listen();
    const { bot, host } = await begun({ server, limits: { reconnectForMs: 0, maxUntoldBytes: 10_000 } });
    // All of them are returned at once, before the server can read one.
    for (let i = 0; i < 100; i++)
      bot.send({ event: 'mark', streamSid: 'stream-1', mark: { name: 'm'.repeat(1000) } });
    bot.send({ event: 'clear', streamSid: 'stream-1' });
    while (host.failures.length === 0) await settle(1);
    expect(host.failures[0]?.message).toMatch(
      /\(close code 1006, the server does not read: \d+ octets of answers are unread\)/,
    );
  });

  it('stays open when its server sends more than is read, which is held back', async () => {
    const server = await listen();
    const { agent, bot, clock, log } = await begun({ server });
    for (let i = 0; i < 6000; i++)
      bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: silence20ms } });
    bot.send({ event: 'mark', streamSid: 'stream-1', mark: { name: 'the end' } });
    bot.send({ event: 'clear', streamSid: 'stream-1' });
    const isHeld = () => log.infos.includes('the stream server is held back: it sends more than is read');
    while (!isHeld()) await settle(1);
    let marks = 0;
    while (marks === 0) {
      await settle(1);
      clock.advance(100);
      marks = bot.arrived.filter(({ event }) => event === 'mark').length;
    }
    expect(agent.queuedSamples).toBe(0);
    expect(bot.closeCode).toBeNull();
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

  it.each([true, false])(
    'waits for a transfer that is under way when the socket is lost: answered %s',
    async (ok) => {
      const server = await listen();
      const { agent, bot, host } = await begun({ server, limits: { reconnectForMs: 0 } });
      const target = Promise.withResolvers<TransferOutcome>();
      host.outcome = target.promise;
      bot.send({ event: 'transfer', transfer: { target: '+14155550111' } });
      bot.send({ event: 'media', streamSid: 'stream-1', media: { payload: silence20ms } });
      await arrived(bot, agent);
      bot.socket.terminate();
      await lost(agent);
      await settle();
      expect([host.transfers.length, host.failures]).toEqual([1, []]);
      target.resolve(ok ? { ok } : { ok, code: 'target_failed', sipCode: 486, reason: 'Busy.' });
      await settle();
      expect(host.failures).toHaveLength(ok ? 0 : 1);
    },
  );

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
