import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createSilentServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  evaluate,
  type MailServer,
  noRounds,
  number,
  patchAlerts,
  ReportedTrunk,
  type SmsService,
  startMailServer,
  startSmsService,
} from '../../test/kit/control/alerts.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { createAuthority } from '../../test/kit/fakes/certificates.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

const authority = createAuthority();
const pair = authority.issue({ names: ['DNS:localhost', 'DNS:hooks.example.com', 'IP:127.0.0.1'] });
const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
const ca = join(folder, 'ca.pem');
writeFileSync(ca, authority.cert);

/** STARTTLS and a login, as a relay requires. */
const relay: SMTPServerOptions = {
  ...pair,
  onAuth: ({ username, password }, _session, done) =>
    username === 'relay' && password === 'p@ss' ? done(null, { user: 'relay' }) : done(new Error('wrong')),
};

let mail: MailServer;
let sms: SmsService;
let hooks: Server;
let posted: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
let statuses: number[] = [];
let hook = '';
let test: TestControl;

beforeAll(async () => {
  hooks = createServer(pair, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    posted.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
    response.writeHead(statuses.shift() ?? 200).end();
  });
  await once(hooks.listen(0, '127.0.0.1'), 'listening');
  hook = `https://hooks.example.com:${(hooks.address() as AddressInfo).port}/alerts`;
});
afterAll(async () => {
  hooks.closeAllConnections();
  await once(hooks.close(), 'close');
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  posted = [];
  statuses = [];
  mail = await startMailServer(relay);
  sms = await startSmsService();
});
afterEach(() =>
  releaseAll(
    () => test.close(),
    () => expect(test.clock.pending).toBe(0),
    () => mail.close(),
    () => sms.close(),
  ),
);

async function start(env: Record<string, string> = {}): Promise<void> {
  test = await startControl(
    {
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      SMTP_URL: `smtp://relay:p%40ss@localhost:${mail.port}?ca=${ca}`,
      MAIL_FROM: 'Trunkline <alerts@trunkline.example>',
      SMS_API_URL: sms.url,
      SMS_API_KEY: 'sms-key',
      SMS_FROM: '+14155550000',
      ...env,
    },
    { ca: authority.cert, random: () => 0.5, resolve: async () => ['127.0.0.1'] },
    {},
    { limits: noRounds },
  );
  await test.call('PATCH', '/v1/org/settings', {
    body: {
      alert_emails: ['ops@example.com', 'night@example.org'],
      alert_sms_numbers: ['+14155550123'],
    },
  });
}

const everywhere = () => ({ channels: { email: true, sms: true, webhook: hook } });
/** A trunk whose calls fail. */
async function raise(alerts: object = everywhere()): Promise<ReportedTrunk> {
  const trunk = await ReportedTrunk.start(test, alerts);
  await trunk.calls(0, 5);
  await evaluate(test);
  return trunk;
}

const notices = (channel: 'email' | 'sms') =>
  test.control.services.database.db
    .selectFrom('alert_notices')
    .selectAll()
    .where('channel', '=', channel)
    .orderBy('created_at')
    .orderBy('event')
    .execute();
/** Waits until every notice of a channel was delivered or given up. */
async function settled(channel: 'email' | 'sms', count: number) {
  await expect
    .poll(async () => (await notices(channel)).filter((row) => row.next_attempt_at === null).length)
    .toBe(count);
  return notices(channel);
}
/** Waits until a retried notice has had this many attempts. Returns those notices. */
async function attempted(channel: 'email' | 'sms', times: number) {
  const waiting = async () =>
    (await notices(channel)).filter((row) => row.next_attempt_at !== null && row.attempts === times);
  await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
  return waiting();
}
/** Advances to the next attempt of a channel. Returns the seconds since the first. */
async function moveToNext(channel: 'email' | 'sms'): Promise<number> {
  const waiting = (await notices(channel)).find((row) => row.next_attempt_at !== null);
  const due = Date.parse(waiting?.next_attempt_at ?? '');
  test.clock.advance(due - test.clock.now());
  return (due - Date.parse(waiting?.first_attempt_at ?? '')) / 1000;
}

