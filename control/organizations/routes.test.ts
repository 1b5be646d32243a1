import { describe, expect, it } from 'vitest';
import { connectEdge } from '../../test/kit/control/edge-client.ts';
import { type CallOptions, startRoutes } from '../../test/kit/control/harness.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { limitsInForce } from './call-limit-rules.ts';

const test = routesOfFile();

const read = (key: string | null = test.key) => test.call('GET', '/v1/org/settings', { key });
const patch = (body: object, options: CallOptions = {}) =>
  test.call('PATCH', '/v1/org/settings', { body, ...options });

const connection = {
  name: 'main',
  protocol: 'openai',
  url: 'wss://models.example.com/v1/realtime',
  model: 'talker',
};

describe('/v1/org/settings', () => {
  it('shows the settings of the organization, and changes what is sent', async () => {
    const initial = {
      org_id: test.orgId,
      name: 'Own',
      region: 'test',
      sip_enabled: true,
      alert_emails: [],
      alert_sms_numbers: [],
      event_webhook_url: null,
      call_limits: null,
      call_ceiling: { concurrent: null, per_minute: null },
      recording: null,
      key_terms: [],
      model_prices: null,
      supervision_tone: true,
      realtime: [],
      pronunciations: [],
    };
    expect((await read()).body).toEqual({ data: initial, errors: null });
    expect((await patch({})).body.data).toEqual(initial);
    const change = { alert_emails: ['ops@example.com'], event_webhook_url: 'https://hooks.example.com/a' };
    expect((await patch(change)).body.data).toEqual({ ...initial, ...change });
    expect(
      (await patch({ alert_sms_numbers: ['1 415 555 0100'], event_webhook_url: null })).body.data,
    ).toEqual({
      ...initial,
      alert_emails: ['ops@example.com'],
      alert_sms_numbers: ['+14155550100'],
    });
    expect((await read(test.foreignKey)).body.data).toMatchObject({ name: 'Foreign', alert_emails: [] });
  });

  it('tells the edges the words that callers are likely to say', async () => {
    const edge = await connectEdge(test);
    await edge.next('config');
    expect((await patch({ key_terms: ['Trunkline', 'Dr. Okonkwo'] })).body.data).toMatchObject({
      key_terms: ['Trunkline', 'Dr. Okonkwo'],
    });
    expect((await edge.next('change')).change.organizations).toMatchObject([
      { org_id: test.orgId, key_terms: ['Trunkline', 'Dr. Okonkwo'] },
    ]);
    expect((await patch({ key_terms: [] })).body.data).toMatchObject({ key_terms: [] });
    for (const key_terms of [['two\nlines'], [''], ['x'.repeat(65)], Array(101).fill('x'), null])
      expect((await patch({ key_terms })).codes).toEqual(['INVALID_PARAMETER']);
  });

  it('keeps what the organization pays for each model', async () => {
    const models = [{ model: 'm-1', input: 2.5, output: 10 }];
    const model_prices = { currency: 'EUR', models };
    expect((await patch({ model_prices })).body.data).toMatchObject({ model_prices });
    for (const wrong of [
      { currency: 'eur', models },
      { currency: 'EUR', models: [...models, ...models] },
      { currency: 'EUR', models: [{ model: 'm-1', input: -1, output: 0 }] },
    ])
      expect((await patch({ model_prices: wrong })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await read()).body.data).toMatchObject({ model_prices });
    expect((await patch({ model_prices: null })).body.data).toMatchObject({ model_prices: null });
  });

  it('lets alerts go by SMS once there is a phone number for them', async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: '+14155550100', directions: ['inbound'] },
    });
    const alerts = () =>
      test.call('PATCH', '/v1/sip/config', {
        body: {
          phone_number: '+14155550100',
          direction: 'inbound',
          alert_config: { channels: { sms: true } },
        },
      });
    expect((await alerts()).codes).toEqual(['NO_ALERT_RECIPIENTS']);
    await patch({ alert_sms_numbers: ['+14155550101'] });
    expect((await alerts()).status).toBe(200);
  });

  it.each<[object, string]>([
    [{ alert_emails: ['not an address'] }, 'INVALID_PARAMETER'],
    [{ alert_emails: Array(21).fill('a@example.com') }, 'INVALID_PARAMETER'],
    [{ alert_sms_numbers: ['12'] }, 'INVALID_PARAMETER'],
    [{ event_webhook_url: 'http://hooks.example.com' }, 'INVALID_PARAMETER'],
    [{ event_webhook_url: 'https://user@hooks.example.com' }, 'INVALID_PARAMETER'],
    [{ event_webhook_url: ' https://hooks.example.com' }, 'INVALID_PARAMETER'],
    [{ event_webhook_url: 'https://hooks.example.com/\n' }, 'INVALID_PARAMETER'],
    [{ event_webhook_url: 'https:\\\\hooks.example.com' }, 'INVALID_PARAMETER'],
    [{ alert_emails: ['ops@example..com'] }, 'INVALID_PARAMETER'],
    [{ alert_emails: ['ops@-example.com'] }, 'INVALID_PARAMETER'],
    [{ event_webhook_url: 'https://[::1]/' }, 'TARGET_NOT_ALLOWED'],
    [{ name: 'New' }, 'UNKNOWN_PROPERTY'],
    [{ realtime: [{ ...connection, url: 'ws://models.example.com' }] }, 'INVALID_PARAMETER'],
    [{ realtime: [{ ...connection, url: 'wss://10.0.0.1/' }] }, 'TARGET_NOT_ALLOWED'],
    [{ realtime: [{ ...connection, protocol: 'other' }] }, 'INVALID_PARAMETER'],
    [{ realtime: [{ ...connection, name: 'a b' }] }, 'INVALID_PARAMETER'],
    [{ realtime: [connection, connection] }, 'INVALID_PARAMETER'],
    [{ realtime: Array(21).fill(connection) }, 'INVALID_PARAMETER'],
    [{ pronunciations: [{ text: '', say: 'x' }] }, 'INVALID_PARAMETER'],
    [{ pronunciations: Array(201).fill({ text: 'a', say: 'b' }) }, 'INVALID_PARAMETER'],
    [{ call_limits: { concurrent: 0 } }, 'INVALID_PARAMETER'],
    [{ call_limits: { per_minute: 10_001 } }, 'INVALID_PARAMETER'],
    [{ call_limits: { allowed_prefixes: ['1415'] } }, 'INVALID_PARAMETER'],
    [{ call_limits: { blocked_prefixes: ['+'] } }, 'INVALID_PARAMETER'],
    [{ call_limits: { blocked_prefixes: ['+1234567890123456'] } }, 'INVALID_PARAMETER'],
    [{ call_limits: { blocked_prefixes: Array(201).fill('+1') } }, 'INVALID_PARAMETER'],
    [{ call_limits: { per_hour: 1 } }, 'UNKNOWN_PROPERTY'],
  ])('rejects %j with %s', async (body, code) => {
    expect((await patch(body)).codes).toEqual([code]);
  });

  it('limits outgoing calls, and sends the edges the change at once', async () => {
    const edge = await connectEdge(test);
    expect((await edge.next('config')).config.organizations[0]).not.toHaveProperty('call_limits');
    const call_limits = { concurrent: 3, blocked_prefixes: ['+1900', '+882'] };
    const { data } = (await patch({ call_limits })).body;
    expect(data?.call_limits).toEqual({
      concurrent: 3,
      per_minute: null,
      allowed_prefixes: [],
      blocked_prefixes: ['+1900', '+882'],
    });
    const ofEdge = async () => (await edge.next('change')).change.organizations;
    expect(await ofEdge()).toMatchObject([{ org_id: test.orgId, call_limits }]);
    // The object is replaced, not merged; null removes the limits.
    expect((await patch({ call_limits: { per_minute: 9 } })).body.data?.call_limits).toMatchObject({
      concurrent: null,
      per_minute: 9,
      blocked_prefixes: [],
    });
    expect(await ofEdge()).toMatchObject([{ call_limits: { per_minute: 9 } }]);
    expect((await patch({ call_limits: null })).body.data?.call_limits).toBeNull();
    expect((await ofEdge())[0]).not.toHaveProperty('call_limits');
    await edge.kill();
  });

  it('gives edges the pronunciations of its agents', async () => {
    const edge = await connectEdge(test);
    expect((await edge.next('config')).config.organizations[0]).not.toHaveProperty('pronunciations');
    const pronunciations = [{ text: 'SQL', say: 'sequel', match_case: true }];
    expect((await patch({ pronunciations })).body.data?.pronunciations).toEqual(pronunciations);
    expect((await edge.next('change')).change.organizations[0]?.pronunciations).toEqual(pronunciations);
    expect((await patch({ pronunciations: [] })).body.data?.pronunciations).toEqual([]);
    await edge.kill();
  });

  it('keeps connections to model servers, whose keys only edges get', async () => {
    const edge = await connectEdge(test);
    expect((await edge.next('config')).config.organizations[0]).not.toHaveProperty('realtime');
    const ofEdge = async () => (await edge.next('change')).change.organizations[0]?.realtime;
    const { name: id, ...rest } = connection;
    const api_key = 'sk-model-key';
    const { data } = (await patch({ realtime: [{ ...connection, api_key }] })).body;
    expect(data?.realtime).toEqual([{ ...connection, has_api_key: true }]);
    expect(await ofEdge()).toEqual([{ id, ...rest, api_key }]);
    // The list is replaced; a key that is left out stays, unless it would go to another host.
    await patch({
      realtime: [
        { ...connection, model: 'other' },
        { ...connection, name: 'second' },
      ],
    });
    expect(await ofEdge()).toEqual([
      { id, ...rest, model: 'other', api_key },
      { id: 'second', ...rest, api_key: null },
    ]);
    const elsewhere = { ...connection, url: 'wss://elsewhere.example.com/' };
    expect((await patch({ realtime: [elsewhere] })).codes).toEqual(['INVALID_PARAMETER']);
    await patch({ realtime: [{ ...elsewhere, api_key: null }] });
    expect(await ofEdge()).toMatchObject([{ url: elsewhere.url, api_key: null }]);
    expect((await read(test.foreignKey)).body.data).toMatchObject({ realtime: [] });
    await edge.kill();
  });

  it('requires a customer key, not SIP', async () => {
    expect((await read(null)).status).toBe(401);
    expect((await patch({}, { key: test.operatorKey })).status).toBe(401);
    expect((await read(test.plainKey)).body.data).toMatchObject({ sip_enabled: false });
  });
});

