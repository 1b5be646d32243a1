/** Real PBXs with the configuration that `GET /v1/sip/outbound-setup?pbx=` writes, as a customer copies it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { Attached, NumberConfigurations } from '#shared/api/sip.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { longTest } from '../kit/long-test.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort, freeUdpRange } from '../kit/programs/ports.ts';
import { tracedDirections } from '../kit/programs/traced-directions.ts';
import { startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { runShown, shownCommand, shownCommands } from '../kit/shown-commands.ts';
import { Asterisk } from './asterisk.ts';
import { phonesOf } from './asterisk-phones.ts';
import { Baresip } from './baresip.ts';
import { copiedFiles } from './copied.ts';
import { Kamailio } from './kamailio.ts';
import { soundSpan } from './sound.ts';
import { readWav } from './wav.ts';

/** An extension of the dialplan; one number is called at most once in 10 s. */
const callee = '+14155550197';
const username = 'acme-trunk';
const password = 'Correct-horse-7';
const hours = 'We are open from nine to five.';

const ownExtensions = phonesOf({ callee, recording: 'FOLDER/heard.wav' });

let system: TestSystem;
let pathway: string;
let port: number;
let pbx: Asterisk | null = null;
let kamailio: Kamailio | null = null;
let phone: Baresip | null = null;

beforeAll(async () => {
  system = await startTrunkSystem({}, { edge: { limits: { registration: { retryMs: 1_000 } } } });
  port = await freeTcpPort();
  pathway = await system.api.pathway(
    'office',
    [
      { id: 'greeting', type: 'Default', data: { name: 'Greeting', text: 'Press one.', isStart: true } },
      { id: 'hours', type: 'End Call', data: { name: 'Hours', text: hours } },
    ],
    [{ id: 'e1', source: 'greeting', target: 'hours', data: { label: 'User pressed 1' } }],
  );
});

afterEach(async () => {
  await phone?.close();
  await kamailio?.kill();
  await pbx?.stop();
  phone = null;
  kamailio = null;
  pbx = null;
});

afterAll(() => system?.stop());

/** @returns the password for the PBX, of a registration */
async function attach(number: string, directions: readonly object[]): Promise<string | undefined> {
  const { data } = await system.api.read(Attached, 'POST', '/v1/sip/attach', {
    phone_number: number,
    directions,
  });
  expect(data).toMatchObject({ configured: [number], failed: [] });
  await system.api.answerWith(number, { pathway_id: pathway });
  await system.api.applied(number);
  return data.register_password_for_pbx;
}

/** The PBX of a customer who copied the texts of the API, and filled the password in. */
async function pbxFor(number: string, secret = ''): Promise<Asterisk> {
  const files = await copiedFiles(system.api, 'asterisk', number, secret);
  const [pjsip = '', extensions = ''] = files.map(({ text }) => text);
  pbx = await Asterisk.start({
    port,
    pair: await trunkPair(system),
    trusted: system.ca,
    rtpPort: await freeUdpRange(40),
    pjsip,
    extensions: `${extensions}\n${ownExtensions}`,
  });
  return pbx;
}

/** The agent calls the number behind the PBX. @returns its id */
async function agentCalls(number: string, to: string): Promise<string> {
  const order = { phone_number: to, from: number, pathway_id: pathway, voicemail: { action: 'ignore' } };
  return (await system.api.read(CallQueued, 'POST', '/v1/calls', order)).call_id;
}

/** Waits for the end of a call whose 1 was heard, and whose audio went both ways. */
async function endsWell(id: string, more: object): Promise<void> {
  expect(await system.api.endedCall(id)).toMatchObject({
    outcome: 'completed',
    media: { verdict: 'two_way' },
    ...more,
  });
  const { transcripts } = await system.api.detail(id);
  expect(transcripts.map(({ text }) => text)).toContain(hours);
}

/** The last call of a number. */
function callOf(number: string): Promise<string> {
  return eventually(`a call of ${number} in the log`, async () => {
    const [last] = await system.api.calls(`&phone_number=${encodeURIComponent(number)}`);
    return last?.id;
  });
}

/** The PBX calls the agent, as its phones would, presses 1 and listens to the end. */
async function callsAgent(asterisk: Asterisk, number: string, codec = 'PCMU'): Promise<void> {
  await asterisk.command(`channel originate Local/${number}@to-trunkline extension caller@test`);
  await endsWell(await callOf(number), { direction: 'inbound', codec });
  await heard(asterisk);
}

