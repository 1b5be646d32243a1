import { describe, expect, it } from 'vitest';
import { readControlConfig } from './config.ts';

describe('readControlConfig', () => {
  it('has a default for everything', () => {
    expect(readControlConfig({ TRUNKLINE_DATA: '/var/lib/trunkline' })).toMatchObject({
      dataFolder: '/var/lib/trunkline',
      database: '/var/lib/trunkline/control.db',
      host: '127.0.0.1',
      port: 8080,
      url: 'http://127.0.0.1:8080',
      expectEdge: false,
      sip: { host: '0.0.0.0', port: 5061, publicHost: null },
      rtp: { publicIp: null, portMin: 10_000, portMax: 20_000 },
      tls: null,
      requestsPerMinute: 600,
      quotas: { pathways: 500, outgoingCalls: null },
      callLimits: { concurrent: null, per_minute: null },
      retention: { calls: 90, traces: 14 },
      probeGapMs: 180_000,
      allowPrivateTargets: [],
    });
  });

  it('gives a reachable URL when it listens on all addresses', () => {
    expect(readControlConfig({ CONTROL_HOST: '::', CONTROL_PORT: '9000' }).url).toBe('http://127.0.0.1:9000');
    expect(readControlConfig({ CONTROL_HOST: '::1' }).url).toBe('http://[::1]:8080');
  });

  it.each([
    [{ CONTROL_PORT: 'x' }, 'CONTROL_PORT must be a whole number from 0 to 65535, not "x"'],
    [{ EXPECT_EDGE: 'maybe' }, 'EXPECT_EDGE must be true or false'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of fatal'],
    [{ TLS_CERT: '/a' }, 'TLS_CERT and TLS_KEY must be set together'],
    [{ ALLOW_PRIVATE_TARGETS: '10.0.0.0/8, x' }, 'ALLOW_PRIVATE_TARGETS: "x" is neither'],
    [{ DATABASE_URL: 'mysql://db/x' }, 'DATABASE_URL has the scheme "mysql"'],
    [{ DATABASE_URL: 'postgres://db:5432' }, 'DATABASE_URL must name a database'],
    [{ TRUNKLINE_SECRET_KEY: 'short' }, 'TRUNKLINE_SECRET_KEY must be 64 hexadecimal digits'],
    [{ SMTP_URL: 'https://mail.example.com', MAIL_FROM: 'a@example.com' }, 'SMTP_URL must have the form'],
    [{ SMTP_URL: 'smtp://mail.example.com' }, 'MAIL_FROM must be a mail address'],
    [{ SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'Ops' }, 'MAIL_FROM must be a mail address'],
    [
      { SMTP_URL: 'smtp://mail.example.com?tls=never', MAIL_FROM: 'a@example.com' },
      'SMTP_URL may end in ?tls=',
    ],
    [{ SMTP_URL: 'smtp://mail.example.com?cert=x', MAIL_FROM: 'a@example.com' }, 'SMTP_URL may end in ?tls='],
    [
      { QUOTAS: 'pathway=3' },
      'QUOTAS must be a list such as pathways=100, with the kinds pathways, pathwayVersions',
    ],
    [
      { QUOTAS: 'storedRuns=10' },
      'QUOTAS: storedRuns must be a whole number from 1000 to 10000000, not "10"',
    ],
    [{ RETENTION_DAYS: 'calls=0' }, 'RETENTION_DAYS: calls must be a whole number from 1 to 36500, not "0"'],
    [{ SMS_API_URL: 'https://sms.example.com' }, 'SMS_FROM must be set'],
    [{ SMS_API_URL: 'ftp://sms.example.com', SMS_FROM: 'x' }, 'SMS_API_URL must be a URL'],
  ])('reports the error in %j', (env, message) => expect(() => readControlConfig(env)).toThrow(message));

  it('reads the mail server, with the submission ports by default', () => {
    const mail = (SMTP_URL: string) =>
      readControlConfig({ SMTP_URL, MAIL_FROM: 'Ops <ops@example.com>' }).mail;
    expect(mail('smtp://user:p%40ss@mail.example.com?ca=/etc/ca.pem')).toEqual({
      host: 'mail.example.com',
      port: 587,
      secure: false,
      user: 'user',
      password: 'p@ss',
      requireTls: false,
      ca: '/etc/ca.pem',
      from: 'Ops <ops@example.com>',
    });
    expect(mail('smtps://[::1]')).toMatchObject({ host: '::1', port: 465, secure: true, user: null });
    expect(mail('smtp://mail.example.com:25')).toMatchObject({
      port: 25,
      requireTls: false,
      ca: null,
    });
    expect(mail('smtp://mail.example.com?tls=required')).toMatchObject({ port: 587, requireTls: true });
  });

  it('does not show the password of an invalid mail server URL', () => {
    expect(() => readControlConfig({ SMTP_URL: 'mail://u:hidden@x' })).toThrow(/^((?!hidden).)*$/);
  });

  it('reads quotas and days by kind, and keeps the others', () => {
    const config = readControlConfig({
      QUOTAS: 'pathways=7, outgoingCalls = 20',
      RETENTION_DAYS: 'calls=30,ports=400',
    });
    expect(config.quotas).toMatchObject({ pathways: 7, tools: 1000 });
    expect(config.callLimits).toEqual({ concurrent: 20, per_minute: null });
    expect(config.retention).toMatchObject({ calls: 30, ports: 400, traces: 14 });
  });

  it('takes the gap of probes from their interval', () => {
    expect(readControlConfig({ TRUNK_PROBE_INTERVAL_S: '300' }).probeGapMs).toBe(900_000);
    expect(readControlConfig({ TRUNK_PROBE_INTERVAL_S: '1' }).probeGapMs).toBe(180_000);
  });
});
