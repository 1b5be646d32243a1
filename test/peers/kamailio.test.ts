/** The edge registers at a customer's PBX, which calls over that connection, and re-registers after failures. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Attached, type Configuration, NumberConfigurations } from '#shared/api/sip.ts';
import { frequencyOf } from '../kit/fakes/audio.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { Baresip } from './baresip.ts';
import { copiedFiles } from './copied.ts';
import { Kamailio } from './kamailio.ts';
import { soundSpan } from './sound.ts';

const username = 'acme-trunk';
/** An account in the text of the API. */
const credentials = { username: '+14155550199', password: 'SECRET-OF-THIS-PHONE' };
const office = '+14155550122';
let system: TestSystem;
let port: number;
let derived = '';
let pbx: Kamailio | null = null;
let phone: Baresip | null = null;

beforeAll(async () => {
  const registration = { keepaliveMs: 1_000, retryMs: 1_000, retryMaxMs: 2_000, timeoutMs: 3_000 };
  system = await startTrunkSystem({}, { edge: { limits: { registration } } });
  port = await freeTcpPort();
  derived = await attach('the customer chose this');
});

afterEach(async () => {
  await phone?.close();
  phone = null;
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => pbx?.kill(),
  ),
);

/** @returns the password for the PBX */
async function attach(password: string, number = system.tone.number): Promise<string> {
  const { data } = await system.api.read(Attached, 'POST', '/v1/sip/attach', {
    phone_number: number,
    directions: [
      {
        type: 'inbound',
        auth_mode: 'register',
        sip_endpoint: `127.0.0.1:${port}`,
        register_auth: { username, password },
      },
    ],
  });
  return data.register_password_for_pbx ?? '';
}

/** Starts the PBX of a customer who copied the text of the API, with a line for a second number. */
async function pbxWith(password: string): Promise<void> {
  const files = await copiedFiles(system.api, 'kamailio', system.tone.number, password);
  const route = `if ($rU == "${system.tone.number}")`;
  const both = files.map(({ path, text }) => ({
    path,
    text: text.replace(route, `if ($rU == "${office}") route(TO_TRUNKLINE);\n  ${route}`),
  }));
  pbx = await Kamailio.start({ port, pair: await trunkPair(system), trusted: system.ca, files: both });
}

/** The number's registering record, once it matches. */
function registering(
  what: string,
  wished: (record: Configuration) => boolean,
  number = system.tone.number,
): Promise<Configuration> {
  return eventually(`the registration of ${number} to be ${what}`, async () => {
    const path = `/v1/sip?phone_number=${encodeURIComponent(number)}`;
    const { data } = await system.api.read(NumberConfigurations, 'GET', path);
    const record = data.configurations.find(({ options }) => options.auth_mode === 'register');
    return record && wished(record) ? record : null;
  });
}

const inState = (state: string) => (record: Configuration) => record.registration?.state === state;

/** REGISTERs that the PBX has accepted since its start. */
function accepted(): number {
  return pbx?.output.match(/REGISTER \d+ REGISTER/g)?.length ?? 0;
}

/** A phone behind the PBX calls our number and hears the tone. @returns SIP Call-ID of our leg */
async function callThroughPbx(): Promise<string> {
  phone = await Baresip.start({ credentials });
  const baresip = phone;
  await baresip.command('dial', `sip:${system.tone.number}@127.0.0.1:${port}`);
  await baresip.event('CALL_ESTABLISHED');
  await eventually('two seconds of tone', async () => {
    const { samples, sampleRate } = await baresip.heard();
    return samples.length / sampleRate > 2 || null;
  });
  const live = (await system.api.calls()).find(({ ended_at }) => ended_at === null);
  if (!live) throw new Error('no call is in the log');
  await baresip.command('hangup');
  const ended = await system.api.endedCall(live.id);
  expect(ended).toMatchObject({
    outcome: 'completed',
    to: system.tone.number,
    media: { verdict: 'two_way' },
  });
  const { samples, sampleRate } = await baresip.heard();
  const { samples: sound } = soundSpan(samples, sampleRate);
  expect(Math.abs(frequencyOf(sound, sampleRate) / system.tone.hz - 1)).toBeLessThan(0.01);
  await phone.close();
  phone = null;
  return live.id;
}

