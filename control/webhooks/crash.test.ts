/** Background work that crashes the program, seen from the next starts: real database, programs that just stop. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { newDelivery } from '../../test/kit/db/delivery.ts';
import { killReplica, testReplica } from '../../test/kit/db/replicas.ts';
import { openTestDatabase } from '../../test/kit/db/test-database.ts';
import { DueWork } from '../db/due-work.ts';
import type { Database } from '../db/open.ts';
import type { WebhookDeliveryRow } from '../db/tables.ts';
import { dueAttempts, nextDueAt, updateAttempt } from './attempts-store.ts';
import { afterFailure } from './rules.ts';
import { allDeliveries } from './store.ts';

let database: Database;
let clock: FakeClock;
const log = { error: () => undefined };

beforeEach(async () => {
  database = await openTestDatabase();
  clock = new FakeClock();
  await database.db.insertInto('webhook_deliveries').values(newDelivery(clock)).execute();
});
afterEach(() => database.close());

const row = () => database.db.selectFrom('webhook_deliveries').selectAll().executeTakeFirstOrThrow();

/** A program with this queue. @returns how many attempts it has started, and its orderly shutdown */
function program(attempt: () => Promise<void>) {
  let begun = 0;
  const { db } = database;
  const replica = testReplica(database);
  const work = new DueWork<WebhookDeliveryRow>({
    db,
    replica,
    clock,
    log,
    name: 'webhook',
    mostRunning: 4,
    mostPerOrganization: 4,
    due: (on, now, without, limit) => dueAttempts(allDeliveries(on), now, without, limit),
    nextDue: (now) => nextDueAt(allDeliveries(db), now),
    attempt: () => {
      begun++;
      return attempt();
    },
    failed: async (id, later, why) =>
      updateAttempt(db, 'webhook_deliveries', id, afterFailure(await row(), later, why)),
    onStored: () => () => undefined,
  });
  return {
    begun: () => begun,
    work,
    kill: () => killReplica(database, replica),
    close: () => replica.close(),
  };
}

/** A program whose work never returns: it is dead from then on. */
const dies = () => new Promise<void>(() => undefined);

it('waits after a crash, counts as an attempt, and is given up after the last one', async () => {
  for (let crash = 0; crash < 5; crash++) {
    const { begun, kill } = program(dies);
    if (crash > 0) {
      await expect.poll(async () => (await row()).attempts).toBe(crash);
      expect(begun()).toBe(0);
      clock.advance(5_000);
    }
    await expect.poll(begun).toBe(1);
    const claims = database.db.selectFrom('work_under_way').selectAll();
    await expect.poll(async () => (await claims.execute()).length).toBe(1);
    await kill();
  }
  const last = program(dies);
  await expect.poll(async () => (await row()).attempts).toBe(5);
  expect(await row()).toMatchObject({
    next_attempt_at: null,
    delivered_at: null,
    last_error: 'the service ended during the attempt',
  });
  clock.advance(3_600_000);
  await last.work.close();
  await last.close();
  expect(last.begun()).toBe(0);
});

it('does not count an attempt aborted by an orderly shutdown', async () => {
  const ended = Promise.withResolvers<void>();
  const first = program(() => ended.promise);
  await expect.poll(first.begun).toBe(1);
  ended.resolve();
  await first.work.close();
  await first.close();
  const second = program(dies);
  await expect.poll(second.begun).toBe(1);
  expect((await row()).attempts).toBe(0);
  await second.kill();
});
