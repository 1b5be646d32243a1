/**
 * Hold, park and conferences in the whole system, ordered through the API, with real phones, and the quality of calls that
 * are joined. What a held peer hears is in edge/media/our-hold.test.ts: baresip records nothing after a re-INVITE, but
 * counts the packets that it plays.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConferenceList } from '#shared/api/conferences.ts';
import { share, tone } from '../kit/fakes/audio.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { tracedDirections } from '../kit/programs/traced-directions.ts';
import { number, TransferSystem } from '../kit/programs/transfers.ts';
import { Baresip } from '../peers/baresip.ts';
import { hasTone } from '../peers/sound.ts';
import { joinedCalls } from './joined-quality.ts';

let at: TransferSystem;
beforeAll(async () => {
  // Several shards are the rule on four processors and more.
  at = await TransferSystem.start({ MEDIA_WORKERS: '2' });
});
beforeEach(() => at.begin());
afterEach(() => at.end());
afterAll(() => at?.close());

// First: the conference changes the codecs of the number.
joinedCalls(() => at);

/** @returns the length of a phone's recording when a fifth of a second of it, after `from`, is that tone */
async function phoneHears(phone: Baresip, hz: number, from = 0): Promise<number> {
  return eventually(`a tone of ${hz} Hz in the recording`, async () => {
    const { samples, sampleRate } = await phone.heard();
    return hasTone(samples.subarray(from), sampleRate, hz) ? samples.length : null;
  });
}

