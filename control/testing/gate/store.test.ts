/** Which runs the gate reads: those of the scenario as it is (runs/as-is.test.ts), however many there are. */
import type { KyselyPlugin } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { faultyGraph, soundBooking } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { requireScenario } from '../scenarios/store.ts';
import { latestRuns } from './store.ts';

const test = emptiedForEach(startControl);
let client: TestingClient;
let pathway = '';
let scenario = '';
const db = () => test.control.services.database.db;
const passes = async () => (await test.call('GET', `/v1/pathway/${pathway}/version/1/gate`)).body.passed;

beforeEach(async () => {
  client = new TestingClient(test);
  pathway = await client.pathway(faultyGraph);
  scenario = await client.scenario({
    pathway_id: pathway,
    is_required_for_promotion: true,
    promotion_repeats: 2,
    ...soundBooking,
  });
});

/** A run over a call that has passed. @returns the content that it tested */
async function ran(seed: number): Promise<string> {
  test.clock.advance(1);
  const { id } = await client.run(scenario, { seed });
  const { content_hash } = await db()
    .updateTable('test_runs')
    .set({ transport: 'sip' })
    .where('id', '=', id)
    .returning('content_hash')
    .executeTakeFirstOrThrow();
  return content_hash;
}

/** More runs of that seed, newer than all. */
async function again(seed: number, times: number): Promise<void> {
  const { id: _, ...newest } = await db()
    .selectFrom('test_runs')
    .selectAll()
    .where('seed', '=', seed)
    .executeTakeFirstOrThrow();
  for (let more = 0; more < times; more++)
    await db()
      .insertInto('test_runs')
      .values({ ...newest, id: `more ${more}`, created_at: `${newest.created_at.slice(0, -2)}9Z` })
      .execute();
}

it('runs of other seeds count behind any number of runs with one seed', async () => {
  await ran(1);
  await ran(2);
  await again(1, 250);
  expect(await passes()).toBe(true);
});

it('a page of runs takes one query, also of calls', async () => {
  const content = await ran(1);
  await again(1, 150);
  let queries = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      queries++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const row = await requireScenario(db(), test.orgId, scenario);
  expect(await latestRuns(db().withPlugin(counting), row, content)).toHaveLength(151);
  // Two pages of a hundred.
  expect(queries).toBe(2);
});
