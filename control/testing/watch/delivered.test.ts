/** The alarm of a watch from the calls to who is told: all in the background, with a receiver that fails once. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { WatchLineAnswer } from '#shared/api/agent-testing/watches.ts';
import { AlertPage } from '#shared/api/alerts.ts';
import { AlertChannels } from '../../../test/kit/control/alert-channels.ts';
import { FollowedEvents } from '../../../test/kit/control/events.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';
import { storeEndedCall } from '../../../test/kit/control/watched-calls.ts';

let at: AlertChannels;
beforeAll(async () => {
  at = await AlertChannels.open();
});
afterEach(() => at.endTest());
afterAll(() => at.close());

it('a drift is posted, signed, again after a failure, and is an event and an alert; so is its end', async () => {
  await at.start();
  const { test } = at;
  await test.call('PATCH', '/v1/org/settings', { body: { event_webhook_url: at.hook } });
  const pathway_id = await new TestingClient(test).pathway(bookingGraph);
  const body = {
    name: 'Bookings',
    pathway_id,
    drift_min_calls: 5,
    assertions: [{ type: 'STRING_CHECK', name: 'Books', config: { value: 'You are booked' } }],
  };
  const created = await test.call('POST', '/v1/agent-testing/watches', { body });
  const { id } = created.read(WatchLineAnswer);
  const events = await FollowedEvents.open(test, { query: '?types=alert' });

  const call = async (name: string, version: number) => {
    test.clock.advance(1000);
    const ended_at = new Date(test.clock.now()).toISOString();
    const words = version === 1 ? 'You are booked.' : 'Goodbye.';
    await storeEndedCall(test, {
      id: name,
      pathway_id,
      version,
      ended_at,
      said: [['assistant', `${words} Number ${name}.`, 'n', null]],
    });
  };
  for (let n = 0; n < 6; n++) await call(`good ${n}`, 1);
  for (let n = 0; n < 6; n++) await call(`bad ${n}`, 2);
  at.statuses = [500];

  let steppedAt = 0;
  /** Time goes on until the receiver has so many requests. */
  const posts = (count: number) =>
    events.until(`${count} requests`, () => {
      // Watches look in turns, a minute after the end of a call. A request that is on its way fails after 10 s of this
      // clock: it gets as long in truth as two steps take.
      if (Date.now() - steppedAt >= 250) {
        steppedAt = Date.now();
        test.clock.advance(5000);
      }
      return at.posted.length >= count || null;
    });
  await posts(2);
  const [failed, raised] = at.posted;
  expect(failed?.headers['x-webhook-id']).toBe(raised?.headers['x-webhook-id']);
  const { organizations } = await test.control.services.edgeConfig.snapshot();
  const secret = organizations.find(({ org_id }) => org_id === test.orgId)?.signing_secret ?? '';
  expect(raised?.headers).toMatchObject({
    'x-webhook-event': 'test_watch.drift_raised',
    'x-webhook-signature': createHmac('sha256', secret)
      .update(raised?.body ?? '')
      .digest('hex'),
  });
  expect(JSON.parse(raised?.body ?? '')).toMatchObject({
    type: 'test_watch.drift_raised',
    org_id: test.orgId,
    data: {
      watch_id: id,
      name: 'Bookings',
      pathway_id,
      alarm: { version: 2, good_version: 1, difference: -1 },
      resolved_at: null,
    },
  });

  await call('back', 1);
  await posts(3);
  expect(JSON.parse(at.posted[2]?.body ?? '')).toMatchObject({
    type: 'test_watch.drift_resolved',
    data: { watch_id: id, resolved_at: expect.any(String) },
  });
  const told = await events.take(2);
  const { alerts } = (await test.call('GET', '/v1/sip/alerts')).read(AlertPage).data;
  expect(alerts).toMatchObject([{ kind: 'watch_drift', watch_id: id, state: 'resolved' }]);
  const alert = { alert_id: alerts[0]?.alert_id, kind: 'watch_drift', watch_id: id };
  expect(told.map(({ event, data }) => [event, data.data])).toMatchObject([
    ['alert.raised', { alert: { ...alert, state: 'alert.raised', value: 0, threshold: 100 } }],
    ['alert.resolved', { alert: { ...alert, state: 'alert.resolved' } }],
  ]);
  events.leave();
});
