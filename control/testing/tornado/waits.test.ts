/**
 * Sessions whose step was interrupted by a crash, or failed: what they miss while they wait, and a program that drains
 * meanwhile.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { faultyGraph, soundBooking } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';
import { killReplica, testReplica } from '../../../test/kit/db/replicas.ts';
import { claimWork } from '../../db/under-way.ts';
import { cancelledEnd, finishRun } from '../records/write.ts';
import { Sessions } from './sessions.ts';

const test = emptiedForEach(() => startControl({}, {}, {}, { begin: false }));
let client: TornadoClient;
let session: string;
let sessions: Sessions;
let logged: string[];
beforeEach(async () => {
  client = new TornadoClient(test);
  const pathway = await client.pathway(faultyGraph);
  await client.scenario({ pathway_id: pathway, ...soundBooking });
  session = await client.tornado(pathway, { timeout_ms: 3_600_000 });
  const { database } = test.control.services;
  const dead = testReplica(database);
  const step = { id: session, org_id: '' };
  await claimWork(db(), 'tornado step', [step], await dead.claimant(), test.clock.now());
  await killReplica(database, dead);
  logged = [];
  sessions = restarted();
  await sessions.resume();
});
afterEach(async () => {
  await sessions.close();
});

const db = () => test.control.services.database.db;
/** The sessions of the next process. */
const restarted = () =>
  new Sessions({
    services: test.control.services,
    log: { error: (_, message) => logged.push(message) },
    planner: async () => [],
    stopped: () => undefined,
    metrics: { iterated: () => undefined, ended: () => undefined },
  });
const status = async () => (await client.status(session)).status;

/** Passes all runs of the session's batch. Returns the batch's id. */
async function batchEnds(): Promise<string> {
  const runs = await db().selectFrom('test_runs').selectAll().execute();
  const end = { ...cancelledEnd('2030-01-01T00:00:01.000Z'), status: 'PASSED', score: 1 } as const;
  for (const { id } of runs)
    await db()
      .transaction()
      .execute((trx) => finishRun(trx, id, end));
  return runs[0]?.batch_id ?? '';
}

it('a batch that ends during the wait is checked when the wait is over', async () => {
  await sessions.batchCompleted(await batchEnds());
  test.clock.advance(4_999);
  await sessions.batchCompleted(await batchEnds());
  expect([sessions.active, await status()]).toEqual([0, 'RUNNING']);
  test.clock.advance(1);
  expect(await client.endedSession(session)).toMatchObject({
    status: 'COMPLETED_ALL_PASSED',
    passed_scenarios: 1,
  });
});

it('a session canceled during the wait ends at once', async () => {
  expect((await client.call('POST', `/tornado/${session}/cancel`)).status).toBe(200);
  await sessions.cancelled(session);
  expect(await status()).toBe('CANCELLED');
  test.clock.advance(5_000);
  await expect.poll(() => sessions.active).toBe(0);
});

it('a draining program takes no step, and the next one waits again', async () => {
  await batchEnds();
  sessions.hold();
  test.clock.advance(5_000);
  await sessions.advance(session);
  expect([sessions.active, await status()]).toEqual([0, 'RUNNING']);
  await sessions.close();
  sessions = restarted();
  await sessions.resume();
  test.clock.advance(4_999);
  expect(await status()).toBe('RUNNING');
  test.clock.advance(1);
  expect(await client.endedSession(session)).toMatchObject({ status: 'COMPLETED_ALL_PASSED' });
});

it('a session that the database could not end is ended after a pause', async () => {
  await batchEnds();
  const change = vi.spyOn(test.control.services.catalogue, 'change');
  // Three attempts of the step, and the end with their failure.
  for (let times = 0; times < 4; times++) change.mockRejectedValueOnce(new Error('the database is gone'));
  test.clock.advance(5_000);
  await expect.poll(() => logged).toContain('a tornado session could not be ended');
  expect(await status()).toBe('RUNNING');
  test.clock.advance(4_999);
  expect(await status()).toBe('RUNNING');
  test.clock.advance(1);
  expect(await client.endedSession(session)).toMatchObject({ status: 'COMPLETED_ALL_PASSED' });
  expect(change).toHaveBeenCalledTimes(5);
});
