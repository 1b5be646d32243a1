import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AlertChannels } from '../../test/kit/control/alert-channels.ts';
import { evaluate, number, patchAlerts, ReportedTrunk } from '../../test/kit/control/alerts.ts';

let at: AlertChannels;
beforeAll(async () => {
  at = await AlertChannels.open();
});
afterEach(() => at.endTest());
afterAll(() => at.close());

describe('SMS', () => {
  it('is posted with the key of the service, and retried after a failure', async () => {
    await at.start();
    at.sms.answers.push(503, 429);
    await at.raise({ channels: { sms: true } });
    await at.attempted('sms', 1);
    expect(await at.moveToNext('sms')).toBe(15);
    await at.attempted('sms', 2);
    expect(await at.moveToNext('sms')).toBe(60);
    const [row] = await at.settled('sms', 1);
    expect(row).toMatchObject({ attempts: 3, last_error: null });
    expect(at.sms.received).toHaveLength(3);
    expect(at.sms.received[2]).toMatchObject({
      headers: {
        authorization: 'Bearer sms-key',
        'content-type': 'application/json',
        'idempotency-key': row?.id,
      },
      body: {
        from: '+14155550000',
        to: '+14155550123',
        text: 'Trunkline alert: 100 % of calls failed in 30 min, since 2030-01-01 00:00 UTC: +14155550100 outbound sip:trunk.example.com',
      },
    });
  });

  it('is given up when the service rejects the message', async () => {
    await at.start();
    at.sms.answers.push(422);
    await at.raise({ channels: { sms: true } });
    expect(await at.settled('sms', 1)).toMatchObject([
      { attempts: 1, delivered_at: null, last_error: 'the SMS service answered 422' },
    ]);
  });
});

describe('webhook', () => {
  const secret = async () =>
    (await at.test.control.services.edgeConfig.snapshot()).organizations.find(
      ({ org_id }) => org_id === at.test.orgId,
    )?.signing_secret ?? '';

  it('gets signed events when an alert is raised and resolved, and is retried after a failure', async () => {
    await at.start();
    at.statuses = [500];
    const trunk = await at.raise({ channels: { webhook: at.hook } });
    await expect.poll(() => at.posted.length).toBe(1);
    const { db } = at.test.control.services.database;
    const attempts = async () =>
      (await db.selectFrom('webhook_deliveries').select('attempts').execute()).map((row) => row.attempts);
    await expect.poll(attempts).toEqual([1]);
    at.test.clock.advance(10_000);
    await expect.poll(attempts).toEqual([2]);
    at.test.clock.advance(31 * 60_000);
    await evaluate(at.test);
    await evaluate(at.test);
    await expect.poll(attempts).toEqual([2, 1]);
    expect(at.posted).toHaveLength(3);
    const [first, second, third] = at.posted;
    expect(first?.headers['x-webhook-id']).toBe(second?.headers['x-webhook-id']);
    expect(second?.headers).toMatchObject({
      'x-webhook-event': 'sip.alert.raised',
      'x-webhook-signature': createHmac('sha256', await secret())
        .update(second?.body ?? '')
        .digest('hex'),
    });
    const { data: listed } = (await at.test.call('GET', '/v1/sip/alerts')).body;
    const data = {
      alert_id: listed?.alerts?.[0]?.alert_id,
      kind: 'failure_rate',
      state: 'alert.raised',
      phone_number: number,
      configuration_id: trunk.id,
      direction: 'outbound',
      endpoint: 'sip:trunk.example.com',
      threshold: 20,
      value: 100,
      window_minutes: 30,
      raised_at: '2030-01-01T00:00:00.000Z',
      resolved_at: null,
    };
    expect(JSON.parse(second?.body ?? '')).toEqual({
      id: second?.headers['x-webhook-id'],
      type: 'sip.alert.raised',
      created_at: '2030-01-01T00:00:00.000Z',
      org_id: at.test.orgId,
      data,
    });
    expect(JSON.parse(third?.body ?? '')).toMatchObject({
      type: 'sip.alert.resolved',
      data: { ...data, state: 'alert.resolved', value: 0, resolved_at: '2030-01-01T00:31:10.000Z' },
    });
  });

  it('of the organization gets events of configurations without one', async () => {
    await at.start();
    await at.test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url: at.hook } });
    await at.raise({});
    // Those of the five calls, too: none may come during the next test.
    await expect
      .poll(() => at.posted.map(({ headers }) => headers['x-webhook-event']).sort())
      .toEqual([...Array(5).fill('call.completed'), 'sip.alert.raised']);
  });
});

