/** However a run is started: whether it is of the scenario as it is, and that all that counts runs counts the same. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Analytics, EnhancedAnalytics, VersionAnalytics } from '#shared/api/agent-testing/analytics.ts';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { ScenarioList } from '#shared/api/agent-testing/scenarios.ts';
import { faultyGraph, soundBooking } from '../../../test/kit/control/dental.ts';
import { connectEdge } from '../../../test/kit/control/edge-client.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { cancelledEnd, type FinalStatus, finishRun } from '../records/write.ts';

const number = '+14155550100';
const own = { voice: 'slt', weather: { loss_percent: 1 } };

const test = emptiedForEach(() => startControl({}, {}, {}, { begin: false }));
let client: TestingClient;
let edge: Awaited<ReturnType<typeof connectEdge>>;
let pathway = '';
let scenario = '';
beforeEach(async () => {
  client = new TestingClient(test);
  pathway = await client.pathway(faultyGraph);
  scenario = await made(own);
  const attached = { phone_number: number, directions: ['inbound'] };
  expect((await test.call('POST', '/v1/sip/attach', { body: attached })).status).toBe(200);
  const inbound = { pathway_id: pathway, pathway_version: 1 };
  expect((await test.call('POST', `/v1/inbound/${number}`, { body: inbound })).status).toBe(200);
  edge = await connectEdge(test);
});
afterEach(async () => {
  await edge.kill();
});

const made = (call: object | null) =>
  client.scenario({
    ...soundBooking,
    pathway_id: pathway,
    name: 'Tested',
    is_required_for_promotion: true,
    request_data: { vip: false, tries: { most: 3 } },
    metadata: call && { call },
  });

const overCall = { transport: 'sip', phone_number: number };
const run = (body: object) =>
  client.call('POST', `/scenarios/${scenario}/run`, { version_number: 1, ...body });
const matrix = (body: object) =>
  client.call('POST', '/matrices', { scenario_id: scenario, versions: [1], repeats: 1, ...body });

const starts = {
  'in text': [() => run({}), 1],
  'over a call': [() => run(overCall), 1],
  'with data that the scenario has': [() => run({ request_data_override: { vip: false } }), 1],
  'with no data of its own': [() => run({ request_data_override: {} }), 1],
  'with other data': [() => run({ request_data_override: { vip: true } }), 0],
  'with other data within': [() => run({ request_data_override: { tries: {} } }), 0],
  'in the weather of the scenario': [() => run({ ...overCall, weather: own.weather }), 1],
  'in another weather': [() => run({ ...overCall, weather: { loss_percent: 20 } }), 0],
  'in calm weather, which the scenario has not': [() => run({ ...overCall, weather: {} }), 0],
  'in a batch': [() => client.call('POST', '/batch-run', { scenario_ids: [scenario], version_number: 1 }), 1],
  'in a simulation set': [
    () =>
      client.call('POST', '/simulation-sets', {
        scenario_ids: [scenario],
        version_number: 1,
        simulations_per_scenario: 1,
      }),
    1,
  ],
  'by the gate': [() => test.call('POST', `/v1/pathway/${pathway}/publish`, { body: { version_id: 1 } }), 1],
  'in a matrix of versions': [() => matrix({}), 1],
  'in a matrix with the voice of the scenario': [() => matrix({ ...overCall, voices: [own.voice] }), 1],
  'in a matrix with another voice': [() => matrix({ ...overCall, voices: ['kal'] }), 0],
  'in a matrix in the weather of the scenario': [
    () => matrix({ ...overCall, weathers: [{ name: 'own', weather: own.weather }] }),
    1,
  ],
  'in a matrix in another weather': [
    () => matrix({ ...overCall, weathers: [{ name: 'loss', weather: { loss_percent: 20 } }] }),
    0,
  ],
  'of a load': [
    () =>
      client.call('POST', '/loads', {
        scenario_ids: [scenario],
        version_number: 1,
        transport: 'text',
        concurrency: 1,
        runs_per_level: 1,
      }),
    0,
  ],
} as const satisfies Record<string, readonly [() => Promise<unknown>, 0 | 1]>;

const runs = async () => (await client.call('GET', '/runs')).read(RunList).runs;

async function end(id: string, status: FinalStatus): Promise<void> {
  const completedAt = new Date(test.clock.now()).toISOString();
  await test.control.services.database.db
    .transaction()
    .execute((db) =>
      finishRun(db, id, { ...cancelledEnd(completedAt), status, score: 1, nodesVisited: ['greet'] }),
    );
}

/** How many runs each reader counts. */
async function counted() {
  const read = (path: string) => client.call('GET', `/analytics/${pathway}${path}`);
  const basic = (await read('')).read(Analytics);
  const enhanced = (await read('/enhanced')).read(EnhancedAnalytics);
  const versions = (await read('/versions')).read(VersionAnalytics);
  const gate = (await test.call('GET', `/v1/pathway/${pathway}/version/1/gate`)).body.passed;
  const [listed] = (await client.call('GET', '/scenarios')).read(ScenarioList).scenarios;
  const { trend, sankey_data, node_failure_heatmap } = enhanced;
  return {
    basic: basic.total_runs,
    distinct: basic.distinct_conversations,
    listed: basic.runs.length,
    enhanced: enhanced.total_runs,
    reliability: enhanced.reliability_components.reduce((sum, { n }) => sum + n, 0),
    week: trend.recent.count,
    days: trend.daily_pass_rates.reduce((sum, { count }) => sum + count, 0),
    heatmap: node_failure_heatmap.reduce((sum, one) => sum + one.total_traversals, 0),
    flow: sankey_data.links
      .filter(({ source }) => source.startsWith('scenario:'))
      .reduce((sum, { value }) => sum + value, 0),
    version: versions.versions.find((one) => one.version_number === 1)?.total_runs,
    of_scenario: versions.scenarios[0]?.results.find((one) => one.version_number === 1)?.total_runs ?? 0,
    on_any: versions.counted_runs,
    gate: gate ? 1 : 0,
    newest: listed?.most_recent_run ? 1 : 0,
  };
}

