import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectEdge } from '../testing/edge-client.ts';
import { type CallOptions, startControl, type TestControl } from '../testing/harness.ts';

let test: TestControl;
beforeEach(async () => {
  test = await startControl();
});
afterEach(() => test.close());

const read = (key: string | null = test.key) => test.call('GET', '/v1/org/settings', { key });
const patch = (body: object, options: CallOptions = {}) =>
  test.call('PATCH', '/v1/org/settings', { body, ...options });

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

  it('lets alerts go by SMS once there is a number for them', async () => {
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
    [{ event_webhook_url: 'https://[::1]/' }, 'TARGET_NOT_ALLOWED'],
    [{ name: 'New' }, 'UNKNOWN_PROPERTY'],
  ])('refuses %j with %s', async (body, code) => {
    expect((await patch(body)).codes).toEqual([code]);
  });

  it('asks for a customer key, not for SIP', async () => {
    expect((await read(null)).status).toBe(401);
    expect((await patch({}, { key: test.operatorKey })).status).toBe(401);
    expect((await read(test.plainKey)).body.data).toMatchObject({ sip_enabled: false });
  });
});

describe('POST /v1/org/webhook-secret', () => {
  it('makes a new secret, which the edges get', async () => {
    const edge = await connectEdge(test);
    await edge.next('config');
    const { body } = await test.call('POST', '/v1/org/webhook-secret');
    expect(body.data).toMatchObject({ created_at: '2030-01-01T00:00:00.000Z' });
    const secret = String(body.data?.secret);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect((await edge.next('change')).change.organizations).toEqual([
      { org_id: test.orgId, signing_secret: secret },
    ]);
    await edge.kill();
    const { db } = test.control.services.database;
    expect(JSON.stringify(await db.selectFrom('organizations').selectAll().execute())).not.toContain(secret);
  });

  it('asks for a key', async () => {
    expect((await test.call('POST', '/v1/org/webhook-secret', { key: null })).status).toBe(401);
  });
});
