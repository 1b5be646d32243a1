/** Two replicas of control with one watch. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WatchAnswer, WatchedList, WatchLineAnswer } from '#shared/api/agent-testing/watches.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';
import { storeEndedCall } from '../../../test/kit/control/watched-calls.ts';
import { killReplica, testReplica } from '../../../test/kit/db/replicas.ts';
import type { BackgroundWork, Replica } from '../../db/index.ts';
import { startWatches, type WatchMetrics } from './work.ts';

let test: TestControl;
let client: TestingClient;
let watch: string;
let pathway_id: string;
let judged: string[];
const metrics: WatchMetrics = { judged: (outcome) => judged.push(outcome) };
let replicas: { readonly replica: Replica; readonly watches: BackgroundWork }[];

beforeEach(async () => {
  test = await startControl({}, {}, {}, { begin: false });
  client = new TestingClient(test);
  pathway_id = await client.pathway(bookingGraph);
  judged = [];
  const assertions = [{ type: 'STRING_CHECK', config: { value: 'You are booked' } }];
  const made = await client.call('POST', '/watches', { name: 'Bookings', pathway_id, assertions });
  watch = made.read(WatchLineAnswer).id;
  replicas = [begin(), begin()];
});
afterEach(async () => {
  for (const { replica, watches } of replicas) {
    await watches.close();
    await replica.close();
  }
  await test.close();
});

/** A replica that works on watches. */
function begin() {
  const { services } = test.control;
  const replica = testReplica(services.database);
  const log = { error: () => undefined };
  return { replica, watches: startWatches({ ...services, replica }, log, metrics) };
}

const calls = 60;

/** More than one look takes, and all replicas are woken by each of them. */
async function endCalls(of: string): Promise<void> {
  test.clock.advance(1000);
  const ended_at = new Date(test.clock.now()).toISOString();
  for (let n = 0; n < calls; n++) {
    const said = [['assistant', n % 2 === 0 ? 'You are booked.' : 'Goodbye.', 'done']] as const;
    await storeEndedCall(test, { id: `${of} ${String(n).padStart(2, '0')}`, pathway_id, ended_at, said });
  }
}

/** Looks until all calls are judged, and once more. */
async function judgedAll(count: number): Promise<void> {
  const total = async () =>
    (await client.call('GET', `/watches/${watch}/calls`)).read(WatchedList).total_count;
  while ((await total()) < count) await lookOn();
  await lookOn();
}

async function lookOn(): Promise<void> {
  test.clock.advance(61_000);
  test.control.services.announcements.announce('watches');
  await new Promise(setImmediate);
}

it('judge each call once', async () => {
  await endCalls('first');
  await judgedAll(calls);
  const { versions } = (await client.call('GET', `/watches/${watch}`)).read(WatchAnswer);
  expect(judged).toHaveLength(calls);
  expect(versions).toMatchObject([{ calls, passed: calls / 2, failed: calls / 2 }]);
});

it('the other one goes on when one has left', async () => {
  await endCalls('first');
  await judgedAll(calls);
  const dead = replicas.shift();
  if (!dead) throw new Error('no replica');
  await dead.watches.close();
  await killReplica(test.control.services.database, dead.replica);
  await endCalls('second');
  await judgedAll(2 * calls);
  expect(judged).toHaveLength(2 * calls);
});