it.each(Object.entries(starts))(
  'a run %s: all that counts runs agrees on whether it counts',
  async (_, one) => {
    const [start, counts] = one;
    await start();
    const all = await runs();
    expect(all.map(({ as_is }) => as_is)).toEqual([counts === 1]);
    for (const { id } of all) await end(id, 'PASSED');
    const found = await counted();
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((reader) => [reader, counts])));
  },
);

it('a run of other conditions that fails changes no figure, and a later one of the scenario counts alone', async () => {
  await run({ ...overCall, weather: { loss_percent: 20 } });
  for (const { id } of await runs()) await end(id, 'FAILED');
  test.clock.advance(1);
  await run({});
  for (const { id, status } of await runs()) if (status === 'PENDING') await end(id, 'PASSED');
  const { body } = await client.call('GET', `/analytics/${pathway}/enhanced`);
  expect(body).toMatchObject({ total_runs: 1, failed: 0, pass_rate: 1 });
  expect((await counted()).gate).toBe(1);
});

it.each([
  ['speak with it', { trunkline_edge_embedded_voice: 1, trunkline_edge_embedded_voices: 1 }, true],
  ['speak with another', { trunkline_edge_embedded_voice: 4, trunkline_edge_embedded_voices: 1 }, false],
  [
    'have a server that speaks',
    { trunkline_edge_embedded_voice: 1, trunkline_edge_embedded_voices: 0 },
    false,
  ],
  ['do not tell', { trunkline_edge_embedded_voices: 1 }, false],
])('a voice is that of a scenario that names none, where edges %s otherwise', async (_, metrics, isSame) => {
  await client.call('DELETE', `/scenarios/${scenario}`);
  scenario = await made(null);
  edge.send({ type: 'status', metrics });
  const { services } = test.control;
  await expect.poll(() => services.edges.all[0]?.metrics).toMatchObject(metrics);
  await matrix({ ...overCall, voices: ['slt'] });
  expect((await runs()).map(({ as_is }) => as_is)).toEqual([isSame]);
});

it('calm weather is the scenario as it is where it names none', async () => {
  await client.call('DELETE', `/scenarios/${scenario}`);
  scenario = await made(null);
  await run({ ...overCall, weather: {} });
  await run({ ...overCall, weather: { telephone_band: true } });
  expect((await runs()).map(({ as_is }) => as_is).toSorted()).toEqual([false, true]);
});
