/** Two control planes on one database, and an edge that is linked to one of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '#shared/errors.ts';
import { connectEdge, type EdgeClient } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { Bus, replicaLimits } from '../replicas/index.ts';
import { isVoid, Unanswered } from './command-rules.ts';
import { ConnectedEdges } from './registry.ts';
import { RemoteCommands } from './remote-commands.ts';
import { edgesWithIds } from './shared-store.ts';

const stop = { kind: 'call.stop', call_id: '00000000-0000-4000-8000-000000000001' } as const;
const failback = { kind: 'trunk.failback', trunk_id: 't' } as const;

const busParts = ({ clock, control: { services } }: TestControl) => ({
  database: services.database,
  clock,
  limits: replicaLimits,
  commandTimeoutMs: services.limits.edgeLink.commandTimeoutMs,
  log: { error: () => undefined },
});

describe.skipIf(onSqlite)('an edge that is linked to another replica', () => {
  let taken: TestDatabase;
  let near: TestControl;
  let far: TestControl;
  let edge: EdgeClient;
  const edges: EdgeClient[] = [];

  beforeEach(async () => {
    taken = await takeDatabase();
    far = await startControl({ DATABASE_URL: taken.address });
    near = await startControl({ DATABASE_URL: taken.address });
    edge = await connect(far);
    await expect.poll(() => near.control.services.edges.count).toBe(1);
  });
  afterEach(() =>
    releaseAll(
      ...edges.splice(0).map((one) => () => one.kill()),
      () => near.close(),
      () => far.close(),
      () => taken.release(),
    ),
  );

  async function connect(to: TestControl): Promise<EdgeClient> {
    const one = await connectEdge(to);
    edges.push(one);
    await one.next('config');
    return one;
  }

  const order = (command: typeof stop | typeof failback = failback) =>
    near.control.services.edges.command('edge-1', command);

  it('is known with what it reported', async () => {
    const [known] = near.control.services.edges.all;
    expect(known).toMatchObject({
      edgeId: 'edge-1',
      sip: { host: 'edge.example.com', port: 5061 },
      rtp: { ip: '198.51.100.7', port_min: 10_000, port_max: 20_000 },
      codecs: ['PCMU', 'PCMA', 'Opus'],
    });
    expect(near.control.services.edges.allHere).toEqual([]);
    edge.send({ type: 'status', metrics: { trunkline_edge_calls: 3, trunkline_edge_draining: 1 } });
    edge.send({ type: 'applied', version: 7 });
    // What gathers is stored when the clock of its replica moves.
    await expect
      .poll(() => {
        far.clock.advance(100);
        return near.control.services.edges.appliedVersion;
      })
      .toBe(7);
    await expect.poll(() => near.control.services.edges.draining.length).toBe(1);
    expect(known?.metrics.trunkline_edge_calls).toBe(3);
  });

  it('gets a command, and its result comes back', async () => {
    const answer = order(stop);
    const { id, command } = await edge.next('command');
    expect(command).toEqual(stop);
    edge.send({ type: 'result', id, ok: true });
    await answer;
  });

  it("fails a command with the edge's own error", async () => {
    const answer = order();
    answer.catch(() => undefined);
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: false, code: 'CALL_NOT_FOUND', error: 'There is no such call.' });
    const error = await answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'CALL_NOT_FOUND', message: 'There is no such call.' });
  });

  it('may have executed a command that it did not answer', async () => {
    const answer = order().catch((reason: unknown) => reason);
    await edge.next('command');
    near.clock.advance(near.control.services.limits.edgeLink.commandTimeoutMs);
    expect(await answer).toBeInstanceOf(Unanswered);
    // Until it is heard of, orders go to others.
    const silent = () => near.control.services.edges.all.map(({ isSilent }) => isSilent);
    expect(silent()).toEqual([true]);
    edge.send({ type: 'status', metrics: {} });
    await expect
      .poll(() => {
        // It is stored when it was seen, and read every ten seconds.
        for (const { clock } of [far, near]) clock.advance(1_000);
        return silent();
      })
      .toEqual([false]);
  });

  it('may have executed a command during which it was disconnected', async () => {
    const answer = order().catch((reason: unknown) => reason);
    await edge.next('command');
    await edge.kill();
    expect(await answer).toBeInstanceOf(Unanswered);
    await expect.poll(() => near.control.services.edges.count).toBe(0);
  });

  it('gets a configuration published here before the command that follows', async () => {
    const number = '+14155550177';
    await near.call('POST', `/v1/inbound/${number}`, { body: { label: 'Published here' } });
    await near.call('POST', '/v1/sip/attach', {
      body: { phone_number: number, directions: [{ type: 'inbound', options: {} }] },
    });
    const answer = order();
    const { id } = await edge.next('command');
    const kinds = edge.untaken.map(({ type }) => type);
    expect(kinds).toContain('change');
    edge.send({ type: 'result', id, ok: true });
    await answer;
  });

  it('that connects here too is closed there, and commands reach its newer link from both', async () => {
    const newer = await connect(near);
    expect(await edge.closed).toMatchObject({ code: 4001 });
    await expect.poll(() => near.control.services.edges.allHere.length).toBe(1);
    await expect.poll(() => far.control.services.edges.all.map(({ edgeId }) => edgeId)).toEqual(['edge-1']);
    expect(far.control.services.edges.allHere).toEqual([]);
    const answer = far.control.services.edges.command('edge-1', stop);
    const { id } = await newer.next('command');
    newer.send({ type: 'result', id, ok: true });
    await answer;
  });

  it('gets a command that was sent to a former replica, from the replica that it moved to', async () => {
    const { bus, database } = near.control.services;
    const [row] = await edgesWithIds(database.db, ['edge-1']);
    const newer = await connect(near);
    await edge.closed;
    await expect.poll(() => far.control.services.edges.count).toBe(1);
    const third = new Bus({ ...busParts(near), id: 'third' });
    await third.start();
    const commands = new RemoteCommands({ ...busParts(near), bus: third, edges: new ConnectedEdges() });
    if (!row) throw new Error('no edge is linked');
    expect(row.replica_id).not.toBe(bus.id);
    const answer = commands.send(row, stop);
    const { id } = await newer.next('command');
    newer.send({ type: 'result', id, ok: true });
    await answer;
    await third.close();
  });

  it('answers what it was ordered before it moved', async () => {
    const answer = order(stop);
    const { id } = await edge.next('command');
    const newer = await connect(near);
    await expect.poll(() => far.control.services.edges.allHere.length).toBe(0);
    edge.send({ type: 'result', id, ok: true });
    await answer;
    expect(await edge.closed).toMatchObject({ code: 4001 });
    expect(newer.untaken.map(({ type }) => type)).not.toContain('command');
  });

  it('counts as gone once its replica no longer renews its presence', async () => {
    far.control.services.replica.freeze();
    await expect
      .poll(() => {
        near.clock.advance(1_000);
        return near.control.services.edges.count;
      })
      .toBe(0);
    await expect(order()).rejects.toThrow('not connected');
  });

  it('wakes what waits here for its reports', async () => {
    const woken = near.control.services.announcements.wait('subject', 60_000);
    far.control.services.announcements.announce('subject');
    await woken.ended;
  });
});

it.runIf(onSqlite)('the only control plane on an SQLite file stores no links', async () => {
  const test = await startControl();
  const edge = await connectEdge(test);
  const rows = await test.control.services.database.db.selectFrom('edges').selectAll().execute();
  expect(rows).toMatchObject([{ replica_id: null, link_epoch: 0 }]);
  await edge.kill();
  await test.close();
});

it('a command is void after three quarters of the wait for its answer, a hang-up never', () => {
  expect(isVoid(failback, 3_749, 5_000)).toBe(false);
  expect(isVoid(failback, 3_750, 5_000)).toBe(true);
  expect(isVoid(stop, 60_000, 5_000)).toBe(false);
});