describe('POST /v1/sip/alerts/test', () => {
  const button = (body: object = {}, key = at.test.key) =>
    at.test.call('POST', '/v1/sip/alerts/test', {
      body: { phone_number: number, direction: 'outbound', ...body },
      key,
    });

  it('sends over every channel at once, and reports each result', async () => {
    await at.start();
    await ReportedTrunk.start(at.test, { enabled: false, ...at.everywhere() });
    at.mail.answers.push(550);
    at.sms.answers.push(500);
    const { status, body } = await button();
    expect(status).toBe(200);
    expect(body.data?.channels).toMatchObject([
      { channel: 'email', target_count: 2, ok: false, error: expect.stringMatching(/^1 of 2 failed: .*550/) },
      {
        channel: 'sms',
        target_count: 1,
        ok: false,
        error: '1 of 1 failed: The SMS service did not take the message.',
      },
      { channel: 'webhook', target_count: 1, ok: true, error: null },
    ]);
    expect(at.mail.received).toMatchObject([
      { headers: { subject: 'Test of alerts, +14155550100 outbound' } },
    ]);
    expect(JSON.parse(at.posted[0]?.body ?? '')).toMatchObject({
      type: 'sip.alert.test',
      data: { state: 'alert.test', phone_number: number },
    });
    at.statuses = [404];
    expect((await button()).body.data?.channels).toMatchObject([
      { ok: true },
      { ok: true },
      { ok: false, error: 'The webhook answered 404.' },
    ]);
    expect(await at.notices('email')).toEqual([]);
  });

  it('reports that nothing leaves the deployment while no sender is configured', async () => {
    await at.start({ SMTP_URL: '', SMS_API_URL: '' });
    await at.raise();
    expect((await button()).body.data?.channels).toMatchObject([
      { channel: 'email', ok: false, error: expect.stringContaining('SMTP_URL') },
      { channel: 'sms', ok: false, error: expect.stringContaining('SMS_API_URL') },
      { channel: 'webhook', ok: true },
    ]);
    expect(await at.settled('email', 2)).toMatchObject([{ last_error: null }, { last_error: null }]);
  });

  it('is rejected when there is no recipient', async () => {
    await at.start();
    await ReportedTrunk.start(at.test);
    expect((await button()).codes).toEqual(['NO_ALERT_RECIPIENTS']);
    await patchAlerts(at.test, { channels: { email: true } });
    await at.test.call('PATCH', '/v1/org/settings', { body: { alert_emails: [] } });
    expect((await button()).codes).toEqual(['NO_ALERT_RECIPIENTS']);
  });

  it('covers the organization and its records only, five times a minute', async () => {
    await at.start();
    await ReportedTrunk.start(at.test, at.everywhere());
    // More than five, because rejected requests do not count.
    expect((await button({ phone_number: '+14155550199' })).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await button({}, at.test.foreignKey)).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await button({}, at.test.plainKey)).codes).toEqual(['SIP_NOT_ENABLED']);
    const unknown = { configuration_id: '00000000-0000-4000-8000-000000000000' };
    expect((await button(unknown)).codes).toEqual(['SIP_CONFIG_NOT_FOUND']);
    expect((await button({ direction: 'both' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await button({ phone_number: 'x' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await button({ more: 1 })).codes).toEqual(['UNKNOWN_PROPERTY']);
    for (let sent = 0; sent < 5; sent++) expect((await button()).status).toBe(200);
    expect((await button()).codes).toEqual(['RATE_LIMITED']);
  });
});
