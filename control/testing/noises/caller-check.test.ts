/** Noises and voices that are not there are refused by every request that names them or starts runs with them. */
import { beforeEach, expect, it } from 'vitest';
import { ForeignAgentAnswer } from '#shared/api/agent-testing/foreign-agents.ts';
import { NoiseAnswer } from '#shared/api/agent-testing/noises.ts';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { connectEdge } from '../../../test/kit/control/edge-client.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { noiseFile } from '../../../test/kit/control/noises.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';

const test = emptiedForEach(startControl);
let client: TestingClient;
let own: object;
let theirs: object;
beforeEach(async () => {
  client = new TestingClient(test);
  own = { pathway_id: await client.pathway(bookingGraph) };
  const bot = { name: 'Bot', format: 'stream', url: 'wss://bot.example.com/' };
  theirs = { agent_id: (await client.call('POST', '/agents', bot)).read(ForeignAgentAnswer).id };
});

const overCall = { transport: 'sip', phone_number: '+14155550100' };

/** Where a request is refused, and why. */
async function refusal(path: string, body: object, method: 'POST' | 'PUT' = 'POST') {
  const [error] = (await client.call(method, path, body)).errors;
  return error?.code === 'INVALID_PARAMETER' ? [error.details?.path, error.message] : [error?.code];
}

/** What starts runs of a scenario of ours, and of one of others. */
async function starts(ours: string, foreign: string) {
  return {
    run: await refusal(`/scenarios/${ours}/run`, overCall),
    matrix: await refusal('/matrices', { scenario_id: ours, ...overCall }),
    load: await refusal('/loads', { scenario_ids: [ours], concurrency: 1, ...overCall }),
    batch: await refusal('/batch-run', { scenario_ids: [foreign] }),
    set: await refusal('/simulation-sets', { scenario_ids: [foreign], simulations_per_scenario: 1 }),
  };
}

const places = {
  matrix: '/scenario_id',
  load: '/scenario_ids/0',
  batch: '/scenario_ids/0',
  set: '/scenario_ids/0',
};

it('refuses a noise that is not there, also one that was deleted since the scenario was written', async () => {
  const upload = await client.call('POST', '/noises', { name: 'Street', wav: noiseFile() });
  const { id } = upload.read(NoiseAnswer);
  const metadata = { call: { weather: { noise: { kind: 'given', noise_id: id, snr_db: 10 } } } };
  const ours = await client.scenario({ ...own, metadata });
  const foreign = await client.scenario({ ...theirs, metadata });
  await client.call('DELETE', `/noises/${id}`);
  const why = expect.stringContaining(`is no noise of the organization: ${id}`);
  const written = ['/metadata/call/weather/noise/noise_id', why];
  expect(await refusal('/scenarios', { name: 'New', ...own, metadata })).toEqual(written);
  expect(await refusal(`/scenarios/${ours}`, { metadata }, 'PUT')).toEqual(written);
  const wrong = { call: { weather: { lost: 1 } } };
  expect(await refusal('/scenarios', { name: 'New', ...own, metadata: wrong })).toEqual([
    '/metadata/call/weather',
    expect.anything(),
  ]);
  const { run, ...others } = await starts(ours, foreign);
  expect(run).toEqual(['/weather', why]);
  expect(others).toEqual(
    Object.fromEntries(Object.entries(places).map(([name, path]) => [name, [path, why]])),
  );
  // What the request says itself counts.
  const calm = [{ name: 'calm', weather: {} }];
  const matrix = await refusal('/matrices', { scenario_id: ours, ...overCall, weathers: calm });
  expect(matrix).toEqual(['NUMBER_NOT_TESTABLE']);
  expect(await refusal(`/scenarios/${ours}/run`, { ...overCall, weather: {} })).toEqual([
    'NUMBER_NOT_TESTABLE',
  ]);
});

it('takes the only transport that an agent of others has where none is named', async () => {
  const foreign = await client.scenario(theirs);
  const weathers = [{ name: 'calm', weather: {} }];
  // What is missing is an edge alone.
  for (const axis of [{ voices: ['slt'] }, { weathers }, {}])
    expect(await refusal('/matrices', { scenario_id: foreign, ...axis })).toEqual(['SERVICE_UNAVAILABLE']);
  expect(await refusal('/matrices', { scenario_id: foreign, transport: 'text' })).toEqual([
    '/transport',
    expect.stringContaining('over a call only'),
  ]);
  const chat = {
    name: 'Chat',
    format: 'openai',
    url: 'https://bot.example.com/v1/chat/completions',
    model: 'm',
  };
  const { id: agent_id } = (await client.call('POST', '/agents', chat)).read(ForeignAgentAnswer);
  const written = await client.scenario({ agent_id });
  expect(await refusal('/matrices', { scenario_id: written, voices: ['slt'] })).toEqual([
    '/voices',
    expect.stringContaining('needs transport sip'),
  ]);
  const load = { scenario_ids: [written], concurrency: 1, runs_per_level: 1 };
  expect(await refusal('/loads', load)).toEqual([undefined]);
});

it('refuses a voice that no edge has, unless one has a server of its own', async () => {
  const metadata = { call: { voice: 'nova' } };
  // Nobody knows better.
  const ours = await client.scenario({ ...own, metadata });
  const foreign = await client.scenario({ ...theirs, metadata });
  const edge = await connectEdge(test);
  const tells = async (embedded: 0 | 1) => {
    edge.send({ type: 'status', metrics: { trunkline_edge_embedded_voices: embedded } });
    await expect.poll(() => test.control.services.edges.speakEmbedded).toBe(embedded === 1);
  };
  await tells(1);
  const why = expect.stringContaining('must be one of slt, kal, kal16, rms, awb');
  const { run, ...others } = await starts(ours, foreign);
  expect(run).toEqual(['', why]);
  expect(others).toEqual(
    Object.fromEntries(Object.entries(places).map(([name, path]) => [name, [path, why]])),
  );
  const matrix = { scenario_id: ours, ...overCall };
  expect(await refusal('/matrices', { ...matrix, voices: ['slt', 'nova'] })).toEqual(['/voices/1', why]);
  expect(await refusal('/matrices', { ...matrix, voices: ['slt', 'awb'] })).toEqual(['NUMBER_NOT_TESTABLE']);
  const scenario = { name: 'New', ...own, metadata };
  expect(await refusal('/scenarios', scenario)).toEqual(['/metadata/call/voice', why]);
  await tells(0);
  expect((await client.call('POST', '/scenarios', scenario)).read(ScenarioAnswer).metadata).toEqual(metadata);
  expect(await refusal('/matrices', { ...matrix, voices: ['nova'] })).toEqual(['NUMBER_NOT_TESTABLE']);
  await edge.kill();
});
