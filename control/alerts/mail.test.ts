import { once } from 'node:events';
import { type AddressInfo, createServer as createSilentServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AlertChannels, relay } from '../../test/kit/control/alert-channels.ts';
import { evaluate, patchAlerts } from '../../test/kit/control/alerts.ts';

let at: AlertChannels;
beforeAll(async () => {
  at = await AlertChannels.open();
});
afterEach(() => at.endTest());
afterAll(() => at.close());

describe('mail', () => {
  it('sends to each address separately, over TLS and after a login, and threads the end of the alert', async () => {
    await at.start();
    const trunk = await at.raise({ channels: { email: true } });
    await at.settled('email', 2);
    const raised = at.mail.received.find(({ to }) => to[0] === 'ops@example.com');
    expect(at.mail.received.map(({ to }) => to).sort()).toEqual([['night@example.org'], ['ops@example.com']]);
    expect(raised).toMatchObject({ from: 'alerts@trunkline.example', secure: true, user: 'relay' });
    const alertId = (await at.test.call('GET', '/v1/sip/alerts')).body.data?.alerts?.[0]?.alert_id;
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
    at.mail.received.length = 0;
    at.test.clock.advance(31 * 60_000);
    await evaluate(at.test);
    await evaluate(at.test);
    await at.settled('email', 4);
    expect(at.mail.received.find(({ to }) => to[0] === 'ops@example.com')?.headers).toMatchObject({
      subject: 'Resolved: many failed calls, +14155550100 outbound',
      'message-id': `<alert.${alertId}.resolved@trunkline.example>`,
      references: `<alert.${alertId}.raised@trunkline.example>`,
      'in-reply-to': `<alert.${alertId}.raised@trunkline.example>`,
    });
  });

  it('is delivered once after failures, the end of the alert after its start', async () => {
    await at.start();
    await at.test.call('PATCH', '/v1/org/settings', { body: { alert_emails: ['ops@example.com'] } });
    at.mail.answers.push(451, 451);
    const trunk = await at.raise({ channels: { email: true } });
    await at.attempted('email', 1);
    await trunk.calls(25, 0);
    await evaluate(at.test);
    await evaluate(at.test);
    expect((await at.notices('email')).map(({ event, attempts }) => `${event} ${attempts}`)).toEqual([
      'raised 1',
      'resolved 0',
    ]);
    expect(await at.moveToNext('email')).toBe(15);
    await at.attempted('email', 2);
    expect((await at.notices('email'))[0]?.last_error).toMatch(/451/);
    expect(at.mail.received).toEqual([]);
    expect(await at.moveToNext('email')).toBe(60);
    await at.settled('email', 2);
    expect(at.mail.received.map(({ headers }) => headers.subject)).toEqual([
      'Alert: many failed calls, +14155550100 outbound',
      'Resolved: many failed calls, +14155550100 outbound',
    ]);
    const { text } = await at.test.call('GET', '/metrics', { key: at.test.operatorKey });
    expect(text).toContain('trunkline_control_alert_notices_total{channel="email",outcome="again"} 2');
    expect(text).toContain('trunkline_control_alert_notices_total{channel="email",outcome="delivered"} 2');
  });

  it('is given up at once on a permanent rejection, and otherwise after seven attempts', async () => {
    await at.start();
    await at.test.call('PATCH', '/v1/org/settings', { body: { alert_emails: ['ops@example.com'] } });
    at.mail.answers.push(550);
    await at.raise({ channels: { email: true } });
    const [refused] = await at.settled('email', 1);
    expect(refused).toMatchObject({ attempts: 1, delivered_at: null });
    expect(refused?.last_error).not.toContain('ops@example.com');
    at.mail.answers.push(...Array(7).fill(451));
    await patchAlerts(at.test, { enabled: false });
    await patchAlerts(at.test, { enabled: true });
    await evaluate(at.test);
    const seconds: number[] = [];
    for (let attempt = 1; attempt < 7; attempt++) {
      await at.attempted('email', attempt);
      seconds.push(await at.moveToNext('email'));
    }
    const rows = await at.settled('email', 2);
    expect(seconds).toEqual([15, 60, 300, 900, 3600, 10_800]);
    expect(rows.map(({ attempts }) => attempts).sort()).toEqual([1, 7]);
    expect(at.mail.received).toEqual([]);
  });

  it('sends no password to a server without TLS', async () => {
    let logins = 0;
    await at.useMail({
      onAuth: (_auth, _session, done) => done(null, { user: String(++logins) }),
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
    });
    await at.start();
    await at.raise({ channels: { email: true } });
    const [row] = await at.attempted('email', 1);
    expect(row?.last_error).toMatch(/STARTTLS/);
    expect(logins).toBe(0);
    expect(at.mail.received).toEqual([]);
  });

  it('uses TLS from the start with smtps, and rejects certificates of other authorities', async () => {
    await at.useMail({ ...relay, secure: true });
    await at.start({ SMTP_URL: `smtps://relay:p%40ss@localhost:${at.mail.port}?ca=${at.ca}` });
    await at.raise({ channels: { email: true } });
    await at.settled('email', 2);
    expect(at.mail.received).toMatchObject([{ secure: true }, { secure: true }]);
    at.mail.received.length = 0;
    await at.start({ SMTP_URL: `smtps://relay:p%40ss@localhost:${at.mail.port}` });
    await at.raise({ channels: { email: true } });
    expect((await at.attempted('email', 1))[0]?.last_error).toMatch(/certificate/);
    expect(at.mail.received).toEqual([]);
  });

  it('times out after 15 s without an answer, and does not delay SMS', async () => {
    const silent = createSilentServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const connected = once(silent, 'connection');
    await at.start({ SMTP_URL: `smtp://localhost:${(silent.address() as AddressInfo).port}` });
    await at.raise();
    const [socket] = await connected;
    await at.settled('sms', 1);
    const gone = once(socket, 'close');
    socket.resume();
    at.test.clock.advance(15_000);
    const rows = await at.attempted('email', 1);
    expect(rows[0]?.last_error).toBe('timed out after 15000 ms');
    await gone;
    silent.close();
  });
});
