/**
 * Calls to a real phone: with a bot behind a WebSocket, audio and keys in both directions, per codec; and with an agent
 * whose voice no telephone line of 8 kHz carries.
 */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { OrganizationSettingsAnswer, WebhookSecret } from '#shared/api/organization.ts';
import { BotServer, type BotSocket } from '../kit/edge/stream-server.ts';
import { decodeMulaw, encodeMulaw, tone } from '../kit/fakes/audio.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { Baresip } from './baresip.ts';
import { hasTone, shareAbove, soundSpan } from './sound.ts';

/** baresip answers calls to this user. */
const user = '+14155550199';
let system: TestSystem;
let pair: TestKeyPair;
let bots: BotServer;
let secret: string;
let phone: Baresip | null = null;

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
  // Its CA is that of TLS_CA.
  pair = await trunkPair(system);
  bots = await BotServer.listen(() => false, {}, pair);
  const { data } = await system.api.read(WebhookSecret, 'POST', '/v1/org/webhook-secret');
  ({ secret } = data);
});

afterEach(async () => {
  await phone?.close();
  phone = null;
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => bots?.close(),
  ),
);

/** Messages of that kind until `enough` is true; others are ignored. */
async function messages(bot: BotSocket, event: string, enough: (found: Message[]) => boolean) {
  const found: Message[] = [];
  while (!enough(found)) {
    const message = await bot.next();
    if (message.event === event) found.push(message);
  }
  return found;
}

type Message = Awaited<ReturnType<BotSocket['next']>>;

/** The audio in `media` messages, at 8 kHz. */
function soundOf(media: readonly Message[]): Int16Array {
  const payloads = media.map(({ media }) => (media as { payload: string }).payload);
  return decodeMulaw(Buffer.concat(payloads.map((payload) => Buffer.from(payload, 'base64'))));
}

