import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeliveryAgain, DeliveryList, DeliveryOne } from '#shared/api/webhooks.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { endedDelivery } from '../../test/kit/db/delivery.ts';

let test: TestControl;
const base = '/v1/org/webhook-deliveries';
const day = '2030-01-01T00:00:00.000Z';

beforeAll(async () => {
  // Nothing is sent meanwhile.
  test = await startControl({}, {}, {}, { begin: false });
  const { db } = test.control.services.database;
  await db
    .insertInto('webhook_deliveries')
    .values([
      endedDelivery(test.orgId, { id: 'evt_a' }),
      endedDelivery(test.orgId, { id: 'evt_b', delivered_at: day, last_status: 200, attempts: 2 }),
      endedDelivery(test.orgId, { id: 'evt_c', next_attempt_at: '2130-01-01T00:00:00.000Z', body: null }),
      endedDelivery(test.foreignOrgId, { id: 'evt_d' }),
    ])
    .execute();
});
afterAll(() => test.close());

const list = async (query = '') => {
  const { deliveries } = (await test.call('GET', `${base}?${query}`)).read(DeliveryList).data;
  return deliveries.map(({ id, state }) => [id, state]);
};

describe('webhook deliveries', () => {
  it('are listed newest first, by page and by state', async () => {
    const [c, b, a] = [
      ['evt_c', 'waiting'],
      ['evt_b', 'delivered'],
      ['evt_a', 'given_up'],
    ];
    expect(await list()).toEqual([c, b, a]);
    expect(await list('limit=2')).toEqual([c, b]);
    expect(await list('limit=2&before=evt_b')).toEqual([a]);
    expect(await list('state=waiting')).toEqual([c]);
    expect(await list('state=given_up')).toEqual([a]);
    for (const cursor of ['evt_d', 'none'])
      expect((await test.call('GET', `${base}?before=${cursor}`)).codes).toEqual(['INVALID_CURSOR']);
  });

  it('are read with their body', async () => {
    const { delivery } = (await test.call('GET', `${base}/evt_a`)).read(DeliveryOne).data;
    expect(delivery).toMatchObject({ state: 'given_up', last_status: 500, body: '{}' });
    expect((await test.call('GET', `${base}/evt_d`)).codes).toEqual(['DELIVERY_NOT_FOUND']);
  });

  it.each(['evt_a', 'evt_b'])(
    'are due again at once, with all attempts, when they have ended: %s',
    async (id) => {
      const before = (await test.call('GET', `${base}/${id}`)).read(DeliveryOne).data.delivery;
      const again = await test.call('POST', `${base}/${id}/redeliver`);
      const now = new Date(test.clock.now()).toISOString();
      const { body: _body, ...shown } = before;
      expect(again.read(DeliveryAgain).data.delivery).toEqual({
        ...shown,
        state: 'waiting',
        attempts: 0,
        first_attempt_at: null,
        next_attempt_at: now,
        delivered_at: null,
      });
      expect((await test.call('POST', `${base}/${id}/redeliver`)).codes).toEqual(['DELIVERY_WAITING']);
      expect((await list('state=waiting')).map(([one]) => one)).toContain(id);
    },
  );

  it('of others are unknown', async () => {
    expect((await test.call('POST', `${base}/evt_d/redeliver`)).codes).toEqual(['DELIVERY_NOT_FOUND']);
  });
});
