/** A PBX that authenticates by user name and password, as SIPp speaks it, and what the API shows of its calls. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestSystem } from '../kit/programs/harness.ts';
import { runScenario } from './run.ts';

const number = '+14155550114';
const password = 'a-long-password';

let system: TestSystem;

beforeAll(async () => {
  system = await TestSystem.start();
  const { api } = system;
  await api.ok('POST', '/v1/sip/attach', {
    phone_number: number,
    directions: [{ type: 'inbound', auth_mode: 'digest', digest_auth: { username: 'acme', password } }],
  });
  await api.answerWith(number, { prompt: 'Say hello.' });
  await api.applied(number);
});

afterAll(() => system?.stop());

const scenario = (name: string, secret: string) =>
  runScenario(name, {
    port: system.sipPort,
    ca: system.ca,
    number,
    source: '127.0.0.9',
    credentials: { username: 'acme', password: secret },
  });

test('is challenged once, and its call has a record and a trace without the digest', async () => {
  const { passed, report, callId } = await scenario('uac-pbx-digest-expect-200', password);
  expect(passed, report).toBe(true);
  const call = await system.api.endedCall(callId);
  expect(call).toMatchObject({ direction: 'inbound', to: number, outcome: 'completed', hangup_by: 'peer' });
  const messages = await system.api.trace(call.id);
  const authorizations = messages.flatMap(({ raw }) => /^Authorization:.*$/im.exec(raw)?.[0] ?? []);
  expect(authorizations).toHaveLength(1);
  expect(authorizations[0]).toMatch(/nonce="REDACTED".*response="REDACTED"/);
  // Neither by its name nor by its value.
  const nonce = /nonce="([^"]+)"/.exec(report)?.[1] ?? '';
  const response = /response="([0-9a-f]{32})"/.exec(report)?.[1] ?? '';
  expect([nonce.length, response.length]).toEqual([46, 32]);
  for (const secret of [nonce, response, password]) expect(JSON.stringify(messages)).not.toContain(secret);
});

test('with a wrong password gets 403, and the record says why', async () => {
  const { passed, report, callId } = await scenario('uac-pbx-wrong-password-expect-403', 'another-password');
  expect(passed, report).toBe(true);
  const call = await system.api.endedCall(callId);
  expect(call).toMatchObject({ outcome: 'failed', sip_code: 403 });
  expect(JSON.stringify(call)).toContain('User name or password of the call are wrong.');
});