describe('mail', () => {
  it('sends to each address separately, over TLS and after a login, and threads the end of the alert', async () => {
    await start();
    const trunk = await raise({ channels: { email: true } });
    await settled('email', 2);
    const raised = mail.received.find(({ to }) => to[0] === 'ops@example.com');
    expect(mail.received.map(({ to }) => to).sort()).toEqual([['night@example.org'], ['ops@example.com']]);
    expect(raised).toMatchObject({ from: 'alerts@trunkline.example', secure: true, user: 'relay' });
    const alertId = (await test.call('GET', '/v1/sip/alerts')).body.data?.alerts?.[0]?.alert_id;
    expect(raised?.headers).toMatchObject({
      from: 'Trunkline <alerts@trunkline.example>',
      to: 'ops@example.com',
      subject: 'Alert: many failed calls, +14155550100 outbound',
      'message-id': `<alert.${alertId}.raised@trunkline.example>`,
      date: 'Tue, 01 Jan 2030 00:00:00 +0000',
      'auto-submitted': 'auto-generated',
      'content-type': 'text/plain; charset=utf-8',
    });
    expect(raised?.headers).not.toHaveProperty('references');
    expect(raised?.text).toBe(
      [
        '100 % of the calls that ended within 30 minutes have failed (threshold: 20 %).',
        '',
        'Number:        +14155550100 (outbound)',
        'Endpoint:      sip:trunk.example.com',
        `Configuration: ${trunk.id}`,
        'Organization:  Own',
        'Raised:        2030-01-01T00:00:00.000Z',
        '',
        'What to do:',
        'GET /v1/sip/calls?status=failed lists the calls, each with the reason of its end; ' +
          'GET /v1/sip/calls/{call_id}/trace has the SIP messages.',
        '',
        `Alert ${alertId}`,
        '',
      ].join('\n'),
    );
    mail.received.length = 0;
    test.clock.advance(31 * 60_000);
    await evaluate(test);
    await evaluate(test);
    await settled('email', 4);
    expect(mail.received.find(({ to }) => to[0] === 'ops@example.com')?.headers).toMatchObject({
      subject: 'Resolved: many failed calls, +14155550100 outbound',
      'message-id': `<alert.${alertId}.resolved@trunkline.example>`,
      references: `<alert.${alertId}.raised@trunkline.example>`,
      'in-reply-to': `<alert.${alertId}.raised@trunkline.example>`,
    });
  });

  it('is delivered once after failures, the end of the alert after its start', async () => {
    await start();
    await test.call('PATCH', '/v1/org/settings', { body: { alert_emails: ['ops@example.com'] } });
    mail.answers.push(451, 451);
    const trunk = await raise({ channels: { email: true } });
    await attempted('email', 1);
    await trunk.calls(25, 0);
    await evaluate(test);
    await evaluate(test);
    expect((await notices('email')).map(({ event, attempts }) => `${event} ${attempts}`)).toEqual([
      'raised 1',
      'resolved 0',
    ]);
    expect(await moveToNext('email')).toBe(15);
    await attempted('email', 2);
    expect((await notices('email'))[0]?.last_error).toMatch(/451/);
    expect(mail.received).toEqual([]);
    expect(await moveToNext('email')).toBe(60);
    await settled('email', 2);
    expect(mail.received.map(({ headers }) => headers.subject)).toEqual([
      'Alert: many failed calls, +14155550100 outbound',
      'Resolved: many failed calls, +14155550100 outbound',
    ]);
    const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(text).toContain('trunkline_control_alert_notices_total{channel="email",outcome="again"} 2');
    expect(text).toContain('trunkline_control_alert_notices_total{channel="email",outcome="delivered"} 2');
  });

  it('is given up at once on a permanent rejection, and otherwise after seven attempts', async () => {
    await start();
    await test.call('PATCH', '/v1/org/settings', { body: { alert_emails: ['ops@example.com'] } });
    mail.answers.push(550);
    await raise({ channels: { email: true } });
    const [refused] = await settled('email', 1);
    expect(refused).toMatchObject({ attempts: 1, delivered_at: null });
    expect(refused?.last_error).not.toContain('ops@example.com');
    mail.answers.push(...Array(7).fill(451));
    await patchAlerts(test, { enabled: false });
    await patchAlerts(test, { enabled: true });
    await evaluate(test);
    const seconds: number[] = [];
    for (let attempt = 1; attempt < 7; attempt++) {
      await attempted('email', attempt);
      seconds.push(await moveToNext('email'));
    }
    const rows = await settled('email', 2);
    expect(seconds).toEqual([15, 60, 300, 900, 3600, 10_800]);
    expect(rows.map(({ attempts }) => attempts).sort()).toEqual([1, 7]);
    expect(mail.received).toEqual([]);
  });

  it('sends no password to a server without TLS', async () => {
    await mail.close();
    let logins = 0;
    mail = await startMailServer({
      onAuth: (_auth, _session, done) => done(null, { user: String(++logins) }),
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
    });
    await start();
    await raise({ channels: { email: true } });
    const [row] = await attempted('email', 1);
    expect(row?.last_error).toMatch(/STARTTLS/);
    expect(logins).toBe(0);
    expect(mail.received).toEqual([]);
  });

  it('uses TLS from the start with smtps, and rejects certificates of other authorities', async () => {
    await mail.close();
    mail = await startMailServer({ ...relay, secure: true });
    await start({ SMTP_URL: `smtps://relay:p%40ss@localhost:${mail.port}?ca=${ca}` });
    await raise({ channels: { email: true } });
    await settled('email', 2);
    expect(mail.received).toMatchObject([{ secure: true }, { secure: true }]);
    await test.close();
    mail.received.length = 0;
    await start({ SMTP_URL: `smtps://relay:p%40ss@localhost:${mail.port}` });
    await raise({ channels: { email: true } });
    expect((await attempted('email', 1))[0]?.last_error).toMatch(/certificate/);
    expect(mail.received).toEqual([]);
  });

  it('times out after 15 s without an answer, and does not delay SMS', async () => {
    const silent = createSilentServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const connected = once(silent, 'connection');
    await start({ SMTP_URL: `smtp://localhost:${(silent.address() as AddressInfo).port}` });
    await raise();
    const [socket] = await connected;
    await settled('sms', 1);
    const gone = once(socket, 'close');
    socket.resume();
    test.clock.advance(15_000);
    const rows = await attempted('email', 1);
    expect(rows[0]?.last_error).toBe('timed out after 15000 ms');
    await gone;
    silent.close();
  });
});

