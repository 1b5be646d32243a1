import { describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../../control/webhooks/rules.ts';
import { verifyWebhook } from './webhooks.ts';

const secret = 'ab'.repeat(32);
const now = Date.UTC(2030, 0, 1);
const body = JSON.stringify({ id: 'evt_1', type: 'conference.left', data: { name: 'Zoë' } });
const event = { id: 'evt_1', type: 'conference.left', body, attempt: 2 };
const headers = webhookHeaders(event, secret, now);
const request = { body, headers, secret, now };

describe('verifyWebhook', () => {
  it('returns the event of a request that control has signed, from text or octets', async () => {
    for (const form of [body, Buffer.from(body)]) {
      expect(await verifyWebhook({ ...request, body: form })).toEqual({
        type: 'conference.left',
        id: 'evt_1',
        attempt: 2,
        sentAt: new Date(now),
        data: { name: 'Zoë' },
      });
    }
  });

  it('reads the headers of fetch, of node:http, and in any case', async () => {
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    for (const form of [new Headers(headers), upper])
      expect((await verifyWebhook({ ...request, headers: form })).id).toBe('evt_1');
  });

  it('has the call itself as the data of call.completed', async () => {
    const call = JSON.stringify({ call_id: 'c' });
    const sent = webhookHeaders({ ...event, id: 'evt_c', type: 'call.completed', body: call }, secret, now);
    expect(await verifyWebhook({ ...request, body: call, headers: sent })).toMatchObject({
      type: 'call.completed',
      data: { call_id: 'c' },
    });
  });

  it('takes several secrets while one is replaced', async () => {
    expect((await verifyWebhook({ ...request, secret: ['00', secret] })).id).toBe('evt_1');
  });

  it.each([
    ['an altered body', { body: body.replace('Zoë', 'Eve') }, 'The signature does not match'],
    ['another secret', { secret: '00' }, 'The signature does not match'],
    ['another id', { headers: { ...headers, 'x-webhook-id': 'evt_2' } }, 'The signature does not match'],
    ['an old attempt', { now: now + 301_000 }, 'The attempt is 301 s old'],
    ['one from the future', { now: now - 301_000 }, 'The attempt is -301 s old'],
    ['a missing header', { headers: { ...headers, 'x-webhook-id': undefined } }, 'x-webhook-id is missing'],
    [
      'a signature of another form',
      { headers: { ...headers, 'x-webhook-signature-timed': `t=${now / 1000},v0=00` } },
      'malformed',
    ],
    ['an empty secret', { secret: '' }, 'secret is empty'],
    ['a secret that is not set', { secret: undefined }, 'secret is empty'],
    ['no secret at all', { secret: [] }, 'The signature does not match'],
  ])('rejects %s', async (_, change, why) => {
    await expect(verifyWebhook({ ...request, ...change })).rejects.toThrow(why);
  });

  it('says that a parsed body is none', async () => {
    const parsed = JSON.parse(body);
    await expect(verifyWebhook({ ...request, body: parsed })).rejects.toThrow('before any parsing');
  });

  it('takes the type from no header alone, as the signature covers none', async () => {
    const call = JSON.stringify({ call_id: 'c', type: 'conference.left', data: {} });
    const ofCall = webhookHeaders({ ...event, id: 'evt_c', type: 'call.completed', body: call }, secret, now);
    const others = [
      { body, headers: { ...headers, 'x-webhook-event': 'call.completed' } },
      { body, headers: { ...headers, 'x-webhook-event': 'conference.joined' } },
      { body: call, headers: { ...ofCall, 'x-webhook-event': 'conference.left' } },
    ];
    for (const other of others)
      await expect(verifyWebhook({ ...request, ...other })).rejects.toThrow('of another event');
  });

  it('takes no new time for an old signature', async () => {
    const later = String(now / 1000 + 1000);
    const moved = headers['x-webhook-signature-timed']?.replace(/^t=\d+/, `t=${later}`);
    const forged = { ...headers, 'x-webhook-timestamp': later, 'x-webhook-signature-timed': moved };
    const at = { ...request, headers: forged, now: now + 1_000_000 };
    await expect(verifyWebhook(at)).rejects.toThrow('The signature does not match');
  });
});