/** Waits until the session of the phone has that direction. @returns the packets that it has received by then */
async function has(phone: Baresip, direction: string): Promise<number> {
  return eventually(`the direction ${direction}`, async () => {
    const text = await phone.command('audio_debug');
    saw(text);
    if (!text.includes(`audio dir=${direction}`)) return null;
    // One count for each SSRC: that of a relay ends with the hold.
    return [...text.matchAll(/rcvd=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  });
}

/** The same, and the phone goes on receiving packets. */
async function plays(phone: Baresip, direction: string): Promise<void> {
  const before = await has(phone, direction);
  await eventually('packets at the phone', async () => (await has(phone, direction)) > before + 20 || null);
}

test('a phone on hold gets music and says recvonly, the other one hears silence, until both talk again', async () => {
  const callee = await Baresip.start({ speech: tone(1100, 8000 * 60), certificate: at.pair, answers: true });
  const phone = await Baresip.start({ speech: tone(700, 8000 * 60) });
  at.open.push(callee, phone);
  await phone.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
  await phone.event('CALL_ESTABLISHED');
  const { id } = await at.live();
  await at.transfer(id, { transfer_number: `sip:+14155550199@127.0.0.1:${callee.tlsPort}` });
  await callee.event('CALL_ESTABLISHED');
  await phoneHears(callee, 700);
  await phoneHears(phone, 1100);
  const leg = await at.live(({ direction }) => direction === 'outbound');

  await at.system.api.ok('POST', `/v1/calls/${leg.id}/hold`, {});
  await plays(callee, 'recvonly');
  const quiet = await eventually('silence at the other phone', async () => {
    const { samples } = await phone.heard();
    const last = samples.slice(-1600);
    return last.every((sample) => Math.abs(sample) < 50) ? samples.length : null;
  });

  await at.system.api.ok('POST', `/v1/calls/${leg.id}/resume`, {});
  await phoneHears(phone, 1100, quiet);
  await plays(callee, 'sendrecv');
  await phone.command('hangup');
  expect(await at.ended(leg.id)).toMatchObject({
    termination: 'bridge_ended',
    media: { verdict: 'two_way' },
  });
  expect(await at.ended(id)).toMatchObject({ hangup_by: 'peer', media: { verdict: 'two_way' } });
  expect(await tracedDirections(at.system.api, leg.id)).toEqual([
    'sent sendonly',
    'received recvonly',
    'sent sendrecv',
    'received sendrecv',
  ]);
  const notes = ['The call was put on hold.', 'The hold has ended.'];
  expect(await at.notes(leg.id)).toEqual(expect.arrayContaining(notes));
});

test('a caller of an agent is held, also when its phone holds the call too', async () => {
  const phone = await Baresip.start({ speech: tone(700, 8000 * 60) });
  at.open.push(phone);
  await phone.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
  await phone.event('CALL_ESTABLISHED');
  const { id } = await at.live();
  await at.system.api.ok('POST', `/v1/calls/${id}/hold`, {});
  await plays(phone, 'recvonly');
  await phone.command('hold');
  await has(phone, 'inactive');
  await phone.command('resume');
  await plays(phone, 'recvonly');
  await at.system.api.ok('POST', `/v1/calls/${id}/resume`, {});
  await plays(phone, 'sendrecv');
  await phone.press('1');
  expect(await at.ended(id)).toMatchObject({ hangup_by: 'agent', media: { verdict: 'two_way' } });
  expect(await tracedDirections(at.system.api, id)).toEqual([
    'sent sendonly',
    'received recvonly',
    'received sendonly',
    'sent inactive',
    'received sendrecv',
    'sent sendonly',
    'sent sendrecv',
    'received sendrecv',
  ]);
});

test('a caller retrieves a parked one, and both phones hear each other', async () => {
  const parked = await Baresip.start({ speech: tone(700, 8000 * 60) });
  const other = await Baresip.start({ codecs: 'PCMA', speech: tone(1100, 8000 * 60) });
  at.open.push(parked, other);
  await parked.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
  await parked.event('CALL_ESTABLISHED');
  const { id } = await at.live();
  await at.system.api.ok('POST', `/v1/calls/${id}/park`, { slot: '7' });
  await plays(parked, 'recvonly');
  await other.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
  await other.event('CALL_ESTABLISHED');
  const by = await at.live((call) => call.id !== id);
  expect(await at.transfer(by.id, { transfer_number: 'park:7' })).toMatchObject({ status: 200 });
  await phoneHears(other, 700);
  await plays(parked, 'sendrecv');
  await other.command('hangup');
  expect(await at.ended(by.id)).toMatchObject({
    hangup_by: 'peer',
    codec: 'PCMA',
    media: { verdict: 'two_way' },
  });
  expect(await at.ended(id)).toMatchObject({
    termination: 'bridge_ended',
    hangup_by: 'transfer',
    codec: 'PCMU',
    media: { verdict: 'two_way' },
  });
});

test('a caller retrieves a parked one by its id, on an idle edge with two media shards', async () => {
  const parked = await Baresip.start({ speech: tone(700, 8000 * 60) });
  const other = await Baresip.start({ speech: tone(1100, 8000 * 60) });
  at.open.push(parked, other);
  await parked.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
  await parked.event('CALL_ESTABLISHED');
  const { id } = await at.live();
  await other.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
  await other.event('CALL_ESTABLISHED');
  const by = await at.live((call) => call.id !== id);
  // baresip never plays a call whose stream changes while its jitter buffer waits for the third packet.
  await eventually('the sound of the agent', async () => {
    const heard = await other.heard().catch(() => null);
    return heard !== null && heard.samples.length > 0 ? true : null;
  });
  const park = { slot: '7', timeout_s: 60, on_timeout: 'agent' };
  await at.system.api.ok('POST', `/v1/calls/${id}/park`, park);
  await at.system.api.ok('POST', `/v1/calls/${id}/retrieve`, { call_id: by.id });
  await phoneHears(other, 700);
  await plays(parked, 'sendrecv');
});

test('three phones with three codecs hear each other in a conference, until they are muted, removed or hang up', async () => {
  const codecs = [
    ['PCMU', 500],
    ['G722/16000/1', 900],
    ['opus/48000/2', 1300],
  ] as const;
  const inbound = {
    phone_number: number,
    direction: 'inbound',
    codec_config: { codecs: ['Opus', 'G.722', 'PCMU'] },
  };
  await at.system.api.ok('PATCH', '/v1/sip/config', inbound);
  await at.system.api.applied(number);
  const ids: string[] = [];
  const phones: Baresip[] = [];
  for (const [name, hz] of codecs) {
    const phone = await Baresip.start({ codecs: name, speech: tone(hz, 8000 * 60) });
    at.open.push(phone);
    phones.push(phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    const { id } = await at.live((call) => !ids.includes(call.id));
    ids.push(id);
    expect(await at.transfer(id, { transfer_number: 'conference:sales' })).toMatchObject({ status: 200 });
  }
  for (const [index, phone] of phones.entries()) {
    await eventually(`both other tones, and not its own, at phone ${index}`, async () => {
      const { samples, sampleRate } = await phone.heard();
      const last = samples.slice(-sampleRate / 5);
      const shares = codecs.map(([, hz]) => share(last, hz, sampleRate));
      saw(shares.join(', '));
      return shares.every((one, at) => (at === index ? one < 0.05 : one > 0.3)) || null;
    });
  }
  const { conference_id } = await eventually('the conference with three parties', async () => {
    const { data } = await at.system.api.read(ConferenceList, 'GET', '/v1/conferences');
    const [open] = data.conferences;
    return open?.parties.length === 3 ? open : null;
  });
  const party = `/v1/conferences/${conference_id}/parties/${ids[0]}`;
  await at.system.api.ok('POST', `${party}/mute`);
  await eventually('that the muted tone is gone at the second phone', async () => {
    const { samples, sampleRate } = (await phones[1]?.heard()) ?? {
      samples: new Int16Array(0),
      sampleRate: 8000,
    };
    const last = samples.slice(-sampleRate / 5);
    return (share(last, 500, sampleRate) < 0.05 && share(last, 1300, sampleRate) > 0.3) || null;
  });
  await at.system.api.ok('DELETE', party);
  expect(await at.ended(ids[0] ?? '')).toMatchObject({ hangup_by: 'api' });
  for (const [index, phone] of phones.entries()) {
    if (index === 0) continue;
    await phone.command('hangup');
    expect(await at.ended(ids[index] ?? '')).toMatchObject({
      hangup_by: 'peer',
      media: { verdict: 'two_way' },
    });
  }
});