describe('SMS', () => {
  it('is posted with the key of the service, and retried after a failure', async () => {
    await start();
    sms.answers.push(503, 429);
    await raise({ channels: { sms: true } });
    await attempted('sms', 1);
    expect(await moveToNext('sms')).toBe(15);
    await attempted('sms', 2);
    expect(await moveToNext('sms')).toBe(60);
    const [row] = await settled('sms', 1);
    expect(row).toMatchObject({ attempts: 3, last_error: null });
    expect(sms.received).toHaveLength(3);
    expect(sms.received[2]).toMatchObject({
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
    await start();
    sms.answers.push(422);
    await raise({ channels: { sms: true } });
    expect(await settled('sms', 1)).toMatchObject([
      { attempts: 1, delivered_at: null, last_error: 'the SMS service answered 422' },
    ]);
  });
});

describe('webhook', () => {
  const secret = async () =>
    (await test.control.services.edgeConfig.snapshot()).organizations.find(
      ({ org_id }) => org_id === test.orgId,
    )?.signing_secret ?? '';

  it('gets signed events when an alert is raised and resolved, and is retried after a failure', async () => {
    await start();
    statuses = [500];
    const trunk = await raise({ channels: { webhook: hook } });
    await expect.poll(() => posted.length).toBe(1);
    const { db } = test.control.services.database;
    const attempts = async () =>
      (await db.selectFrom('webhook_deliveries').select('attempts').execute()).map((row) => row.attempts);
    await expect.poll(attempts).toEqual([1]);
    test.clock.advance(10_000);
    await expect.poll(attempts).toEqual([2]);
    test.clock.advance(31 * 60_000);
    await evaluate(test);
    await evaluate(test);
    await expect.poll(attempts).toEqual([2, 1]);
    expect(posted).toHaveLength(3);
    const [first, second, third] = posted;
    expect(first?.headers['x-webhook-id']).toBe(second?.headers['x-webhook-id']);
    expect(second?.headers).toMatchObject({
      'x-webhook-event': 'sip.alert.raised',
      'x-webhook-signature': createHmac('sha256', await secret())
        .update(second?.body ?? '')
        .digest('hex'),
    });
    const { data: listed } = (await test.call('GET', '/v1/sip/alerts')).body;
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
      org_id: test.orgId,
      data,
    });
    expect(JSON.parse(third?.body ?? '')).toMatchObject({
      type: 'sip.alert.resolved',
      data: { ...data, state: 'alert.resolved', value: 0, resolved_at: '2030-01-01T00:31:10.000Z' },
    });
  });

  it('of the organization gets events of configurations without one', async () => {
    await start();
    await test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url: hook } });
    await raise({});
    await expect
      .poll(() => posted.map(({ headers }) => headers['x-webhook-event']))
      .toContain('sip.alert.raised');
  });
});

