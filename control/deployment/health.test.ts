/** GET /health for the states of edges, with and without EXPECT_EDGE: docs/operations.md has the same table. */
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectEdge, type EdgeClient } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { onceIsEnough } from '../../test/kit/db/test-database.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { OutageLog } from './outage-log.ts';

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

describe('the log of a database that looks at /health find down', () => {
  const scene = () => {
    const lines: string[] = [];
    const line = (level: string) => (facts: object, message: string) =>
      void lines.push(`${level} ${message} ${'down_s' in facts ? facts.down_s : ''}`.trim());
    const clock = new FakeClock();
    return { lines, clock, log: new OutageLog(clock, { error: line('error'), info: line('info') }) };
  };

  test('says once that it is down, and once that it is back, with how long it was away', () => {
    const { lines, clock, log } = scene();
    log.up();
    for (let looks = 0; looks < 60; looks++) {
      log.down('unreachable', new Error('refused'));
      clock.advance(1_000);
    }
    log.up();
    log.up();
    log.down('unreachable', new Error('refused'));
    expect(lines).toEqual(['error database is down', 'info database is back 60', 'error database is down']);
  });

  test('says another cause, and counts from the first', () => {
    const { lines, clock, log } = scene();
    log.down('unreachable', new Error('refused'));
    clock.advance(1_500);
    log.down('full', new Error('the disk is full'));
    log.down('full', new Error('the disk is full'));
    clock.advance(1_000);
    log.up();
    expect(lines).toEqual(['error database is down', 'error database is down', 'info database is back 2.5']);
  });

  test('has the changes alone, whichever address is asked', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const control = await startControl({}, {}, {}, { logger });
    const storage = vi.spyOn(control.control.services.database, 'storageFault');
    const look = async (status: number) => {
      for (const address of ['/health', '/health/ready', '/health'])
        expect((await control.call('GET', address, { key: null })).status).toBe(status);
    };
    const outages = () =>
      lines.filter((line) => line.includes('"database is ')).map((line) => JSON.parse(line));
    await look(200);
    expect(outages()).toEqual([]);
    storage.mockResolvedValue('full');
    await look(503);
    control.clock.advance(2_000);
    await look(503);
    expect(outages()).toMatchObject([
      { level: 50, msg: 'database is down', err: { message: 'nothing can be stored: the disk is full' } },
    ]);
    storage.mockResolvedValue(null);
    await look(200);
    expect(outages()).toMatchObject([{}, { level: 30, msg: 'database is back', down_s: 2 }]);
    await control.close();
  });
});
