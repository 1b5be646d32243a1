/** An edge whose connection for a run reaches another replica than the one that runs it: on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { runId, TestSockets } from '../../../test/kit/control/over-call.ts';
import {
  onSqlite,
  type TestDatabase,
  takeDatabase,
  testConnections,
} from '../../../test/kit/db/test-database.ts';
import { type Database, openDatabase } from '../../db/open.ts';
import { Bus } from '../../replicas/bus.ts';
import { replicaLimits } from '../../replicas/limits.ts';

const signal = new AbortController().signal;

describe.skipIf(onSqlite)('an agent test over a call, at another replica', () => {
  let taken: TestDatabase;
  const open: { bus: Bus; database: Database; sockets: TestSockets }[] = [];
  let run: TestSockets;
  let reached: TestSockets;

  async function replica(id: string): Promise<TestSockets> {
    const database = await openDatabase(taken.address, systemClock, {
      limits: { connections: testConnections },
    });
    const log = { error: () => undefined };
    const bus = new Bus({ id, clock: systemClock, database, limits: replicaLimits, log });
    const sockets = await TestSockets.open(bus);
    open.push({ bus, database, sockets });
    await bus.start();
    await bus.transients.begin(['run', 'reached']);
    return sockets;
  }
  beforeEach(async () => {
    taken = await takeDatabase();
    run = await replica('run');
    reached = await replica('reached');
  });
  afterEach(async () => {
    for (const { bus, database, sockets } of open.splice(0)) {
      await sockets.close();
      await bus.close();
      await database.close();
    }
    await taken.release();
  });

  it('gets frames of both directions in order, however large, and both ends close together', async () => {
    const expected = run.expect();
    const edge = await reached.edge(expected.key);
    const line = await expected.arrived;
    const text = 'ä"'.repeat(400_000);
    edge.send({ type: 'moved' }, { type: 'line', text, node_id: null }, { type: 'moved' });
    expect(await line.next(signal)).toEqual({ type: 'moved' });
    expect(await line.next(signal)).toEqual({ type: 'line', text, node_id: null });
    expect(await line.next(signal)).toEqual({ type: 'moved' });
    line.send({ type: 'hangup', reason: 'enough' });
    expect(await edge.order()).toEqual({ type: 'hangup', reason: 'enough' });
    line.close();
    expect(await edge.closed).toBe(1000);
    expect(await line.next(signal)).toBeNull();
    await expect.poll(() => reached.sockets.open + run.sockets.open).toBe(0);
  });

  it('ends when the edge goes, and when either replica does', async () => {
    const first = run.expect();
    const gone = await reached.edge(first.key);
    const line = await first.arrived;
    gone.lose();
    expect(await line.next(signal)).toBeNull();
    const second = run.expect();
    const edge = await reached.edge(second.key);
    const last = await second.arrived;
    open.find(({ sockets }) => sockets === reached)?.bus.transients.look(['reached']);
    expect(await edge.closed).toBe(1011);
    expect(await last.next(signal)).toBeNull();
  });

  it('is open to its own key alone, and once', async () => {
    const { key } = run.expect();
    const [replicaId, random] = key.split('.');
    await expect(reached.edge(`${replicaId}.${random}.forged`)).rejects.toThrow('401');
    await expect(reached.edge(key, '00000000-0000-4000-8000-000000000000')).rejects.toThrow('401');
    const edge = await reached.edge(key);
    const again = await reached.edge(key);
    expect(await again.closed).toBe(1008);
    await expect(run.edge(key, runId)).rejects.toThrow('401');
    edge.lose();
  });
});
