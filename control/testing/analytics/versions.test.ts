/** Pass rates of versions: by content, so that a changed version starts over. */
import { beforeEach, expect, it } from 'vitest';
import { VersionAnalytics } from '#shared/api/agent-testing/analytics.ts';
import { Pathway } from '#shared/api/pathways.ts';
import { dayMs, hourMs, startAnalytics } from '../../../test/kit/control/analytics.ts';
import { startRoutes } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { contentHash } from '../../pathways/index.ts';

type Started = Awaited<ReturnType<typeof startAnalytics>>;
const test = emptiedForEach(startRoutes);
let started: Started;
let live = '';
beforeEach(async () => {
  started = await startAnalytics(test);
  const { pathwayId } = started;
  const { nodes, edges } = (await test.call('GET', `/v1/pathway/${pathwayId}`)).read(Pathway);
  await test.call('POST', `/v1/pathway/${pathwayId}/version`, { body: { name: 'one', nodes, edges } });
  const two = { name: 'two', nodes, edges: edges.slice(0, 1) };
  await test.call('POST', `/v1/pathway/${pathwayId}/version`, { body: two });
  const row = await started.db.selectFrom('pathways').selectAll().executeTakeFirstOrThrow();
  live = contentHash(row);
});

/** A run of the live graph's content, which version 1 has too. */
async function ran(...run: Parameters<Started['ran']>): Promise<void> {
  const id = await started.ran(...run);
  await started.db.updateTable('test_runs').set({ content_hash: live }).where('id', '=', id).execute();
}
const read = async (query = '') =>
  (await started.get(`${started.pathwayId}/versions${query}`)).read(VersionAnalytics).data;

it('counts the runs of a version by its content, with an interval over distinct conversations', async () => {
  for (let i = 0; i < 3; i++) await ran(hourMs, 'PASSED', 1);
  await ran(hourMs, 'FAILED', 0);
  await ran(hourMs, 'ERROR');
  await ran(hourMs, 'PASSED', 1, ['n1'], { scenarioId: started.second });
  // Of other content, and before the window.
  await started.ran(hourMs, 'FAILED', 0);
  await ran(40 * dayMs, 'FAILED', 0);
  const view = await read();
  const rates = {
    total_runs: 5,
    passed: 4,
    failed: 1,
    errored: 1,
    pass_rate: 0.8,
    distinct_conversations: 5,
    // Wilson of 4 of 5
    pass_rate_interval: { low: 0.3755, high: 0.9638 },
    pass_rate_note: null,
  };
  const none = {
    total_runs: 0,
    pass_rate: null,
    pass_rate_interval: null,
    pass_rate_note: 'No run has passed or failed.',
  };
  expect(view).toMatchObject({
    pathway_name: 'P',
    total_count: 3,
    counted_runs: 7,
    versions: [
      { version_number: 0, name: null, environments: [], ...rates },
      { version_number: 2, name: 'two', ...none },
      { version_number: 1, name: 'one', ...rates },
    ],
  });
  expect(view.scenarios).toMatchObject([
    {
      scenario_id: started.first,
      scenario_name: 'First',
      enabled: true,
      is_required_for_promotion: false,
      results: [
        {
          version_number: 0,
          passed: 3,
          failed: 1,
          errored: 1,
          pass_rate: 0.75,
          is_flaky: true,
          flakiness: 0.8113,
        },
        { version_number: 1, passed: 3 },
      ],
    },
    { scenario_id: started.second, results: [{ version_number: 0, passed: 1, is_flaky: false }, {}] },
  ]);
  expect(view).not.toHaveProperty('omitted');
});

it('counts runs with one conversation as one sample, and says so', async () => {
  for (let i = 0; i < 4; i++) await ran(hourMs, 'PASSED', 1);
  await started.db.updateTable('test_runs').set({ conversation: 'the same' }).execute();
  expect((await read()).versions[0]).toMatchObject({
    pass_rate: 1,
    distinct_conversations: 1,
    pass_rate_interval: null,
    pass_rate_note: expect.stringContaining('All 4 runs had one and the same conversation'),
  });
});

it('has pages, of which the live graph is the first item', async () => {
  const numbers = async (query: string) =>
    (await read(query)).versions.map(({ version_number }) => version_number);
  expect(await numbers('?limit=1')).toEqual([0]);
  expect(await numbers('?limit=1&offset=1')).toEqual([2]);
  expect(await numbers('?offset=1')).toEqual([2, 1]);
  const foreign = await started.get(`${started.pathwayId}/versions`, test.foreignKey);
  expect(foreign.codes).toEqual(['PATHWAY_NOT_FOUND']);
});
