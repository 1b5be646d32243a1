/** A change reaches the edges at once, and is applied once all of them have confirmed it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectEdge, type EdgeClient } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';

let test: TestControl;
beforeEach(async () => {
  test = await startRoutes();
});
afterEach(() => test.close());

const number = '+14155550100';
const applied = async () => {
  const { body } = await test.call('GET', `/v1/sip?phone_number=${encodeURIComponent(number)}`);
  return body.data?.inbound?.applied;
};

async function connect(id: string): Promise<EdgeClient> {
  const edge = await connectEdge(test, { edge_id: id, outbox_id: id });
  const { config } = await edge.next('config');
  await confirm(edge, config.version);
  return edge;
}

/** Control processes frames in order, so an answer to a later frame proves that this one was processed. */
async function confirm(edge: EdgeClient, version: number): Promise<void> {
  edge.send({ type: 'applied', version });
  edge.send({ type: 'report', reports: [] });
  await edge.next('ack');
}

it('applied is true once all edges have confirmed', async () => {
  const first = await connect('edge-1');
  const second = await connect('edge-2');
  await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions: ['inbound'] } });
  expect(await applied()).toBe(false);
  const { change } = await first.next('change');
  expect(change.numbers).toMatchObject([{ number, org_id: test.orgId }]);
  expect((await second.next('change')).change.version).toBe(change.version);
  await confirm(first, change.version);
  expect(await applied()).toBe(false);
  await confirm(second, change.version);
  expect(await applied()).toBe(true);

  // A later change of another number leaves this one applied.
  await test.call('POST', '/v1/sip/attach', {
    body: { phone_number: '+14155550199', directions: ['inbound'] },
  });
  expect(await applied()).toBe(true);
  await test.call('POST', '/v1/sip/update', {
    body: { phone_number: number, updates: { type: 'inbound', options: { allowed_ips: ['203.0.113.9'] } } },
  });
  expect(await applied()).toBe(false);
  // An edge that disconnects is not waited for.
  await second.close();
  await first.next('change');
  const last = await first.next('change');
  await confirm(first, last.change.version);
  await expect.poll(applied).toBe(true);
  await first.close();
});
