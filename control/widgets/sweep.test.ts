import { afterEach, beforeEach, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { makePathway, makeThread, makeWidget, origin } from '../../test/kit/control/widgets.ts';
import type { Db } from '../db/tables.ts';
import { startSweep } from './sweep.ts';

let test: TestControl;
let db: Db;
beforeEach(async () => {
  test = await startControl({ RETENTION_DAYS: 'widgetThreads=30' });
  db = test.control.services.database.db;
});
afterEach(() => test.close());

/** One round, at the clock's current time. Returns the threads that it ended. */
async function sweep(): Promise<string[]> {
  const ended: string[] = [];
  const { clock } = test;
  const log = {
    error: (facts: object) => {
      throw facts;
    },
  };
  const stop = startSweep({ db, clock, log, threadDays: 30, onEnded: (id) => void ended.push(id) });
  clock.advance(0);
  await stop();
  return ended;
}
const count = async (table: 'widget_threads' | 'widget_messages' | 'widget_sessions' | 'widget_agents') => {
  const { rows } = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  return rows;
};
const days = (number: number) => number * 86_400_000;

it('ends timed-out threads at their time-out', async () => {
  const widget = await makeWidget(test, { timeoutSeconds: 60 });
  const left = (await makeThread(test, widget)).split('/').at(-1);
  test.clock.advance(50_000);
  await makeThread(test, widget);
  expect(await sweep()).toEqual([]);
  // Not past the next round of the control plane's own sweep.
  await db
    .updateTable('widget_threads')
    .set({ ends_at: '2030-01-01T00:00:40.000Z' })
    .where('id', '=', String(left))
    .execute();
  expect(await sweep()).toEqual([left]);
  const row = await db
    .selectFrom('widget_threads')
    .selectAll()
    .where('id', '=', String(left))
    .executeTakeFirstOrThrow();
  expect(row.ended_at).toBe('2030-01-01T00:00:40.000Z');
});

it('deletes threads that ended long ago, with all their data', async () => {
  const pathway = await makePathway(test);
  const widget = await makeWidget(test, { timeoutSeconds: 2_592_000 }, pathway);
  await test.call('POST', `${widget}/session`, { key: null, headers: { origin } });
  const ended = await makeThread(test, widget);
  await test.call('POST', `${ended}/end`);
  test.clock.advance(days(29));
  await sweep();
  expect([await count('widget_threads'), await count('widget_messages')]).toEqual([2, 2]);
  expect(await count('widget_sessions')).toBe(0);
  expect(await count('widget_agents')).toBe(1);
  test.clock.advance(days(1) + 1);
  await sweep();
  expect([await count('widget_threads'), await count('widget_messages')]).toEqual([1, 1]);
  test.clock.advance(days(31));
  await sweep();
  expect([await count('widget_threads'), await count('widget_agents')]).toEqual([0, 0]);
});
