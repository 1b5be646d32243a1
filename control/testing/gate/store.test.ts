/** Which runs the gate reads: those of the scenario as it is, however many there are. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { faultyGraph, soundBooking } from '../../../test/kit/control/dental.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { fromJson, toJson } from '../../db/index.ts';
import { withCall } from '../over-call/settings.ts';

let test: TestControl;
let client: TestingClient;
let pathway = '';
let scenario = '';
const db = () => test.control.services.database.db;
const passes = async () => (await test.call('GET', `/v1/pathway/${pathway}/version/1/gate`)).body.passed;

beforeEach(async () => {
  test = await startControl();
  client = new TestingClient(test);
  pathway = await client.pathway(faultyGraph);
  const metadata = { call: { voice: 'slt', weather: { loss_percent: 1 } } };
  scenario = await client.scenario({
    pathway_id: pathway,
    is_required_for_promotion: true,
    ...soundBooking,
    metadata,
  });
});
afterEach(() => test.close());

/** A run of the scenario that has passed over a call, and failed if it was changed. */
async function ran(changes: Parameters<typeof withCall>[1] | null, more: object = {}): Promise<string> {
  test.clock.advance(1);
  const { id } = await client.run(scenario);
  const record = await db()
    .selectFrom('test_run_records')
    .select('scenario')
    .where('run_id', '=', id)
    .executeTakeFirstOrThrow();
  const own = fromJson(record.scenario);
  const used = changes ? { ...own, metadata: withCall(own.metadata, changes) } : own;
  await db()
    .updateTable('test_run_records')
    .set({ scenario: toJson(used) })
    .where('run_id', '=', id)
    .execute();
  await db()
    .updateTable('test_runs')
    .set({ transport: 'sip', ...(changes && { status: 'FAILED' }), ...more })
    .where('id', '=', id)
    .execute();
  return id;
}

it.each([
  ['in another weather', { weather: { loss_percent: 20 } }, {}],
  ['with another voice, as a cell of a matrix has', { voice: 'kal' }, {}],
  ['of a load', {}, { trigger_source: 'load', status: 'FAILED' }],
] as const)('a run %s neither keeps a version from production nor lets it pass', async (_, changes, more) => {
  await ran(changes, more);
  await db().updateTable('test_runs').set({ status: 'PASSED' }).execute();
  expect(await passes()).toBe(false);
  await ran(null);
  await ran(changes, more);
  expect(await passes()).toBe(true);
});

it('the first cell of a matrix, which is the scenario as it is, counts', async () => {
  await ran({});
  await db().updateTable('test_runs').set({ status: 'PASSED' }).execute();
  expect(await passes()).toBe(true);
});

it('runs of other seeds count behind any number of runs with one seed', async () => {
  await client.call('PUT', `/scenarios/${scenario}`, { promotion_repeats: 2 });
  await ran(null, { seed: 1 });
  const { id: _, ...newest } = await db()
    .selectFrom('test_runs')
    .selectAll()
    .where('seed', '=', 1)
    .executeTakeFirstOrThrow();
  await ran(null, { seed: 2 });
  for (let more = 0; more < 250; more++)
    await db()
      .insertInto('test_runs')
      .values({ ...newest, id: `more ${more}`, created_at: `${newest.created_at.slice(0, -2)}9Z` })
      .execute();
  expect(await passes()).toBe(true);
});