test.each([
  ['PCMU', 'PCMU', '+14155550123'],
  ['Opus', 'opus/48000/2', '+14155550124'],
  ['G.722', 'G722/16000/1', '+14155550125'],
])("%s: phone and bot hear each other and each other's keys", async (codec, codecs, number) => {
  phone = await Baresip.start({
    codecs,
    certificate: pair,
    speech: tone(1100, 8000 * 60),
    answers: true,
  });
  await attachTrunk(system, number, phone.tlsPort);
  // The phone accepts one codec, and key presses only as 8 kHz events, which PCMU adds to the offer of Opus.
  const offered = [...new Set([codec, 'PCMU'])];
  const patch = { phone_number: number, direction: 'outbound', codec_config: { codecs: offered } };
  await system.api.ok('PATCH', '/v1/sip/config', patch);
  await system.api.applied(number);
  const order = {
    // The trunk leads to one phone; each call needs a different destination.
    phone_number: `sip:${user}@127.0.0.1:${phone.tlsPort}`,
    from: number,
    stream_url: bots.url,
    request_data: { customer: 'Ada' },
    voicemail: { action: 'ignore' },
  };
  const { call_id: id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  const bot = await bots.accept();

  const { headers } = bot.request;
  const signed = `${bots.url}\n${id}\n${headers['x-webhook-timestamp']}`;
  expect(headers).toMatchObject({
    'x-call-id': id,
    'x-webhook-signature': createHmac('sha256', secret).update(signed).digest('hex'),
  });
  expect(await bot.next()).toMatchObject({ event: 'connected' });
  const start = await bot.next();
  const { org_id: org } = (await system.api.read(OrganizationSettingsAnswer, 'GET', '/v1/org/settings')).data;
  expect(start).toMatchObject({
    event: 'start',
    sequenceNumber: '1',
    start: {
      accountSid: org,
      callSid: id,
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: { customer: 'Ada', from: number, direction: 'outbound' },
    },
  });
  const { streamSid } = start;

  bot.send({
    event: 'media',
    streamSid,
    media: { payload: encodeMulaw(tone(700, 8000 * 20)).toString('base64') },
  });
  const heard = await messages(bot, 'media', (found) => hasTone(soundOf(found.slice(-50)), 8000, 1100));
  expect(heard[0]).toMatchObject({ media: { track: 'inbound', chunk: '1', timestamp: '0' } });
  const callee = phone;
  await eventually("the bot's tone in the phone's recording", async () => {
    const { samples, sampleRate } = await callee.heard();
    return hasTone(samples, sampleRate, 700) || null;
  });

  await callee.press('42');
  const pressed = await messages(bot, 'dtmf', (found) => found.length === 2);
  expect(pressed.map(({ dtmf }) => dtmf)).toMatchObject([
    { track: 'inbound_track', digit: '4' },
    { track: 'inbound_track', digit: '2' },
  ]);
  bot.send({ event: 'dtmf', streamSid, dtmf: { digits: '19' } });
  const keys = await eventually('both keys at the phone', () => {
    const found = callee.events.filter(({ type }) => type === 'CALL_DTMF_START');
    return found.length >= 2 ? found : null;
  });
  expect(keys.map(({ param }) => param)).toEqual(['1', '9']);

  bot.send({ event: 'dance' });
  bot.send({ event: 'hangup', streamSid, hangup: { cause: 500 } });
  const [refused] = await messages(bot, 'error', (found) => found.length === 1);
  expect(refused).toMatchObject({ error: { event: 'hangup', code: 'invalid_field' } });
  const hangup = { reason: 'all is said', cause: 16, headers: { 'X-Disposition': 'sold' } };
  bot.send({ event: 'hangup', streamSid, hangup });
  const [stop] = await messages(bot, 'stop', (found) => found.length === 1);
  expect(stop).toMatchObject({ streamSid, stop: { accountSid: org, callSid: id } });
  expect(await bot.closed()).toBe(1000);
  await eventually('the phone to be hung up on', () =>
    callee.events.find(({ type }) => type === 'CALL_CLOSED'),
  );
  expect(await system.api.endedCall(id)).toMatchObject({
    direction: 'outbound',
    outcome: 'completed',
    hangup_by: 'agent',
    codec,
    media: { verdict: 'two_way' },
  });
  const bye = await eventually('the BYE in the trace', async () =>
    (await system.api.trace(id)).find(({ start_line }) => start_line.startsWith('BYE ')),
  );
  expect(bye.raw).toContain('\r\nX-Disposition: sold\r\n');
  // One header with two values or two headers mean the same (RFC 3261 section 7.3.1); a drachtio-server writes two.
  expect(bye.raw).toMatch(
    /\r\nReason: SIP;cause=200;text="all is said"(?:, |\r\nReason: )Q\.850;cause=16\r\n/,
  );
});

test.each([
  ['the phone takes', 'Opus', 'opus/48000/2', '+14155550126', true],
  ['the phone takes', 'G.722', 'G722/16000/1', '+14155550127', true],
  ['the phone refuses', 'Opus', 'PCMU', '+14155550128', false],
])('an agent speaks to a phone that is offered a wide codec first, and %s %s', async (...given) => {
  const [, codec, codecs, number, isWide] = given;
  phone = await Baresip.start({ codecs, certificate: pair, answers: true });
  await attachTrunk(system, number, phone.tlsPort);
  const offered = [codec, 'PCMU'];
  const patch = { phone_number: number, direction: 'outbound', codec_config: { codecs: offered } };
  await system.api.ok('PATCH', '/v1/sip/config', patch);
  await system.api.applied(number);
  const text = 'Sixty six sailors said yes. Six ships sail south, says Susan.';
  const pathway_id = await system.api.pathway(
    `speaks ${number}`,
    [{ id: 'end', type: 'End Call', data: { name: 'End', text, isStart: true } }],
    [],
  );
  const order = {
    phone_number: `sip:${user}@127.0.0.1:${phone.tlsPort}`,
    from: number,
    pathway_id,
    voicemail: { action: 'ignore' },
  };
  const { call_id: id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  const callee = phone;
  await eventually('the end of the call', () =>
    saw(callee.events).find(({ type }) => type === 'CALL_CLOSED'),
  );
  expect(await system.api.endedCall(id)).toMatchObject({
    termination: 'agent_hangup',
    codec: isWide ? codec : 'PCMU',
  });
  const { samples, sampleRate } = await callee.heard();
  const span = soundSpan(samples, sampleRate);
  expect(span.seconds).toBeGreaterThan(2);
  if (isWide) expect(shareAbove(span.samples, sampleRate, 4_200)).toBeGreaterThan(0.004);
  else expect(sampleRate).toBe(8000);
});