describe('POST /v1/org/webhook-secret', () => {
  it('creates a new secret, which the edges get', async () => {
    const edge = await connectEdge(test);
    await edge.next('config');
    const { body } = await test.call('POST', '/v1/org/webhook-secret');
    expect(body.data).toMatchObject({ created_at: '2030-01-01T00:00:00.000Z' });
    const secret = String(body.data?.secret);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect((await edge.next('change')).change.organizations).toMatchObject([
      { org_id: test.orgId, signing_secret: secret },
    ]);
    await edge.kill();
    const { db } = test.control.services.database;
    expect(JSON.stringify(await db.selectFrom('organizations').selectAll().execute())).not.toContain(secret);
  });

  it('requires a key', async () => {
    expect((await test.call('POST', '/v1/org/webhook-secret', { key: null })).status).toBe(401);
  });
});

describe('the operator’s ceiling of outgoing calls', () => {
  it("caps an organization's own limits, which can only be lower", async () => {
    const limited = await startRoutes({ QUOTAS: 'outgoingCalls=20, outgoingCallsPerMinute=60' });
    try {
      const change = (call_limits: object | null) =>
        limited.call('PATCH', '/v1/org/settings', { body: { call_limits } });
      const inForce = async (id = limited.orgId) => {
        const { organizations } = await limited.control.services.edgeConfig.snapshot();
        return organizations.find(({ org_id }) => org_id === id)?.call_limits;
      };
      const ceiling = { concurrent: 20, per_minute: 60 };
      const { body } = await limited.call('GET', '/v1/org/settings');
      expect(body.data).toMatchObject({ call_limits: null, call_ceiling: ceiling });
      expect(await inForce(limited.foreignOrgId)).toEqual(ceiling);
      for (const lifting of [{}, { concurrent: null, per_minute: null }, null]) {
        expect((await change(lifting)).status).toBe(200);
        expect(await inForce()).toMatchObject(ceiling);
      }
      await change({ concurrent: 3, blocked_prefixes: ['+1900'] });
      expect(await inForce()).toEqual({ concurrent: 3, per_minute: 60, blocked_prefixes: ['+1900'] });
      const refused = await change({ concurrent: 3, per_minute: 61 });
      expect([refused.status, refused.body.errors]).toMatchObject([
        400,
        [{ code: 'INVALID_PARAMETER', details: { path: '/call_limits/per_minute' } }],
      ]);
      expect(refused.text).toContain('must be <= 60');
      expect(await inForce()).toMatchObject({ concurrent: 3, per_minute: 60 });
    } finally {
      await limited.close();
    }
  });
});

describe('limitsInForce', () => {
  const none = { concurrent: null, per_minute: null };
  it.each([
    [undefined, none, null],
    [undefined, { ...none, concurrent: 5 }, { concurrent: 5 }],
    [{ concurrent: 9 }, { ...none, concurrent: 5 }, { concurrent: 5 }],
    [{ concurrent: 2 }, { ...none, concurrent: 5 }, { concurrent: 2 }],
    [{ concurrent: null }, { ...none, concurrent: 5 }, { concurrent: 5 }],
    [{ per_minute: 9 }, none, { per_minute: 9 }],
    [
      { blocked_prefixes: ['+1'] },
      { concurrent: 1, per_minute: 2 },
      { concurrent: 1, per_minute: 2, blocked_prefixes: ['+1'] },
    ],
  ])('of %j, capped at %j, are %j', (own, ceiling, expected) => {
    expect(limitsInForce(own, ceiling)).toEqual(expected);
  });
});
