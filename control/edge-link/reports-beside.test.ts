/** Reports that two replicas store at the same time: an edge sends again at one what it sent to the other. */
import { expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { onSqlite, openTestDatabase } from '../../test/kit/db/test-database.ts';
import { Announcements } from './announcements.ts';
import { ReportStore, type ReportWriters } from './reports.ts';

const source = { edgeId: 'edge', outboxId: 'outbox' };
const at = '2030-01-01T00:00:00.000Z';
const trace = { type: 'trace', call_id: 'c', messages: [], truncated: false };
const report = (seq: number) => ({ seq, at, body: trace });

it.skipIf(onSqlite)('are stored once', async () => {
  const database = await openTestDatabase();
  const written: string[] = [];
  const begun = Promise.withResolvers<void>();
  const atFinish = Promise.withResolvers<void>();
  const mayFinish = Promise.withResolvers<void>();
  const begins = { first: 0, second: 0 };
  const writers = (name: 'first' | 'second'): ReportWriters => ({
    begin: () => {
      begins[name]++;
      if (begins.second === 2) begun.resolve();
      return {
        write: async (_, body) => void written.push(`${name} ${body.type}`),
        clockSetBack: async () => undefined,
        finish: async () => {
          if (name !== 'first' || written.length < 2) return;
          atFinish.resolve();
          await mayFinish.promise;
        },
      };
    },
  });
  const storeOf = (name: 'first' | 'second') =>
    new ReportStore(database, systemClock, writers(name), new Announcements(systemClock));
  const [first, second] = [storeOf('first'), storeOf('second')];
  // The first frame of an outbox is stored alone: it makes the row that the others lock.
  expect(await first.store(source, [report(1)])).toMatchObject({ stored: 1 });
  expect(await second.store(source, [report(1)])).toMatchObject({ stored: 0 });
  const one = first.store(source, [report(2)]);
  await atFinish.promise;
  const again = second.store(source, [report(2), report(3)]);
  await begun.promise;
  mayFinish.resolve();
  expect(await one).toMatchObject({ stored: 1, acknowledged: 2 });
  expect(await again).toMatchObject({ stored: 1, acknowledged: 3 });
  expect(written).toEqual(['first trace', 'first trace', 'second trace']);
  await database.close();
});
