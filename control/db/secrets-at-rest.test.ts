/** No secret is in the database's files in plain text, whichever part wrote it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { signIn } from '../../test/kit/control/sessions.ts';

let folder = '';
let test: TestControl;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'at-rest-'));
  test = await startControl({ DATABASE_URL: join(folder, 'control.db'), TRUNKLINE_DATA: folder });
});
afterEach(async () => {
  await test.close();
  rmSync(folder, { recursive: true });
});

const number = '+14155550100';
const trunkPassword = 'trunk-password-in-plain';
const registerPassword = 'register-password-in-plain';
const digestPassword = 'digest-password-in-plain';

const toolToken = 'tool-token-in-plain';
const modelKey = 'model-key-in-plain';
const storageSecret = 'storage-secret-in-plain';
const portPin = 'pin-97531-in-plain';
const portOrder = {
  phone_numbers: ['+12125550190'],
  losing_carrier_information: {
    customer_type: 'personal',
    first_name: 'Robin',
    last_name: 'Doe',
    authorized_representative_email: 'robin@example.com',
    account_number: '12345',
    account_telephone_number: '+12125550190',
    address: { street: '1 Main Street', city: 'New York', state: 'NY', zip: '10001' },
  },
};

/** The database, its write-ahead log and other files next to it. */
function stored(): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

async function post(url: string, body: object) {
  // A response kept for repeated requests is stored too.
  const answer = await test.call('POST', url, { body, headers: { 'idempotency-key': url } });
  expect(answer.status).toBe(200);
  return {
    first: answer,
    again: await test.call('POST', url, { body, headers: { 'idempotency-key': url } }),
  };
}

it('the database contains no keys, passwords or secrets, even where a response shows one once', async () => {
  const attached = await post('/v1/sip/attach', {
    phone_number: number,
    directions: [
      {
        type: 'outbound',
        sip_endpoint: 'a.example',
        options: { sip_username: 'acme', sip_password: trunkPassword },
      },
      {
        type: 'inbound',
        auth_mode: 'register',
        register_auth: { username: 'pbx', password: registerPassword },
      },
      {
        type: 'inbound',
        auth_mode: 'digest',
        digest_auth: { username: 'pbx', password: digestPassword },
      },
    ],
  });
  const made = await post('/v1/org/keys', { name: 'Reports', role: 'read' });
  const another = await post(`/v1/org/keys/${made.first.body.data?.key?.id}/rotate`, {});
  const browser = await signIn(test, test.key);
  await browser.call('POST', '/v1/org/webhook-secret', {
    body: {},
    headers: { 'idempotency-key': 'browser' },
  });
  const rotated = await post('/v1/org/webhook-secret', {});
  await post('/v1/integrations/chat-app/resources', {
    name: 'Chat',
    credentials: { base_url: 'https://chat.example.com', token: toolToken },
  });
  const connection = { name: 'main', protocol: 'openai', url: 'wss://models.example.com/', model: 'm' };
  await test.call('PATCH', '/v1/org/settings', {
    body: { realtime: [{ ...connection, api_key: modelKey }] },
  });
  const storage = { url: 'https://s3.example.com', bucket: 'calls', access_key_id: 'id' };
  await test.call('PUT', '/v1/org/recording-storage', {
    body: { ...storage, secret_access_key: storageSecret },
    headers: { 'idempotency-key': 'storage' },
  });
  await post('/v1/sip/port/initiate', { ...portOrder, pin: portPin });
  const derived = String(attached.first.body.data?.register_password_for_pbx);
  const secret = String(rotated.first.body.data?.secret);
  expect(derived).toHaveLength(32);
  expect(secret).toHaveLength(64);
  expect(attached.again.body).toEqual(attached.first.body);
  expect(rotated.again.body).toEqual(rotated.first.body);
  expect(rotated.again.headers['idempotent-replayed']).toBe('true');
  const text = stored();
  // Other data is found, so the search works.
  expect(text).toContain(number);
  expect(text).toContain(test.key.slice(0, 9));
  const secrets = [
    trunkPassword,
    registerPassword,
    digestPassword,
    derived,
    secret,
    toolToken,
    modelKey,
    storageSecret,
    portPin,
    String(made.first.body.data?.secret),
    String(another.first.body.data?.secret),
    browser.cookie.split('=')[1] ?? '',
    browser.csrfToken,
  ];
  expect(new Set(secrets).size).toBe(secrets.length);
  for (const plain of secrets) expect(text).not.toContain(plain);
  for (const key of [test.key, test.operatorKey, test.edgeToken]) expect(text).not.toContain(key);
});

it('returns a response that an earlier version stored unsealed', async () => {
  const { db } = test.control.services.database;
  const send = () =>
    test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' }, headers: { 'idempotency-key': 'k' } });
  await send();
  await db
    .updateTable('idempotent_answers')
    .set({ answer: '{"status":"success","pathway_id":"old"}' })
    .execute();
  expect((await send()).body).toEqual({ status: 'success', pathway_id: 'old' });
});
