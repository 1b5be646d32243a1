import { describe, expect, it } from 'vitest';
import { call, settle } from '../../test/kit/edge/agent.ts';
import { arrived, frame, silence20ms, streamScene } from '../../test/kit/edge/stream-agent.ts';
import type { BotSocket } from '../../test/kit/edge/stream-server.ts';
import type { TransferOutcome } from '../call/ports/transfer.ts';
import { decodeMulaw } from './stream-messages.ts';

const { listen, begun } = streamScene();

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
    const message = '200 ms of audio were dropped: 1 s are queued.';
    const error = { event: 'media', code: 'limit', message };
    expect(await bot.next()).toEqual({ event: 'error', streamSid: 'stream-1', error });
    expect(log.warnings).toEqual([{ fields: { error }, message: 'a stream message was refused' }]);
    // Of a full queue all of it.
    const payload = Buffer.alloc(480).toString('base64');
    bot.send({ event: 'media', streamSid: 'stream-1', media: { payload } });
    expect(await refusal(bot)).toEqual({ ...error, message: '60 ms of audio were dropped: 1 s are queued.' });
    let frames = 0;
    while (agent.read(frame())) frames++;
    expect(frames).toBe(50);
  });

  /** The next error that the server gets. */
  async function refusal(bot: BotSocket) {
    const { event, error } = await bot.next();
    expect(event).toBe('error');
    return error;
  }

  it('executes dtmf and hangup, ignores unknown messages, and says what is wrong with others', async () => {
    const server = await listen();
    const { agent, bot, host } = await begun({ server });
    bot.socket.send('not json');
    expect(await refusal(bot)).toMatchObject({ event: null, code: 'invalid_message' });
    bot.send({ event: 'dance' });
    bot.send({ event: 'dtmf', streamSid: 'stream-1', dtmf: { digits: '1x' } });
    expect(await refusal(bot)).toMatchObject({ event: 'dtmf', code: 'invalid_field' });
    bot.send({ event: 'hangup', streamSid: 'another' });
    expect(await refusal(bot)).toMatchObject({ event: 'hangup', code: 'wrong_stream' });
    bot.send({ event: 'dtmf', streamSid: 'stream-1', dtmf: { digits: '12w#' }, extra: 1 });
    bot.send({ event: 'transfer', transfer: { target: '1001', method: 'magic' } });
    expect(await refusal(bot)).toMatchObject({ event: 'transfer', code: 'invalid_field' });
    bot.send({ event: 'recording', recording: { action: 'pause' } });
    expect(await refusal(bot)).toEqual({
      event: 'recording',
      code: 'recording_unavailable',
      message: 'The call is not recorded: there is nothing to pause.',
    });
    const hangup = { reason: 'all said', cause: 16, headers: { 'X-Result': 'sold' } };
    bot.send({ event: 'hangup', streamSid: 'stream-1', hangup });
    await arrived(bot, agent);
    expect(host.keysSent).toEqual(['12w#']);
    expect(host.hangups).toEqual(['all said']);
    expect(host.byes).toEqual([{ q850: 16, headers: { 'X-Result': 'sold' } }]);
    expect(host.transfers).toEqual([]);
  });

  it('pauses and resumes the recording of a recorded call', async () => {
    const server = await listen();
    const { agent, bot, host } = await begun({ server });
    host.isRecorded = true;
    bot.send({ event: 'recording', recording: { action: 'pause' } });
    bot.send({ event: 'recording', recording: { action: 'resume' } });
    await arrived(bot, agent);
    expect(host.recordingSteps).toEqual(['pause', 'resume']);
  });

  it('keeps custom events with the call', async () => {
    const server = await listen();
    const { agent, bot, host } = await begun({ server });
    bot.send({ event: 'custom', custom: { name: 'lead.scored', data: { score: 7 } } });
    await arrived(bot, agent);
    expect(host.lines('agent-action')).toEqual(['agent-action: lead.scored: {"score":7}']);
  });

  it('says that keys cannot be sent', async () => {
    const server = await listen();
    const { bot, host } = await begun({ server });
    host.keys = false;
    bot.send({ event: 'dtmf', dtmf: { digits: '1' } });
    expect(await refusal(bot)).toEqual({
      event: 'dtmf',
      code: 'keys_unavailable',
      message: 'The keys were not sent: the peer does not support telephone-event.',
    });
  });

  it('refuses more than it can keep or do, and does not flood the server with errors', async () => {
    const server = await listen();
    const { agent, bot, host, clock } = await begun({ server });
    bot.send({ event: 'media', media: { payload: silence20ms } });
    for (let i = 0; i < 1_001; i++) bot.send({ event: 'mark', mark: { name: `m${i}` } });
    expect(await refusal(bot)).toMatchObject({ event: 'mark', code: 'limit' });
    for (let i = 0; i < 60; i++) bot.send({ event: 'custom', custom: { name: 'tick' } });
    await arrived(bot, agent);
    expect(host.lines('agent-action')).toHaveLength(50);
    const errors = bot.arrived.filter(({ event }) => event === 'error');
    expect(errors).toHaveLength(9);
    expect(errors.every(({ error }) => JSON.stringify(error).includes('"limit"'))).toBe(true);
    clock.advance(1_000);
    bot.send({ event: 'custom', custom: { name: 'tock' } });
    await arrived(bot, agent);
    expect(host.lines('agent-action')).toHaveLength(51);
  });

  const transferMessage = (status: string, sip_code: number | null = null, reason: string | null = null) => ({
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
    expect(await bot.next()).toEqual(transferMessage('started'));
    expect(host.transfers).toEqual([{ target: '+14155550199', method: 'refer', consult: null }]);
    agent.close('transferred');
    outcome.resolve({ ok: true });
    expect(await bot.next()).toEqual(transferMessage('completed'));
    expect(await bot.next()).toMatchObject({ event: 'stop', stop: { reason: 'transferred' } });
    expect(await bot.closed()).toBe(1000);
  });

  it('reports why a transfer failed, and continues', async () => {
    const server = await listen();
    const { bot, host } = await begun({ server });
    host.outcome = { ok: false, code: 'target_failed', sipCode: 486, reason: 'The target is busy.' };
    bot.send({ event: 'transfer', transfer: { target: '1001' } });
    expect(await bot.next()).toEqual(transferMessage('started'));
    expect(await bot.next()).toEqual(transferMessage('failed', 486, 'The target is busy.'));
    const warm = { target: '1002', announcement: 'Ann waits.', accept_key: '1' };
    bot.send({ event: 'transfer', transfer: warm });
    expect(await bot.next()).toEqual(transferMessage('started'));
    expect(await bot.next()).toMatchObject({ transfer: { status: 'failed' } });
    bot.send({ event: 'transfer', transfer: { target: 'to nobody' } });
    expect(await bot.next()).toEqual(transferMessage('started'));
    const reason = 'The transfer target "to nobody" must be an E.164 number, an extension or a SIP URI.';
    expect(await bot.next()).toEqual(transferMessage('failed', null, reason));
    expect(host.transfers).toEqual([
      { target: '1001', method: 'bridge', consult: null },
      { target: '1002', method: 'bridge', consult: { announcement: 'Ann waits.', acceptKey: '1' } },
    ]);
    expect(host.hangups).toEqual([]);
  });
});
