import { beforeEach, describe, expect, it } from 'vitest';
import { BatchStarted } from '#shared/api/agent-testing/batches.ts';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { startControl } from '../../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, bookingPersona, TestingClient } from '../../../../test/kit/control/test-runs.ts';
import { batchStatus } from '../../records/batch-store.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

const test = emptiedForEach(startControl);
let client: TestingClient;
let pathway_id: string;

beforeEach(async () => {
  client = new TestingClient(test);
  pathway_id = await client.pathway(bookingGraph);
});

const booked = { type: 'NODE_REACHED', name: 'Booked', config: { node_id: 'done' } };
const scenario = (more: object = {}) =>
  client.scenario({ pathway_id, tester_persona_prompt: bookingPersona, assertions: [booked], ...more });
const events = async () => {
  const { db } = test.control.services.database;
  const rows = await db.selectFrom('webhook_deliveries').selectAll().execute();
  return rows.map(({ type, url, body }) => ({ type, url, data: JSON.parse(body ?? '{}').data }));
};

describe('a batch', () => {
  it('runs its scenarios, run i with seed + i, and counts the results', async () => {
    const ids = [await scenario(), await scenario({ max_turns: 1 })];
    const started = await client.call('POST', '/batch-run', {
      scenario_ids: ids,
      version_number: 1,
      seed: 40,
    });
    expect(started.status).toBe(200);
    const { batch_id, runs } = started.read(BatchStarted);
    expect(started.body.data).toEqual({ batch_id, runs });
    expect(runs).toEqual(ids.map((scenario_id) => ({ run_id: expect.any(String), scenario_id })));
    const { data, errors, ...batch } = await client.endedBatch(batch_id);
    expect(batch).toMatchObject({
      id: batch_id,
      status: 'FAILED',
      total_scenarios: 2,
      passed_scenarios: 1,
      failed_scenarios: 1,
      trigger_source: 'api',
      publish_on_pass: false,
      published: false,
      version_number: 1,
      created_at: '2030-01-01T00:00:00.000Z',
      completed_at: '2030-01-01T00:00:00.000Z',
      runs: [
        { id: runs[0]?.run_id, status: 'PASSED', batch_id },
        { id: runs[1]?.run_id, status: 'FAILED', batch_id },
      ],
    });
    const seeds = await Promise.all(
      runs.map(async ({ run_id }) => (await client.call('GET', `/runs/${run_id}`)).body.seed),
    );
    expect(seeds).toEqual([40, 41]);
  });

  it('sends its own webhook once at its end, and its runs send none', async () => {
    await test.call('PATCH', '/v1/org/settings', {
      body: { event_webhook_url: 'https://hooks.example.com/all' },
    });
    const scenario_ids = [await scenario(), await scenario()];
    const body = { scenario_ids, webhook_url: 'https://hooks.example.com/batch' };
    const { body: started } = await client.call('POST', '/batch-run', body);
    const { data, errors, ...batch } = await client.endedBatch(String(started.batch_id));
    expect(await events()).toEqual([
      { type: 'test_batch.completed', url: 'https://hooks.example.com/batch', data: batch },
    ]);
    expect(batch.status).toBe('PASSED');
  });

  it('is rejected with all unknown ids, or when a version does not exist for all', async () => {
    const known = await scenario();
    const other = await client.scenario({ pathway_id: await client.pathway(bookingGraph) });
    const refusals = [
      [{ scenario_ids: [known, unknownId] }, 404, 'SCENARIO_NOT_FOUND'],
      [{ scenario_ids: [known], version_number: 9 }, 404, 'VERSION_NOT_FOUND'],
      [{ scenario_ids: [known, other], version_number: 0 }, 400, 'INVALID_PARAMETER'],
      [{ scenario_ids: [known, known] }, 400, 'INVALID_PARAMETER'],
      [{ scenario_ids: [] }, 400, 'INVALID_PARAMETER'],
      [{ scenario_ids: [known], webhook_url: 'https://10.0.0.1/' }, 400, 'TARGET_NOT_ALLOWED'],
    ] as const;
    for (const [body, status, code] of refusals) {
      const answer = await client.call('POST', '/batch-run', body);
      expect([body, answer.status, answer.codes]).toEqual([body, status, [code]]);
      if (code === 'SCENARIO_NOT_FOUND') {
        expect(answer.body.errors).toMatchObject([{ details: { scenario_ids: [unknownId] } }]);
      }
    }
    expect((await client.call('GET', '/runs')).body.total_count).toBe(0);
    // None of them counted toward the limit of ten a minute.
    for (let left = 10; left > 0; left--) {
      expect((await client.call('POST', '/batch-run', { scenario_ids: [known] })).status).toBe(200);
    }
    expect((await client.call('POST', '/batch-run', { scenario_ids: [known] })).codes).toEqual([
      'RATE_LIMITED',
    ]);
  });

  it('of scenarios of several pathways has no version of its own', async () => {
    const other = await client.scenario({ pathway_id: await client.pathway(bookingGraph) });
    const { body } = await client.call('POST', '/batch-run', { scenario_ids: [await scenario(), other] });
    expect(await client.endedBatch(String(body.batch_id))).toMatchObject({ version_number: null });
  });

  it('is found by its organization only', async () => {
    const foreign = new TestingClient(test, test.foreignKey);
    const { body } = await client.call('POST', '/batch-run', { scenario_ids: [await scenario()] });
    for (const path of [`/batches/${body.batch_id}`, `/batches/${body.batch_id}/events`]) {
      expect((await foreign.call('GET', path)).codes).toEqual(['BATCH_NOT_FOUND']);
    }
    expect((await client.call('GET', '/batches/x')).codes).toEqual(['BATCH_NOT_FOUND']);
  });

  it('can be followed: its state at once, at each change, and its end', async () => {
    const scenario_ids = [await scenario(), await scenario()];
    const { body } = await client.call('POST', '/batch-run', { scenario_ids });
    const stream = await client.call('GET', `/batches/${body.batch_id}/events`);
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const states = [...stream.text.matchAll(/event: state\ndata: (.*)\n/g)].map(([, data = '']) =>
      JSON.parse(data),
    );
    expect(states.at(-1)).toMatchObject({ status: 'PASSED', passed_scenarios: 2 });
    expect(states[0]).toMatchObject({ id: body.batch_id, total_scenarios: 2 });
    expect(stream.text.endsWith('event: end\ndata: {}\n\n')).toBe(true);
  });
});