describe('POST /v1/sip/alerts/test', () => {
  const button = (body: object = {}, key = test.key) =>
    test.call('POST', '/v1/sip/alerts/test', {
      body: { phone_number: number, direction: 'outbound', ...body },
      key,
    });

  it('sends over every channel at once, and reports each result', async () => {
    await start();
    await ReportedTrunk.start(test, { enabled: false, ...everywhere() });
    mail.answers.push(550);
    sms.answers.push(500);
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
    expect(mail.received).toMatchObject([{ headers: { subject: 'Test of alerts, +14155550100 outbound' } }]);
    expect(JSON.parse(posted[0]?.body ?? '')).toMatchObject({
      type: 'sip.alert.test',
      data: { state: 'alert.test', phone_number: number },
    });
    statuses = [404];
    expect((await button()).body.data?.channels).toMatchObject([
      { ok: true },
      { ok: true },
      { ok: false, error: 'The webhook answered 404.' },
    ]);
    expect(await notices('email')).toEqual([]);
  });

  it('reports that nothing leaves the deployment while no sender is configured', async () => {
    await start({ SMTP_URL: '', SMS_API_URL: '' });
    await raise();
    expect((await button()).body.data?.channels).toMatchObject([
      { channel: 'email', ok: false, error: expect.stringContaining('SMTP_URL') },
      { channel: 'sms', ok: false, error: expect.stringContaining('SMS_API_URL') },
      { channel: 'webhook', ok: true },
    ]);
    expect(await settled('email', 2)).toMatchObject([{ last_error: null }, { last_error: null }]);
  });

  it('is rejected when there is no recipient', async () => {
    await start();
    await ReportedTrunk.start(test);
    expect((await button()).codes).toEqual(['NO_ALERT_RECIPIENTS']);
    await patchAlerts(test, { channels: { email: true } });
    await test.call('PATCH', '/v1/org/settings', { body: { alert_emails: [] } });
    expect((await button()).codes).toEqual(['NO_ALERT_RECIPIENTS']);
  });

  it('covers the organization and its records only, five times a minute', async () => {
    await start();
    await ReportedTrunk.start(test, everywhere());
    // More than five, because rejected requests do not count.
    expect((await button({ phone_number: '+14155550199' })).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await button({}, test.foreignKey)).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await button({}, test.plainKey)).codes).toEqual(['SIP_NOT_ENABLED']);
    const unknown = { configuration_id: '00000000-0000-4000-8000-000000000000' };
    expect((await button(unknown)).codes).toEqual(['SIP_CONFIG_NOT_FOUND']);
    expect((await button({ direction: 'both' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await button({ phone_number: 'x' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await button({ more: 1 })).codes).toEqual(['UNKNOWN_PROPERTY']);
    for (let sent = 0; sent < 5; sent++) expect((await button()).status).toBe(200);
    expect((await button()).codes).toEqual(['RATE_LIMITED']);
  });
});
