/** When edges were last seen is stored for all of them together. */
import { expect, it } from 'vitest';
import { TestEdgeLink } from '../../test/kit/control/edge-link.ts';

const link = TestEdgeLink.ofFile();

const seen = () =>
  link.test.control.services.database.db
    .selectFrom('edges')
    .select(['id', 'last_seen_at'])
    .orderBy('id')
    .execute();

it('stores the status of all edges a second later', async () => {
  const names = ['edge-a', 'edge-b'];
  const edges = [];
  for (const edge_id of names) {
    const edge = await link.connect({ edge_id, outbox_id: edge_id });
    await edge.next('config');
    edges.push(edge);
  }
  const connected = await seen();
  link.test.clock.advance(5_000);
  for (const edge of edges) {
    edge.send({ type: 'status', metrics: {} });
    // Frames are processed in order, so the status was, once this is acknowledged.
    edge.send({ type: 'report', reports: [] });
    await edge.next('ack');
  }
  expect(await seen()).toEqual(connected);
  link.test.clock.advance(1_000);
  const at = new Date(link.test.clock.now()).toISOString();
  await expect.poll(seen).toEqual(names.map((id) => ({ id, last_seen_at: at })));
});
