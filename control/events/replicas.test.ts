/** Events at two replicas: on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QualitySample } from '#shared/edge-protocol/measured.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { FollowedEvents } from '../../test/kit/control/events.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

const id = (edge: number, last: number) => `0000000${edge}-0000-4000-8000-${String(last).padStart(12, '0')}`;

describe.skipIf(onSqlite)('events at two replicas', () => {
  let database: TestDatabase;
  let first: TestControl;
  let second: TestControl;
  const edges: EdgeClient[] = [];
  const start = () => startControl({ DATABASE_URL: database.address, EXPECT_EDGE: 'true' });
  beforeEach(async () => {
    database = await takeDatabase();
    first = await start();
    second = await start();
    await expect.poll(() => first.control.services.bus.transients.peers.size).toBe(1);
  });
  afterEach(() =>
    releaseAll(
      ...edges.splice(0).map((edge) => () => edge.kill()),
      () => first.close(),
      () => second.close(),
      () => database.release(),
    ),
  );

  async function connect(at: TestControl, number: number): Promise<EdgeClient> {
    const edge = await connectEdge(at, { edge_id: `edge-${number}`, outbox_id: `outbox-${number}` });
    edges.push(edge);
    return edge;
  }

  it('that two edges report at the same time reach readers at both, each once and in one order', async () => {
    const calls = 40;
    const readers = [await FollowedEvents.open(first), await FollowedEvents.open(second, { key: first.key })];
    // Two edges at each replica, so that frames are stored beside each other.
    const links = await Promise.all([first, first, second, second].map((at, index) => connect(at, index)));
    for (const [index, edge] of links.entries())
      for (let step = 1; step <= calls; step++)
        edge.send(
          reportFrame(step, [{ type: 'call', call: callRecord(first.orgId, { id: id(index, step) }) }]),
        );
    const all = calls * links.length * 3;
    const [here = [], there] = [await readers[0]?.take(all), await readers[1]?.take(all)];
    expect(there).toEqual(here);
    expect(here.map((one) => Number(one.id?.split('-')[1]))).toEqual(
      Array.from({ length: all }, (_, index) => index + 1),
    );
    for (const index of links.keys())
      expect(
        here
          .filter(
            ({ event, data }) =>
              event === 'call.ended' && data.subject?.call_id?.startsWith(`0000000${index}`),
          )
          .map(({ data }) => data.subject?.call_id),
      ).toEqual(Array.from({ length: calls }, (_, step) => id(index, step + 1)));
    // What is not stored reaches a reader at the other replica, too.
    const samples = await FollowedEvents.open(second, { key: first.key, query: '?types=quality' });
    const at: QualitySample = [5_000, 5_000, 0, 250, 0, 0, 1, 40, -20, 250, 0, -20, 30, 4.3, 4.3, 0];
    const quality = [{ part: 0, samples: [at], whole: false }];
    await samples.until('the first replica to know its reader', () =>
      first.control.services.followers.passing.isWatched ? true : null,
    );
    links[0]?.send(
      reportFrame(calls + 1, [{ type: 'measured', calls: [{ call_id: id(0, 1), quality, marks: [] }] }]),
    );
    expect((await samples.take(1))[0]).toMatchObject({
      event: 'quality.sample',
      data: { subject: { call_id: id(0, 1) }, data: { sample: { at_ms: 5_000 } } },
    });
    // A reader goes on at the other replica.
    const moved = await FollowedEvents.open(second, { key: first.key, after: here[99]?.id ?? '' });
    expect(await moved.take(all - 100)).toEqual(here.slice(100));
    for (const reader of [...readers, samples, moved]) reader.leave();
  });
});
