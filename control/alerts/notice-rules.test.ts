import { describe, expect, it } from 'vitest';
import { alertEvent, mailMessage, redacted, smsMessage, threadIds } from './notice-rules.ts';

const alert = {
  id: 'a1',
  org_id: 'o1',
  configuration_id: 'c1',
  number: '+14155550100',
  direction: 'outbound',
  endpoint: 'sip:trunk.example.com',
  kind: 'unreachable',
  threshold: 5,
  value: 6,
  window_minutes: null,
  raised_at: '2030-01-01T00:06:00.000Z',
  resolved_at: null,
} as const;
const resolved = { ...alert, value: 0, resolved_at: '2030-01-01T00:09:00.000Z' };

describe('a mail', () => {
  it('says what, where, since when, and what to do', () => {
    const { subject, text } = mailMessage(alert, 'Own');
    expect(subject).toBe('Alert: trunk unreachable, +14155550100 outbound');
    expect(text).toMatch(/^No endpoint .* for 6 minutes \(threshold: 5\)\.\n/);
    for (const part of ['sip:trunk.example.com', 'c1', 'Own', '2030-01-01T00:06:00.000Z', 'What to do:'])
      expect(text).toContain(part);
  });

  it('about the end includes the end time', () => {
    const { subject, text } = mailMessage(resolved, 'Own');
    expect(subject).toBe('Resolved: trunk unreachable, +14155550100 outbound');
    expect(text).toContain('Resolved:      2030-01-01T00:09:00.000Z');
    expect(text).not.toContain('What to do');
  });
});

it.each([
  [1, 'expires in 1 day (threshold: 14)'],
  [3.5, 'expires in 3.5 days (threshold: 14)'],
  [-0.2, 'has expired'],
])('a mail about a certificate with %d days left says that it %s', (value, said) => {
  const expiring = { ...alert, kind: 'certificate_expiring', threshold: 14, value } as const;
  expect(mailMessage(expiring, 'Own').text).toContain(`The TLS certificate of the SIP server ${said}`);
});

describe('an SMS', () => {
  it('is one message of plain characters, however long the endpoint is', () => {
    expect(smsMessage(alert).text).toBe(
      'Trunkline alert: unreachable for 6 min, since 2030-01-01 00:06 UTC: +14155550100 outbound sip:trunk.example.com',
    );
    expect(smsMessage(resolved).text).toBe(
      'Trunkline resolved: trunk unreachable, 2030-01-01 00:09 UTC: +14155550100 outbound sip:trunk.example.com',
    );
    expect(smsMessage({ ...alert, endpoint: `sip:${'x'.repeat(250)}` }).text).toMatch(/^[ -~]{160}$/);
  });
});

it.each([
  ['unreachable', 'alert.raised', null],
  ['response_time', 'alert.resolved', '2030-01-01T00:09:00.000Z'],
] as const)('the event of %s has the state %s', (kind, state, resolved_at) => {
  expect(alertEvent({ ...alert, kind, resolved_at })).toMatchObject({
    kind,
    state,
    resolved_at,
    alert_id: 'a1',
  });
});

it.each([
  ['ops@example.com', 'example.com'],
  ['Ops <ops@mail.example.com>', 'mail.example.com'],
  ['', 'trunkline.invalid'],
])('message ids of mail from "%s" end with %s', (from, domain) => {
  expect(threadIds('a1', 'raised', from)).toEqual({ messageId: `<alert.a1.raised@${domain}>` });
  expect(threadIds('a1', 'resolved', from)).toEqual({
    messageId: `<alert.a1.resolved@${domain}>`,
    references: `<alert.a1.raised@${domain}>`,
  });
});

it.each([
  ['ops@example.com', '…@example.com'],
  ['+14155550123', '…23'],
])('%s is logged as %s', (recipient, shown) => expect(redacted(recipient)).toBe(shown));