/** The agent's sentence is in what the PBX recorded. */
async function heard(asterisk: Asterisk): Promise<void> {
  const { samples, sampleRate } = readWav(await eventually('a recording', () => asterisk.recorded('heard')));
  expect(soundSpan(samples, sampleRate).seconds).toBeGreaterThan(1);
}

test('Asterisk is known by its address, and calls go both ways', async () => {
  const number = '+14155550150';
  await attach(number, [
    { type: 'inbound', options: { allowed_ips: ['127.0.0.1'] } },
    { type: 'outbound', sip_endpoint: `127.0.0.1:${port}` },
  ]);
  const asterisk = await pbxFor(number);
  const [restart, show, ...more] = shownCommands('pbx/asterisk.md', 'asterisk').map(({ line }) => line);
  expect(more).toEqual([]);
  // It says so itself; to ask it is two programs each time.
  await eventually('the contact to be found', () => asterisk.output.includes('is now Reachable') || null);
  await eventually('the contact to be available', async () => {
    const said = saw(await runShown(show ?? '', { asterisk: asterisk.start }));
    return /^ *Contact: +trunkline\/sip:.* Avail /m.test(said) || null;
  });
  await callsAgent(asterisk, number);

  await endsWell(await agentCalls(number, callee), { direction: 'outbound' });
  // This one does not come back: its own loader started it.
  await runShown(restart ?? '', { asterisk: asterisk.start });
  await eventually('a restart', () => asterisk.output.includes('Asterisk is now restarting') || null);
});

longTest('Asterisk speaks Opus, is put on hold, and follows the REFER of the agent', async () => {
  const number = '+14155550156';
  await attach(number, [
    { type: 'inbound', options: { allowed_ips: ['127.0.0.1'] } },
    { type: 'outbound', sip_endpoint: `127.0.0.1:${port}` },
  ]);
  const patch = { phone_number: number, direction: 'inbound', codec_config: { codecs: ['Opus'] } };
  await system.api.ok('PATCH', '/v1/sip/config', patch);
  await system.api.applied(number);
  const asterisk = await pbxFor(number);
  await asterisk.command(`channel originate Local/${number}@to-trunkline application Echo`);
  const id = await callOf(number);
  await eventually('the greeting', async () => (await system.api.detail(id)).transcripts.length > 0 || null);

  await system.api.ok('POST', `/v1/calls/${id}/hold`, {});
  await eventually('the hold', () => asterisk.output.includes('Music class default requested') || null);
  await system.api.ok('POST', `/v1/calls/${id}/resume`, {});

  const order = { call_id: id, method: 'refer', transfer_number: callee };
  await system.api.ok('POST', '/v1/calls/active/transfer', order);
  expect(await system.api.endedCall(id)).toMatchObject({ codec: 'Opus', hangup_by: 'transfer' });
  await eventually('the callee', () => asterisk.output.includes('the callee answers') || null);
  expect(await tracedDirections(system.api, id)).toEqual([
    'sent sendonly',
    'received recvonly',
    'sent sendrecv',
    'received sendrecv',
  ]);
});

test('Asterisk answers the challenge with user name and password', async () => {
  const number = '+14155550151';
  await attach(number, [{ type: 'inbound', auth_mode: 'digest', digest_auth: { username, password } }]);
  await callsAgent(await pbxFor(number, password), number);
});

test('Asterisk takes the registration of the edge, and calls over its connection', async () => {
  const number = '+14155550152';
  const derived = await attach(number, [
    {
      type: 'inbound',
      auth_mode: 'register',
      sip_endpoint: `127.0.0.1:${port}`,
      register_auth: { username, password },
    },
  ]);
  const asterisk = await pbxFor(number, derived);
  await eventually('the registration', async () => {
    const path = `/v1/sip?phone_number=${encodeURIComponent(number)}`;
    const { data } = await system.api.read(NumberConfigurations, 'GET', path);
    return JSON.stringify(data).includes('"state":"registered"') || null;
  });
  await callsAgent(asterisk, number);
});

/** The PBX of a customer who copied the texts for Kamailio. */
async function kamailioFor(number: string, secret = ''): Promise<void> {
  const files = await copiedFiles(system.api, 'kamailio', number, secret);
  kamailio = await Kamailio.start({ port, pair: await trunkPair(system), trusted: system.ca, files });
}

/** An account in that text. */
const credentials = { username: '+14155550199', password: 'SECRET-OF-THIS-PHONE' };