test('an unreachable PBX is reported as a failed registration', async () => {
  const { registration } = await registering('failed', inState('failed'));
  expect(registration).toMatchObject({ registrar: `127.0.0.1:${port}`, expires_at: null, sip_code: null });
  expect(registration?.last_error).toBe(
    `Nothing listens at 127.0.0.1:${port}: the connection was refused; check host, port and firewall.`,
  );
});

test('the PBX accepts the derived password and calls over the connection of the edge', async () => {
  await pbxWith(derived);
  const { registration, id } = await registering('registered', inState('registered'));
  expect(registration).toMatchObject({ registrar: `127.0.0.1:${port}`, sip_code: 200, last_error: null });
  const leftMs = Date.parse(registration?.expires_at ?? '') - Date.now();
  expect(leftMs).toBeGreaterThan(100_000);
  expect(leftMs).toBeLessThanOrEqual(300_000);
  expect(pbx?.output).toContain(`contact <sip:${username}@127.0.0.1:${system.sipPort};transport=tls>`);
  const call = await callThroughPbx();
  const invite = (await system.api.trace(call)).find(({ start_line }) => start_line.startsWith('INVITE '));
  // From the port where the PBX listens: it did not connect to us.
  expect(invite).toMatchObject({ direction: 'received', remote: `127.0.0.1:${port}` });
  expect(invite?.start_line).toMatch(new RegExp(`^INVITE sip:${username}@127\\.0\\.0\\.1:${system.sipPort}`));
  expect(await system.api.endedCall(call)).toMatchObject({ trunk_id: id });
});

test('the edge registers again at a PBX that crashed and restarted, which can then call', async () => {
  await pbx?.kill();
  await registering('lost', (record) => record.registration?.state !== 'registered');
  await pbx?.start();
  await registering('registered', inState('registered'));
  await callThroughPbx();
});

test('the new engine registers again after a crash', async () => {
  const before = accepted();
  await system.crashEngine();
  await eventually('another REGISTER', () => accepted() > before || null);
  await registering('registered', inState('registered'));
  await callThroughPbx();
});

test('a killed edge registers again after its restart, and its PBX can call', async () => {
  const before = accepted();
  await system.crashEdge();
  await system.startEdge();
  await eventually('another REGISTER', () => accepted() > before || null);
  await registering('registered', inState('registered'));
  await callThroughPbx();
});

test('two numbers share one registration, and To selects the called one', async () => {
  const pathway = await system.api.pathway(
    'office',
    [{ id: 'end', type: 'End Call', data: { name: 'End', text: 'The office is closed.', isStart: true } }],
    [],
  );
  const before = accepted();
  expect(await attach('the customer chose this', office)).toBe(derived);
  await system.api.answerWith(office, { pathway_id: pathway });
  await system.api.applied(office);
  const { registration, id } = await registering('registered', inState('registered'), office);
  const first = await registering('registered', inState('registered'));
  expect(registration?.expires_at).toBe(first.registration?.expires_at);
  // The binding existed: no REGISTER was needed.
  expect(accepted()).toBe(before);

  phone = await Baresip.start({ credentials });
  await phone.command('dial', `sip:${office}@127.0.0.1:${port}`);
  await phone.event('CALL_ESTABLISHED');
  await phone.event('CALL_CLOSED');
  await phone.close();
  phone = null;
  const call = await eventually('the call to the office', async () =>
    (await system.api.calls()).find(({ to, ended_at }) => to === office && ended_at !== null),
  );
  expect(call).toMatchObject({ outcome: 'completed', hangup_by: 'agent', trunk_id: id });
  const { transcripts } = await system.api.detail(call.id);
  expect(transcripts.map(({ text }) => text)).toContain('The office is closed.');

  await system.api.ok('POST', '/v1/sip/detach', {
    phone_number: office,
    directions: [{ type: 'inbound', id }],
  });
  await system.api.applied(office);
  // The other number still has it.
  expect(pbx?.output).not.toMatch(/expires 0 /);
  await callThroughPbx();
});

