import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { makeThread, makeWidget } from '../../test/kit/control/widgets.ts';
import { databaseQuiet } from '../../test/kit/db/test-database.ts';
import { SharedPlaces } from '../replicas/index.ts';
import { Live } from './live.ts';
import { type StreamOrder, Streams } from './streams.ts';

const test = routesOfFile();
let streams: Streams;
let ends: string[];
let order: StreamOrder;
beforeEach(async () => {
  ends = [];
  streams = new Streams({
    db: test.control.services.database.db,
    clock: test.clock,
    live: new Live(),
    places: new SharedPlaces(),
    limits: { perWidget: 10, perAddress: 10, heartbeatMs: 15_000, mostPending: 1000 },
    metrics: {
      refused: () => undefined,
      streamBegan: () => undefined,
      streamEnded: (why) => void ends.push(why),
    },
  });
  const [, , , widgetId = '', , threadId = ''] = (await makeThread(test, await makeWidget(test))).split('/');
  order = { widgetId, threadId, address: '192.0.2.1', after: 1, until: null, allowed: null };
});

/** Reads a stream like its response would, and advances time until it has ended. @returns ms that it was open */
async function lifetime(until: number | null): Promise<number> {
  const began = test.clock.now();
  const stream = await streams.open({ ...order, until });
  const closed = once(stream, 'close');
  let over = false;
  void closed.then(() => {
    over = true;
  });
  stream.resume();
  // Each step is a heartbeat, which the reader takes before the next.
  while (!over) {
    test.clock.advance(15_000);
    await databaseQuiet(test.control.services.database);
  }
  return test.clock.now() - began;
}

describe('an open stream', () => {
  it('ends with its authorization', async () => {
    const open = await lifetime(test.clock.now() + 90_000);
    expect(open).toBeGreaterThanOrEqual(90_000);
    expect(open).toBeLessThan(200_000);
    expect(ends).toEqual(['over']);
  });

  it('ends after an hour, so that its reader authenticates again', async () => {
    expect(await lifetime(null)).toBeGreaterThanOrEqual(3_600_000);
    expect(ends).toEqual(['over']);
  });

  it('ends once the key or session of its reader works no more; a look without an answer is made again', async () => {
    const answers = [async () => true, () => Promise.reject(new Error('away')), async () => false];
    order = { ...order, address: null, allowed: () => (answers.shift() ?? (async () => true))() };
    await lifetime(null);
    expect(ends).toEqual(['revoked']);
    expect(answers).toEqual([]);
  });

  it('is closed when nobody reads it', async () => {
    await databaseQuiet(test.control.services.database);
    const timers = test.clock.pending;
    const stream = await streams.open(order);
    const closed = once(stream, 'close');
    stream.read(0);
    await once(stream, 'readable');
    test.clock.advance(45_000);
    expect(ends).toEqual([]);
    test.clock.advance(15_000);
    await closed;
    expect(ends).toEqual(['stalled']);
    await databaseQuiet(test.control.services.database);
    expect(test.clock.pending).toBe(timers);
  });

  it('is closed with all others, and no new one can be opened', async () => {
    const open = [await streams.open(order), await streams.open(order)];
    for (const stream of open) stream.resume();
    const closed = Promise.all(open.map((stream) => once(stream, 'close')));
    streams.close();
    await closed;
    expect(ends).toEqual(['closing', 'closing']);
    await expect(streams.open(order)).rejects.toThrow('shutting down');
  });
});