/** A phone of it that answers. */
async function registeredPhone(): Promise<Baresip> {
  const certificate = await trunkPair(system);
  phone = await Baresip.start({ registrar: port, credentials, certificate, answers: true });
  const contact = `127.0.0.1:${phone.tlsPort};transport=tls>`;
  await eventually('the phone to be registered', () => kamailio?.output.includes(contact) || null);
  return phone;
}

/** Presses 1 when the call is up, and waits until the agent has hung up. */
async function pressesOne(baresip: Baresip): Promise<void> {
  await baresip.event('CALL_ESTABLISHED');
  await baresip.press('1');
  await baresip.event('CALL_CLOSED');
  await baresip.close();
}

async function phoneCalls(number: string): Promise<void> {
  phone = await Baresip.start({ credentials });
  await phone.command('dial', `sip:${number}@127.0.0.1:${port}`);
  await pressesOne(phone);
  await endsWell(await callOf(number), { direction: 'inbound', hangup_by: 'agent' });
}

test('Kamailio is known by its address, and its phones call and are called', async () => {
  const number = '+14155550153';
  await attach(number, [
    { type: 'inbound', options: { allowed_ips: ['127.0.0.1'] } },
    { type: 'outbound', sip_endpoint: `127.0.0.1:${port}` },
  ]);
  await kamailioFor(number);
  await runShown(shownCommand('pbx/kamailio.md', 'kamailio').line, kamailio?.programs ?? {});
  await phoneCalls(number);

  const called = await registeredPhone();
  const id = await agentCalls(number, credentials.username);
  await pressesOne(called);
  await endsWell(id, { direction: 'outbound', hangup_by: 'agent' });
});

test('Kamailio answers the challenge with user name and password', async () => {
  const number = '+14155550154';
  await attach(number, [{ type: 'inbound', auth_mode: 'digest', digest_auth: { username, password } }]);
  await kamailioFor(number, password);
  await phoneCalls(number);
});

test('Kamailio takes no calls of strangers', async () => {
  const number = '+14155550154';
  await kamailioFor(number, password);
  for (const wrong of [
    { ...credentials, password: 'wrong' },
    { ...credentials, username: 'nobody' },
  ]) {
    phone = await Baresip.start({ credentials: wrong });
    await phone.command('dial', `sip:${number}@127.0.0.1:${port}`);
    const { param } = await eventually('the end of the call', () =>
      phone?.events.find(({ type }) => type === 'CALL_CLOSED'),
    );
    expect(param).toBe('407 Proxy Authentication Required');
    await phone.close();
  }
});

test('baresip calls, and is called, without a PBX', async () => {
  const number = '+14155550155';
  await attach(number, [{ type: 'inbound', auth_mode: 'digest', digest_auth: { username, password } }]);
  const copied = await copiedFiles(system.api, 'baresip', number, password);
  const own = '+14155550198';
  const files = copied.map(({ path, text }) => ({ path, text: text.replace('+14155550199', own) }));
  const options = { files, trusted: system.ca, certificate: await trunkPair(system) };
  phone = await Baresip.start({ ...options, trusted: createAuthority('another').cert });
  await phone.command('dial', number);
  await eventually('the end of a call to an edge that is not trusted', () =>
    phone?.events.some(({ type }) => type === 'CALL_CLOSED'),
  );
  expect(phone.events.map(({ type }) => type)).not.toContain('CALL_ESTABLISHED');
  await phone.close();

  // As the page says.
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'pbx', 'baresip.md'), 'utf8');
  const [, dial = '', hangUp = ''] = /type `(\w)\+\d+`\. Digits .* `(\w)` hangs up/.exec(page) ?? [];
  phone = await Baresip.start({ ...options, typed: true });
  phone.type(`${dial}${number}\n`);
  await phone.event('CALL_ESTABLISHED');
  phone.type('1');
  await phone.event('CALL_CLOSED');
  await endsWell(await callOf(number), { direction: 'inbound', hangup_by: 'agent' });
  phone.type(`${dial}${number}\n`);
  const counted = (type: string) => phone?.events.filter((event) => event.type === type).length;
  await eventually('another call', () => counted('CALL_ESTABLISHED') === 2 || null);
  phone.type(hangUp);
  await eventually('its end', () => counted('CALL_CLOSED') === 2 || null);
  expect(await system.api.endedCall(await callOf(number))).toMatchObject({ hangup_by: 'peer' });
  await phone.close();

  phone = await Baresip.start({ ...options, answers: true });
  await attach(number, [{ type: 'outbound', sip_endpoint: `127.0.0.1:${phone.tlsPort}` }]);
  const id = await agentCalls(number, own);
  await pressesOne(phone);
  await endsWell(id, { direction: 'outbound' });
});
