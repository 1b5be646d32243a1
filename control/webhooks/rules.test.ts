import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { nextAttempt, verdictOf, webhookHeaders } from './rules.ts';

describe('nextAttempt', () => {
  it('is 10, 50, 200 and 560 s after the first, then none', () => {
    expect([0, 1, 2, 3, 4, 5].map((attempts) => nextAttempt(attempts, 1000, 0.5))).toEqual([
      1000,
      11_000,
      51_000,
      201_000,
      561_000,
      null,
    ]);
  });

  it('is spread by 10 % either way', () => {
    expect([nextAttempt(2, 0, 0), nextAttempt(2, 0, 1)]).toEqual([45_000, 55_000]);
  });
});

describe('verdictOf', () => {
  it.each([
    [{ status: 200 }, 'delivered'],
    [{ status: 204 }, 'delivered'],
    [{ status: 302 }, 'again'],
    [{ status: 404 }, 'again'],
    [{ status: 410 }, 'stopped'],
    [{ status: 500 }, 'again'],
    [{ error: 'refused' }, 'again'],
  ] as const)('maps %j to %s', (result, verdict) => {
    expect(verdictOf(result)).toBe(verdict);
  });
});

describe('webhookHeaders', () => {
  it('signs the raw body and dates the attempt', () => {
    const body = '{"name":"Zoë"}';
    expect(
      webhookHeaders({ id: 'evt_1', type: 'call.completed', body, attempt: 2 }, 'ab12', 1_999),
    ).toMatchObject({
      'content-type': 'application/json',
      'content-length': '15',
      'x-webhook-signature': createHmac('sha256', 'ab12').update(Buffer.from(body)).digest('hex'),
      'x-webhook-signature-timed': `t=1,v1=${createHmac('sha256', 'ab12').update(`1.evt_1.${body}`).digest('hex')}`,
      'x-webhook-id': 'evt_1',
      'x-webhook-timestamp': '1',
      'x-webhook-attempt': '2',
      'x-webhook-event': 'call.completed',
    });
  });
});
