/** GET /health for the states of edges, with and without EXPECT_EDGE: docs/operations.md has the same table. */
import { afterEach, describe, expect, test } from 'vitest';
import { connectEdge, type EdgeClient } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { onceIsEnough } from '../../test/kit/db/test-database.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

interface EdgeState {
  readonly applied: boolean;
  readonly draining?: boolean;
  readonly refusing?: boolean;
  readonly engine?: boolean;
}

const edges: EdgeClient[] = [];
afterEach(() => releaseAll(...edges.splice(0).map((edge) => () => edge.kill())));

async function healthWith(control: TestControl, states: readonly EdgeState[]) {
  const { edges: registry } = control.control.services;
  for (const [index, { applied, draining = false, refusing = false, engine = true }] of states.entries()) {
    const id = `edge-${index + 1}`;
    const edge = await connectEdge(control, { edge_id: id, outbox_id: `outbox-${index + 1}` });
    edges.push(edge);
    const { config } = await edge.next('config');
    if (applied) edge.send({ type: 'applied', version: config.version });
    const metrics = {
      trunkline_edge_calls: 1,
      trunkline_edge_draining: Number(draining),
      trunkline_edge_engine_up: Number(engine),
      trunkline_edge_storage_refuses_calls: Number(refusing),
    };
    edge.send({ type: 'status', metrics });
    await expect.poll(() => registry.all.find(({ edgeId }) => edgeId === id)?.metrics).toEqual(metrics);
  }
  return control.call('GET', '/health', { key: null });
}

const up = { applied: true };
const draining = { applied: true, draining: true };
const refusing = { applied: true, refusing: true };
const engineless = { applied: true, engine: false };

const documented: readonly [string, readonly EdgeState[], number, number][] = [
  ['no edge', [], 200, 503],
  ['an edge', [up], 200, 200],
  ['an edge without its configuration', [{ applied: false }], 200, 503],
  ['an edge beside one without its configuration', [up, { applied: false }], 200, 200],
  ['the only edge draining', [draining], 200, 503],
  ['one of two edges draining', [draining, up], 200, 200],
  ['the only edge refusing calls', [refusing], 503, 503],
  ['one of two edges refusing calls', [refusing, up], 200, 200],
  ['one edge draining and one refusing calls', [draining, refusing], 503, 503],
  ['the only edge without its engine', [engineless], 503, 503],
  ['one of two edges without its engine', [engineless, up], 200, 200],
];

describe.each([false, true])('where EXPECT_EDGE is %s', (expectEdge) => {
  const control = emptiedForEach(() => startControl({ EXPECT_EDGE: String(expectEdge) }));

  // A server adds what other control planes know of edges; which answer follows from the states is the same.
  test.each(onceIsEnough ? documented : documented.slice(0, 4))(
    '/health answers as documented with %s',
    async (_, states, without, expecting) => {
      expect((await healthWith(control, states)).status).toBe(expectEdge ? expecting : without);
    },
  );

  test('/health/live and /health/ready do not depend on edges', async () => {
    const { status } = await healthWith(control, []);
    expect(status).toBe(expectEdge ? 503 : 200);
    const ready = await control.call('GET', '/health/ready', { key: null });
    expect([ready.status, ready.body]).toEqual([
      200,
      { status: 'ok', checks: { database: 'ok' }, leaving: false },
    ]);
    const live = await control.call('GET', '/health/live', { key: null });
    expect([live.status, live.body]).toEqual([200, { status: 'ok' }]);
  });
});

describe('the state of edges', () => {
  const control = emptiedForEach(startControl);

  test('lists the draining edges', async () => {
    const { body } = await healthWith(control, [up, draining]);
    expect(body.edge).toMatchObject({ connected: 2, ids: ['edge-1', 'edge-2'], draining: ['edge-2'] });
  });

  test('tells the parts of control and of each edge', async () => {
    const edge = await connectEdge(control, { edge_id: 'edge-1', outbox_id: 'outbox-1' });
    edges.push(edge);
    const parts = async () => (await control.call('GET', '/health', { key: null })).body.edge?.parts;
    const well = { id: 'edge-1', engine: 'ok', disk: 'ok' };
    await expect.poll(parts).toEqual([{ ...well, media: null, queue: null, certificate: null }]);
    const inDays = (days: number) => Math.floor(control.clock.now() / 1000 + days * 86_400);
    edge.send({
      type: 'status',
      metrics: {
        trunkline_edge_media_shards: 2,
        trunkline_edge_outbox_pending: 3,
        trunkline_engine_certificate_expires_seconds: inDays(90),
      },
    });
    await expect.poll(parts).toEqual([{ ...well, media: 'ok', queue: 'ok', certificate: 'ok' }]);
    edge.send({
      type: 'status',
      metrics: {
        trunkline_edge_engine_up: 0,
        trunkline_edge_media_shards: 0,
        trunkline_edge_storage_failing: 1,
        trunkline_edge_outbox_pending: 3,
        trunkline_edge_outbox_held: 1,
        trunkline_engine_certificate_expires_seconds: inDays(13),
      },
    });
    const ill = { id: 'edge-1', engine: 'down', media: 'down', disk: 'failing', queue: 'waiting' };
    await expect.poll(parts).toEqual([{ ...ill, certificate: 'expires_soon' }]);
    const { body } = await control.call('GET', '/health', { key: null });
    expect(body.control).toEqual({ disk: 'ok', queue: 'ok' });
  });
});

test('/health/ready is 503 while the database cannot be read, and /health/live is not', async () => {
  const control = await startControl();
  await control.control.services.database.close();
  const ready = await control.call('GET', '/health/ready', { key: null });
  expect([ready.status, ready.body]).toEqual([
    503,
    { status: 'unavailable', checks: { database: 'down' }, leaving: false },
  ]);
  expect(ready.headers['retry-after']).toBe('1');
  expect((await control.call('GET', '/health/live', { key: null })).status).toBe(200);
  await control.close();
});