test('a wrong password fails with an explanation, and no password appears anywhere', async () => {
  const other = await attach('the customer chose another one');
  expect(other).not.toBe(derived);
  const record = await registering('failed', inState('failed'));
  expect(record.registration).toMatchObject({ sip_code: 401, expires_at: null });
  expect(record.registration?.last_error).toBe(
    `127.0.0.1:${port} rejected our user name and password; the account there must have the derived password, returned by attach and update (register_password_for_pbx) (401 Unauthorized).`,
  );
  expect(record.options.register_auth?.password).toBe('********');
  for (const text of [JSON.stringify(record), system.edge.output, system.control.output]) {
    expect(text).not.toContain(derived);
    expect(text).not.toContain(other);
  }
});

test('a detached number is unregistered', async () => {
  await attach('the customer chose this');
  const { id } = await registering('registered', inState('registered'));
  await system.api.ok('POST', '/v1/sip/detach', {
    phone_number: system.tone.number,
    directions: [{ type: 'inbound', id }],
  });
  await eventually(
    'the unregistering REGISTER',
    () => /REGISTER \d+ REGISTER expires 0 /.test(pbx?.output ?? '') || null,
  );
});

test('a stopping edge unregisters first', async () => {
  await attach('the customer chose this');
  await registering('registered', inState('registered'));
  const before = (pbx?.output.match(/expires 0 /g) ?? []).length;
  await system.edge.end('SIGTERM');
  expect((pbx?.output.match(/expires 0 /g) ?? []).length).toBe(before + 1);
  await system.startEdge();
  await registering('registered', inState('registered'));
});

/** Seconds from the last failure to the next attempt. */
function pauseS({ registration }: Configuration): number {
  return (Date.parse(registration?.next_try_at ?? '') - Date.parse(registration?.at ?? '')) / 1000;
}

/** The account gets another password in the PBX. */
async function learn(password: string): Promise<void> {
  await pbx?.kill();
  await pbxWith(password);
}

test('a PBX that gets the password after the attach is registered at within seconds', async () => {
  const later = await attach('the customer chose a third one');
  const failed = await registering('refused', ({ registration }) => registration?.sip_code === 401);
  expect(pauseS(failed)).toBeLessThanOrEqual(30);
  await learn(later);
  await registering('registered', inState('registered'));
});

test('an update retries at once, a restart of the edge does not, register-now does not wait', async () => {
  const fourth = await attach('the customer chose a fourth one');
  await registering('refused', ({ registration }) => registration?.sip_code === 401);
  await system.crashEdge();
  const crashed = new Date().toISOString();
  await system.startEdge();
  const wished = ({ registration }: Configuration) =>
    registration?.state === 'failed' && registration.sip_code === 401 && registration.at > crashed;
  // The stored pause continues; its record was not set up in this run of the edge, so there are no close retries.
  const alone = await registering(
    'refused after the stored pause',
    (record) => wished(record) && pauseS(record) >= 300,
  );

  // An update of another field also restarts the close retries.
  const body = {
    phone_number: system.tone.number,
    updates: { type: 'inbound', id: alone.id, options: { allowed_ips: ['192.0.2.1'] } },
  };
  await system.api.ok('POST', '/v1/sip/update', body);
  const tried = await registering(
    'tried again',
    (record) => wished(record) && record.registration?.at !== alone.registration?.at,
  );
  expect(pauseS(tried)).toBeLessThanOrEqual(30);

  await learn(fourth);
  const order = { phone_number: system.tone.number };
  // On a busy machine the first may still meet the connection of the PBX that was killed, or take longer than is waited.
  const now = await eventually('register-now to register', async () => {
    const answer = saw(await system.api.request('POST', '/v1/sip/register-now', order));
    return answer.status === 200 && answer.text.includes('"registered"') ? answer : null;
  });
  expect(now.body).toMatchObject({
    data: {
      configuration_id: alone.id,
      finished: true,
      registration: { state: 'registered', sip_code: 200 },
    },
  });
  const soon = await system.api.request('POST', '/v1/sip/register-now', order);
  expect(soon.status).toBe(429);
  expect(soon.body).toMatchObject({
    errors: [{ error: 'RATE_LIMITED', details: { scope: 'register_now' } }],
  });
});
