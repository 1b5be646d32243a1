import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../testing/harness.ts';

let test: TestControl;
let pathwayId = '';
beforeAll(async () => {
  test = await startControl({ RATE_LIMIT_PER_MINUTE: '1000000' });
  await test.call('POST', '/v1/sip/attach', {
    body: { phone_number: '+14155550100', directions: ['inbound'] },
  });
  const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'x' } });
  pathwayId = String(body.pathway_id);
});
afterAll(() => test.close());

/** Property names that the schemas know, so that values get past the first check. */
const known = [
  'phone_number',
  'phone_numbers',
  'directions',
  'type',
  'priority',
  'sip_endpoint',
  'options',
  'port',
  'transport',
  'secure_media',
  'allowed_ips',
  'sip_username',
  'sip_password',
  'auth_mode',
  'register_auth',
  'username',
  'password',
  'headers',
  'direction',
  'key',
  'value',
  'passthrough',
  'updates',
  'id',
  'service',
  'input',
  'name',
  'description',
  'nodes',
  'edges',
  'data',
  'source',
  'target',
  'label',
  'isStart',
  'pathway_id',
  'pathway_version',
  'stream_url',
  'prompt',
  'request_data',
  'transfer_list',
  'tools',
  'timezone',
  'webhook',
  'language',
  'start_node_id',
];
const leaf = fc.oneof(
  fc.constantFrom(
    'inbound',
    'outbound',
    'register',
    'ip',
    'custom',
    'uui',
    '+14155550100',
    'a.example.com',
    'Default',
    'wss://a.example.com',
    '********',
    '198.51.100.1',
    'acme',
    'long password',
    null,
    true,
    0,
    1,
    5061,
  ),
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string()), tie('value'), { maxKeys: 8 }),
  ),
}));

/** Bodies whose members are the right ones, with anything in them. */
const shaped = (members: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...members), json, { maxKeys: members.length });

const direction = fc.record(
  {
    type: fc.constantFrom('inbound', 'outbound'),
    priority: fc.oneof(fc.integer({ min: 0, max: 101 }), json),
    sip_endpoint: fc.oneof(
      fc.constantFrom('a.example.com', 'sip:b.example.com:5070', 'tls://c.example.com'),
      fc.string(),
    ),
    auth_mode: fc.constantFrom('ip', 'register'),
    register_auth: fc.record({ username: fc.string(), password: fc.string() }),
    options: fc.record(
      { port: fc.integer({ min: 0, max: 70_000 }), allowed_ips: fc.array(fc.oneof(fc.ipV4(), fc.string())) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['type'] },
);

const targets: readonly (readonly [string, () => string, fc.Arbitrary<unknown>])[] = [
  [
    'attach',
    () => '/v1/sip/attach',
    shaped(['phone_number', 'phone_numbers', 'directions', 'sip_endpoint', 'options']),
  ],
  [
    'attach with real directions',
    () => '/v1/sip/attach',
    fc.record({
      phone_number: fc.constantFrom('+14155550100', '+14155550101'),
      directions: fc.array(fc.oneof(direction, json), { maxLength: 4 }),
    }),
  ],
  [
    'update',
    () => '/v1/sip/update',
    fc.record({ phone_number: fc.constant('+14155550100'), updates: fc.oneof(direction, json) }),
  ],
  [
    'detach',
    () => '/v1/sip/detach',
    fc.record({ phone_numbers: fc.array(fc.string(), { maxLength: 3 }), directions: json }),
  ],
  [
    'parse-destination',
    () => '/v1/sip/parse-destination',
    fc.record({ input: fc.oneof(fc.string({ unit: 'binary' }), json) }),
  ],
  [
    'inbound',
    () => '/v1/inbound/14155550100',
    shaped([
      'prompt',
      'pathway_id',
      'pathway_version',
      'stream_url',
      'request_data',
      'transfer_list',
      'tools',
      'timezone',
      'webhook',
      'language',
    ]),
  ],
  ['pathway create', () => '/v1/pathway/create', shaped(['name', 'description'])],
  [
    'pathway update',
    () => `/v1/pathway/${pathwayId}`,
    fc.record({ nodes: fc.array(json, { maxLength: 3 }), edges: fc.array(json, { maxLength: 3 }) }),
  ],
  [
    'pathway version',
    () => `/v1/pathway/${pathwayId}/version`,
    fc.record({ name: json, nodes: json, edges: json }),
  ],
];

describe('whatever the body, the answer is one of the contract', () => {
  it.each(targets)('%s', async (_name, url, body) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, json), async (value) => {
        const payload = JSON.stringify(value) ?? '';
        const answer = await test.control.app.inject({
          method: 'POST',
          url: url(),
          headers: { authorization: test.key, 'content-type': 'application/json' },
          payload,
        });
        expect([200, 400, 404]).toContain(answer.statusCode);
        const { errors } = answer.json();
        if (answer.statusCode !== 200) expect(errors.length).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });

  const patch = (config: string) =>
    fc.record({
      phone_number: fc.constant('+14155550100'),
      direction: fc.constantFrom('inbound', 'outbound'),
      [config]: fc.oneof(json, fc.record({ enabled: json, endpoints: json, channels: json, codecs: json })),
    });
  it.each<['POST' | 'PATCH', string, fc.Arbitrary<unknown>]>([
    ['POST', '/v1/calls', shaped(['phone_number', 'from', 'task', 'transfer_list', 'voicemail', 'webhook'])],
    ['POST', '/v1/sip/discover', shaped(['host', 'port', 'transport'])],
    ['POST', '/v1/sip/test-call', shaped(['phone_number', 'to', 'dtmf'])],
    ['PATCH', '/v1/org/settings', shaped(['alert_emails', 'alert_sms_numbers', 'event_webhook_url'])],
    ['PATCH', '/v1/sip/config', patch('failover_config')],
    ['PATCH', '/v1/sip/config', patch('codec_config')],
    ['PATCH', '/v1/sip/config', patch('alert_config')],
  ])('%s %s, while no edge is connected', async (method, url, body) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, json), async (value) => {
        const payload = JSON.stringify(value) ?? '';
        const headers = { authorization: test.key, 'content-type': 'application/json' };
        const answer = await test.control.app.inject({ method, url, headers, payload });
        expect([200, 400, 404, 429, 503]).toContain(answer.statusCode);
      }),
      { numRuns: 60 },
    );
  });

  it('paths and queries', async () => {
    const path = fc.constantFrom(
      '/v1/sip/calls/',
      '/v1/calls/',
      '/v1/inbound/',
      '/v1/pathway/',
      '/v1/sip/calls?before=',
      '/v1/sip/calls?from_date=',
      '/v1/sip?phone_number=',
      '/v1/sip/status?phone_number=',
      '/v1/sip/discover/status?discovery_id=',
      '/v1/sip/test-call/status?call_id=',
    );
    await fc.assert(
      fc.asyncProperty(path, fc.string({ unit: 'binary' }), async (base, text) => {
        const answer = await test.call('GET', base + encodeURIComponent(text.toWellFormed()));
        expect([200, 400, 404]).toContain(answer.status);
      }),
      { numRuns: 200 },
    );
  });
});