describe('a simulation set', () => {
  const start = (body: object) => client.call('POST', '/simulation-sets', body);
  const ended = async (id: string) => {
    const { runs } = (await client.call('GET', '/runs?limit=100')).read(RunList);
    for (const run of runs) await client.ended(run.id);
    return (await client.call('GET', `/simulation-sets/${id}`)).body;
  };

  it('runs each scenario many times and counts the results', async () => {
    const [good, bad] = [await scenario(), await scenario({ max_turns: 1 })];
    const started = await start({
      scenario_ids: [good, bad],
      simulations_per_scenario: 5,
      pathway_id,
      seed: 9,
      webhook_url: 'https://hooks.example.com/set',
    });
    expect([started.status, started.body.data]).toEqual([
      200,
      {
        simulation_set_id: expect.any(String),
        status: 'PENDING',
        simulations_per_scenario: 5,
        total_scenarios: 2,
        created_at: '2030-01-01T00:00:00.000Z',
      },
    ]);
    const { data, errors, ...set } = await ended(String(started.body.simulation_set_id));
    expect(set).toMatchObject({
      status: 'FAILED',
      pass_threshold: 0.5,
      completed_at: '2030-01-01T00:00:00.000Z',
      statistics: {
        per_scenario: {
          [good]: { passed: 5, failed: 0, pass_rate: 1, is_flaky: false, confidence: 'medium' },
          [bad]: {
            passed: 0,
            failed: 5,
            pass_rate: 0,
            common_failure_modes: ['NODE_REACHED:Booked: 5 of 5'],
          },
        },
        overall: { avg_pass_rate: 0.5, flaky_count: 0, reliable_count: 1, total_runs: 10, errored: 0 },
      },
    });
    expect(await events()).toEqual([
      { type: 'simulation_set.completed', url: 'https://hooks.example.com/set', data: set },
    ]);
    const { runs } = (await client.call('GET', '/runs?limit=100')).read(RunList);
    const run = (await client.call('GET', `/runs/${runs[0]?.id}`)).body;
    expect(run).toMatchObject({ simulation_set_id: set.id, trigger_source: 'simulation' });
  });

  it('is an ERROR when a scenario has no run that passed or failed', async () => {
    const { body } = await start({
      scenario_ids: [await scenario({ start_node_id: 'nowhere' })],
      simulations_per_scenario: 2,
    });
    expect(await ended(String(body.simulation_set_id))).toMatchObject({
      status: 'ERROR',
      statistics: { overall: { avg_pass_rate: null, total_runs: 0, errored: 2 } },
    });
  });

  it('passes at its threshold', async () => {
    const { body } = await start({
      scenario_ids: [await scenario({ max_turns: 1 })],
      simulations_per_scenario: 1,
      pass_threshold: 0,
    });
    expect(await ended(String(body.simulation_set_id))).toMatchObject({
      status: 'PASSED',
      pass_threshold: 0,
    });
  });

  it('is rejected when it is too large, or for another pathway', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 11; count++) ids.push(await scenario());
    const refusals = [
      [{ scenario_ids: ids, simulations_per_scenario: 100 }, 400, 'SIMULATION_LIMIT'],
      [{ scenario_ids: ids, simulations_per_scenario: 101 }, 400, 'INVALID_PARAMETER'],
      [
        { scenario_ids: [ids[0]], simulations_per_scenario: 1, pathway_id: unknownId },
        400,
        'INVALID_PARAMETER',
      ],
      [
        { scenario_ids: [ids[0]], simulations_per_scenario: 1, persona_id: unknownId },
        400,
        'INVALID_PARAMETER',
      ],
      [{ scenario_ids: [unknownId], simulations_per_scenario: 1 }, 404, 'SCENARIO_NOT_FOUND'],
      [{ scenario_ids: [ids[0]], simulations_per_scenario: 1, version_number: 8 }, 404, 'VERSION_NOT_FOUND'],
    ] as const;
    for (const [body, status, code] of refusals) {
      const answer = await start(body);
      expect([answer.status, answer.codes]).toEqual([status, [code]]);
    }
    expect((await client.call('GET', `/simulation-sets/${unknownId}`)).codes).toEqual([
      'SIMULATION_SET_NOT_FOUND',
    ]);
  });
});

describe('the end of a batch', () => {
  it.each([
    ['PASSED', ['PASSED', 'PASSED']],
    ['CANCELLED', ['PASSED', 'CANCELLED']],
    ['ERROR', ['CANCELLED', 'ERROR', 'PASSED']],
    ['FAILED', ['ERROR', 'FAILED', 'CANCELLED']],
    [null, ['FAILED', 'RUNNING']],
    [null, ['PENDING', 'PASSED']],
  ] as const)('is %s of runs that are %j', (status, runs) => {
    expect(batchStatus(runs)).toBe(status);
  });
});
