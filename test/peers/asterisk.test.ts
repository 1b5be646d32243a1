/** A real PBX with the configuration that `GET /v1/sip/outbound-setup?pbx=asterisk` writes, as a customer copies it. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { OutboundSetup } from '#shared/api/pbx-setup.ts';
import { Attached, NumberConfigurations } from '#shared/api/sip.ts';
import { passwordToFill } from '#shared/pbx/facts.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort, freeUdpRange } from '../kit/programs/ports.ts';
import { startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { Asterisk } from './asterisk.ts';
import { soundSpan } from './sound.ts';
import { readWav } from './wav.ts';

const callee = '+14155550199';
const username = 'acme-trunk';
const password = 'Correct-horse-7';
const hours = 'We are open from nine to five.';

/** What a customer's own dialplan would do with calls. */
const ownExtensions = `
[test]
exten => caller,1,Wait(1)
 same => n,SendDTMF(1)
 same => n,Record(FOLDER/heard.wav,0,20,kq)
 same => n,Hangup()

[from-trunkline]
exten => ${callee.slice(1)},1,Answer()
 same => n,Wait(1)
 same => n,SendDTMF(1)
 same => n,Record(FOLDER/heard.wav,0,20,kq)
 same => n,Hangup()
`;

let system: TestSystem;
let pathway: string;
let port: number;
let pbx: Asterisk | null = null;

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
  await pbx?.stop();
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
  const path = `/v1/sip/outbound-setup?pbx=asterisk&phone_number=${encodeURIComponent(number)}`;
  const { files = [] } = (await system.api.read(OutboundSetup, 'GET', path)).data;
  const [pjsip = '', extensions = ''] = files.map(({ text }) => text.replace(passwordToFill, secret));
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

/** The PBX calls the agent, as its phones would, presses 1 and listens to the end. */
async function callsAgent(asterisk: Asterisk, number: string): Promise<void> {
  await asterisk.command(`channel originate Local/${number}@to-trunkline extension caller@test`);
  const id = await eventually(`a call of ${number} in the log`, async () => {
    const [last] = await system.api.calls(`&phone_number=${encodeURIComponent(number)}`);
    return last?.id;
  });
  expect(await system.api.endedCall(id)).toMatchObject({
    direction: 'inbound',
    outcome: 'completed',
    codec: 'PCMU',
    media: { verdict: 'two_way' },
  });
  const { transcripts } = await system.api.detail(id);
  expect(transcripts.map(({ text }) => text)).toContain(hours);
  await heard(asterisk);
}

/** The agent's sentence is in what the PBX recorded. */
async function heard(asterisk: Asterisk): Promise<void> {
  const { samples, sampleRate } = readWav(await eventually('a recording', () => asterisk.recorded('heard')));
  expect(soundSpan(samples, sampleRate).seconds).toBeGreaterThan(1);
}

test('a PBX is known by its address, and calls go both ways', async () => {
  const number = '+14155550150';
  await attach(number, [
    { type: 'inbound', options: { allowed_ips: ['127.0.0.1'] } },
    { type: 'outbound', sip_endpoint: `127.0.0.1:${port}` },
  ]);
  const asterisk = await pbxFor(number);
  await callsAgent(asterisk, number);

  const order = { phone_number: callee, from: number, pathway_id: pathway, voicemail: { action: 'ignore' } };
  const { call_id: id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  expect(await system.api.endedCall(id)).toMatchObject({
    direction: 'outbound',
    outcome: 'completed',
    media: { verdict: 'two_way' },
  });
  expect((await system.api.detail(id)).transcripts.map(({ text }) => text)).toContain(hours);
});

test('a PBX answers the challenge with user name and password', async () => {
  const number = '+14155550151';
  await attach(number, [{ type: 'inbound', auth_mode: 'digest', digest_auth: { username, password } }]);
  await callsAgent(await pbxFor(number, password), number);
});

test('a PBX takes the registration of the edge, and calls over its connection', async () => {
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
