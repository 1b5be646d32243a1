/** A stream agent and its server. */
import { afterEach, expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { StreamAgent } from '../../../edge/agent/stream-agent.ts';
import { type StreamLimits, streamLimits } from '../../../edge/agent/stream-link.ts';
import { call, manner, RecordingHost, RecordingLog, settle } from './agent.ts';
import { BotServer, type BotSocket } from './stream-server.ts';

interface Setup {
  readonly server?: BotServer;
  readonly url?: string;
  readonly allowed?: string[];
  readonly limits?: Partial<StreamLimits>;
  readonly fallback?: string;
  readonly resolve?: (host: string) => Promise<string[]>;
}

/** Waits until the bot's earlier messages have been processed: a ping sent after them was answered. */
export async function arrived(bot: BotSocket, agent: StreamAgent): Promise<void> {
  const pong = new Promise<void>((resolve) => bot.socket.once('pong', () => resolve()));
  bot.socket.ping();
  await pong;
  await settle();
  expect(agent.sampleRate).toBeGreaterThan(0);
}

export const frame = (value = 0) => new Int16Array(160).fill(value);
export const silence20ms = Buffer.alloc(160, 0xff).toString('base64');

/** Closes what a test opened. */
export function streamScene() {
  const open: { close: () => Promise<void> | void }[] = [];

  afterEach(async () => {
    for (const part of open.splice(0).reverse()) await part.close();
  });

  function agentFor({ server, url, allowed = ['127.0.0.1'], limits = {}, fallback, resolve }: Setup) {
    const clock = new FakeClock();
    const host = new RecordingHost();
    const log = new RecordingLog();
    let ids = 0;
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
        newId: () => `stream-${++ids}`,
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

  return {
    agentFor,
    listen,
    begun,
  };
}
