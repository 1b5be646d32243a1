import { beforeEach, describe, expect, it } from 'vitest';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { storeFinishedRun } from '../../../test/kit/control/agent-testing.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, bookingPersona, TestingClient } from '../../../test/kit/control/test-runs.ts';
import { onceIsEnough } from '../../../test/kit/db/test-database.ts';
import { toJson } from '../../db/index.ts';
import { cancelledEnd, finishRun } from '../records/write.ts';

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

describe('a run', () => {
  it('goes through the pathway like a call, and reports all of it', async () => {
    const id = await scenario({ request_data: { clinic: 'Green' } });
    const started = await client.call('POST', `/scenarios/${id}/run`, { seed: 7 });
    expect(started.status).toBe(200);
    expect(started.body).toEqual({
      run_id: started.body.run_id,
      status: 'PENDING',
      data: { run_id: started.body.run_id, status: 'PENDING' },
      errors: null,
    });
    const run = await client.ended(String(started.body.run_id));
    expect(run).toMatchObject({
      scenario_id: id,
      pathway_id,
      persona_id: null,
      batch_id: null,
      simulation_set_id: null,
      tornado_session_id: null,
      status: 'PASSED',
      overall_score: 1,
      version_number: 0,
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      turn_count: 3,
      nodes_visited: ['greet', 'name', 'day', 'book', 'done'],
      current_node_id: 'done',
      variables_extracted: { patient_name: 'Sam Reed', day: '2030-05-04' },
      seed: 7,
      trigger_source: 'api',
      error_message: null,
      transport: 'text',
      voice: null,
      service_tone_score: null,
      evaluator: {
        caller: { provider: 'embedded', model: 'rules', deterministic: true },
        agent: { provider: 'embedded', model: 'rules', deterministic: true },
        judge: { provider: 'embedded', model: 'rules', deterministic: true },
      },
      assertion_results: [{ type: 'NODE_REACHED', name: 'Booked', status: 'PASSED', passed: true }],
    });
    expect(run.chat_history).toEqual([
      {
        role: 'assistant',
        content: 'Hello, this is Green Clinic. How can I help you?',
        turn: 0,
        node_id: 'greet',
      },
      { role: 'user', content: expect.stringContaining('book an appointment'), turn: 1, node_id: null },
      { role: 'assistant', content: 'Sure. What is your name?', turn: 1, node_id: 'name' },
      { role: 'user', content: expect.stringContaining('Sam Reed'), turn: 2, node_id: null },
      { role: 'assistant', content: 'Which date suits you?', turn: 2, node_id: 'day' },
      { role: 'user', content: expect.stringContaining('May 4, 2030'), turn: 3, node_id: null },
      { role: 'assistant', content: 'You are booked. Goodbye.', turn: 3, node_id: 'done' },
    ]);
  });

  it('answers a writing webhook by a dry run, and keeps the request', async () => {
    const run = await client.run(await scenario());
    expect(run.webhook_calls).toEqual([
      {
        node_id: 'book',
        url: 'https://clinic.example.com/book',
        method: 'POST',
        status_code: 200,
        at: '2030-01-01T00:00:00.000Z',
        body: '{"name":"Sam Reed","day":"2030-05-04"}',
        response: {},
        mocked: true,
      },
    ]);
  });

  it('answers a webhook by the mock declared in the scenario', async () => {
    const mocks = [
      { node_id: 'greet', status: 200 },
      { url: 'https://clinic.example.com/*', status: 503, body: { error: 'full' } },
    ];
    const run = await client.run(await scenario({ metadata: { mocks } }));
    expect(run).toMatchObject({
      status: 'FAILED',
      current_node_id: 'sorry',
      webhook_calls: [{ status_code: 503, response: { error: 'full' }, mocked: true }],
    });
  });

  it('sets the variables of a mock where the node expects them', async () => {
    const mocks = [{ node_id: 'book', variables: { booking_id: 'B-7' } }];
    const run = await client.run(await scenario({ metadata: { mocks } }));
    expect(run).toMatchObject({ status: 'PASSED', variables_extracted: { booking_id: 'B-7' } });
  });

  it('tests the requested version, with its hash', async () => {
    const id = await scenario();
    const version = await test.call('GET', `/v1/pathway/${pathway_id}/version/1`);
    const run = await client.run(id, { version_number: 1 });
    expect(run).toMatchObject({
      version_number: 1,
      content_hash: version.body.content_hash,
      status: 'PASSED',
    });
  });

  it('tests the version in production by default', async () => {
    await test.call('POST', `/v1/pathway/${pathway_id}/publish`, { body: { version_id: 1 } });
    expect(await client.run(await scenario())).toMatchObject({ version_number: 1 });
  });

  it('says the same with the same seed', async () => {
    const id = await scenario({ category: 'CONFUSED_CALLER' });
    const first = await client.run(id, { seed: 3 });
    const second = await client.run(id, { seed: 3 });
    expect(second.chat_history).toEqual(first.chat_history);
  });

  it('applies request_data_override over request_data, key by key', async () => {
    const graph = {
      nodes: [
        { id: 'a', type: 'End Call', data: { isStart: true, name: 'A', text: '{{one}} {{two}} {{three}}' } },
      ],
      edges: [],
    };
    const own = await client.pathway(graph);
    const id = await client.scenario({ pathway_id: own, request_data: { one: '1', two: '2' } });
    const run = await client.run(id, { request_data_override: { two: 'II', three: 'III' } });
    expect(run.chat_history).toMatchObject([{ role: 'assistant', content: '1 II III' }]);
  });

  it('is an ERROR with an unknown start node', async () => {
    const run = await client.run(await scenario({ start_node_id: 'nowhere' }));
    expect(run).toMatchObject({
      status: 'ERROR',
      error_message: 'Invalid start_node_id',
      overall_score: null,
    });
  });

  it('starts at the scenario’s start node', async () => {
    const run = await client.run(await scenario({ start_node_id: 'day' }));
    expect(run.nodes_visited).toEqual(['day', 'book', 'done']);
  });

  it('ends at the turn limit, which is not a failure in itself', async () => {
    const run = await client.run(await scenario({ max_turns: 1, assertions: [] }));
    expect(run).toMatchObject({ turn_count: 1, status: 'FAILED' });
    expect(run.reasoning).toContain('The turn limit of 1 was reached.');
    const passing = { type: 'NODE_REACHED', config: { node_id: 'name' } };
    const other = await client.run(await scenario({ max_turns: 1, assertions: [passing] }));
    expect(other).toMatchObject({ turn_count: 1, status: 'PASSED' });
  });

  it('of a REPLAY says the given lines verbatim, however long it is', async () => {
    const input_messages = [
      { role: 'assistant', content: 'whatever' },
      { role: 'user', content: 'An appointment' },
      { role: 'user', content: 'Ann Lee' },
    ];
    const run = await client.run(await scenario({ scenario_type: 'REPLAY', input_messages, max_turns: 1 }));
    expect(run).toMatchObject({
      turn_count: 2,
      nodes_visited: ['greet', 'name', 'day'],
      evaluator: { caller: { provider: 'embedded', model: 'replay', deterministic: true } },
    });
    const said = run.chat_history.filter(({ role }) => role === 'user');
    expect(said.map(({ content }) => content)).toEqual(['An appointment', 'Ann Lee']);
    expect(run.reasoning).toContain('All recorded lines were said.');
  });

  it('of a HISTORICAL conversation only judges it', async () => {
    const input_messages = [
      { role: 'assistant', content: 'Hello', node_id: 'greet' },
      { role: 'user', content: 'Hi there' },
      { role: 'assistant', content: 'Booked', node_id: 'done' },
    ];
    const check = { type: 'STRING_CHECK', config: { value: 'hi there', target: 'user' } };
    const run = await client.run(
      await scenario({ scenario_type: 'HISTORICAL', input_messages, assertions: [booked, check] }),
    );
    expect(run).toMatchObject({
      status: 'PASSED',
      nodes_visited: ['greet', 'done'],
      webhook_calls: [],
      evaluator: { agent: { model: 'historical' } },
    });
  });

  it('of a persona has no nodes', async () => {
    const persona = await test.call('POST', '/v1/personas', {
      body: { name: 'Ava', orchestration_prompt: 'The clinic is open from nine to five.' },
    });
    const persona_id = (persona.body.data as { id: unknown }).id;
    const id = await client.scenario({
      persona_id,
      tester_persona_prompt: 'Goal: ask when the clinic is open',
      assertions: [booked, { type: 'STRING_CHECK', config: { value: 'nine to five', target: 'agent' } }],
    });
    const run = await client.run(id);
    expect(run).toMatchObject({
      persona_id,
      pathway_id: null,
      version_number: 1,
      nodes_visited: [],
      current_node_id: null,
      assertion_results: [{ status: 'INCONCLUSIVE' }, { status: 'PASSED' }],
      status: 'FAILED',
    });
  });

  it('presses the menu key that leads to its goal', async () => {
    const graph = {
      nodes: [
        {
          id: 'menu',
          type: 'Default',
          data: { isStart: true, name: 'Menu', text: 'Press 1 for sales, press 2 for billing.' },
        },
        { id: 'sales', type: 'End Call', data: { name: 'Sales', text: 'Sales. Goodbye.' } },
        { id: 'billing', type: 'End Call', data: { name: 'Billing', text: 'Billing. Goodbye.' } },
      ],
      edges: [
        { source: 'menu', target: 'sales', data: { label: '1' } },
        { source: 'menu', target: 'billing', data: { label: '2' } },
      ],
    };
    const id = await client.scenario({
      pathway_id: await client.pathway(graph),
      tester_persona_prompt: 'You want to ask about a billing mistake.',
      assertions: [{ type: 'NODE_REACHED', config: { node_id: 'billing' } }],
    });
    const run = await client.run(id);
    expect(run).toMatchObject({ status: 'PASSED', nodes_visited: ['menu', 'billing'] });
    expect(run.chat_history).toMatchObject([{}, { role: 'user', content: 'Pressed 2' }, {}]);
  });

  it('has a tone score where the scenario requests one and rules can compute it', async () => {
    const run = await client.run(await scenario({ service_tone_enabled: true, assertions: [] }));
    // The embedded rules judge three of six dimensions, so there is no overall score and nothing was checked.
    expect(run).toMatchObject({ service_tone_score: null, overall_score: null, status: 'FAILED' });
  });
});

describe('starting a run', () => {
  it('rejects unknown scenarios, versions and numbers', async () => {
    const id = await scenario();
    const stormy = await scenario();
    const { db } = test.control.services.database;
    // As an earlier version stored it.
    const metadata = toJson({ call: { weather: { lost: 1 } } });
    await db.updateTable('test_scenarios').set({ metadata }).where('id', '=', stormy).execute();
    const overCall = { transport: 'sip', phone_number: '+14155550100' };
    const refusals = [
      [unknownId, {}, 404, 'SCENARIO_NOT_FOUND'],
      ['no-uuid', {}, 404, 'SCENARIO_NOT_FOUND'],
      [id, { version_number: 9 }, 404, 'VERSION_NOT_FOUND'],
      [id, { webhook_url: 'http://example.com' }, 400, 'INVALID_PARAMETER'],
      [id, { webhook_url: 'https://127.0.0.1/a' }, 400, 'TARGET_NOT_ALLOWED'],
      [id, { seed: 2 ** 31 }, 400, 'INVALID_PARAMETER'],
      [id, { version_number: -1 }, 400, 'INVALID_PARAMETER'],
      [id, overCall, 400, 'NUMBER_NOT_TESTABLE'],
      [id, { transport: 'sip' }, 400, 'INVALID_PARAMETER'],
      [id, { phone_number: '+14155550100' }, 400, 'INVALID_PARAMETER'],
      [id, { weather: { loss_percent: 1 } }, 400, 'INVALID_PARAMETER'],
      [id, { ...overCall, weather: { loss_percent: 51 } }, 400, 'INVALID_PARAMETER'],
      [id, { ...overCall, weather: { lost: 1 } }, 400, 'UNKNOWN_PROPERTY'],
      [stormy, overCall, 400, 'INVALID_PARAMETER'],
      [id, { more: 1 }, 400, 'UNKNOWN_PROPERTY'],
    ] as const;
    for (const [scenarioId, body, status, code] of refusals) {
      const answer = await client.call('POST', `/scenarios/${scenarioId}/run`, body);
      expect([body, answer.status, answer.codes]).toEqual([body, status, [code]]);
    }
  });

  it("rejects another organization's scenario as unknown", async () => {
    const foreign = new TestingClient(test, test.foreignKey);
    const id = await scenario();
    expect((await foreign.call('POST', `/scenarios/${id}/run`, {})).codes).toEqual(['SCENARIO_NOT_FOUND']);
    const run = await client.start(id);
    for (const [method, path] of [
      ['GET', `/runs/${run}`],
      ['GET', `/runs/${run}/events`],
      ['POST', `/runs/${run}/cancel`],
    ] as const) {
      const answer = await foreign.call(method, path);
      expect([answer.status, answer.codes]).toEqual([404, ['RUN_NOT_FOUND']]);
    }
  });

  // Requests are counted outside of the database; for several control planes: control/http/limits-replicas.test.ts.
  it.runIf(onceIsEnough)('is limited to 60 a minute', async () => {
    const id = await scenario({
      scenario_type: 'HISTORICAL',
      input_messages: [{ role: 'user', content: 'a' }],
    });
    for (let count = 0; count < 60; count++) await client.start(id);
    const refused = await client.call('POST', `/scenarios/${id}/run`, {});
    expect([refused.status, refused.codes]).toEqual([429, ['RATE_LIMITED']]);
    test.clock.advance(60_000);
    expect((await client.call('POST', `/scenarios/${id}/run`, {})).status).toBe(200);
  });
});

describe('the list of runs', () => {
  it('is filtered, paged and counted, newest first', async () => {
    const ids: string[] = [];
    const passing = await scenario();
    const failing = await scenario({ max_turns: 1 });
    for (const id of [passing, failing, passing]) {
      ids.push(String((await client.run(id)).id));
      test.clock.advance(1000);
    }
    const list = async (query: string) => {
      const { runs, total_count } = (await client.call('GET', `/runs?${query}`)).read(RunList);
      return [runs.map(({ id }) => ids.indexOf(id)), total_count];
    };
    expect(await list('')).toEqual([[2, 1, 0], 3]);
    expect(await list(`scenario_id=${passing}`)).toEqual([[2, 0], 2]);
    expect(await list('status=FAILED')).toEqual([[1], 1]);
    expect(await list(`pathway_id=${pathway_id}&limit=1&offset=1`)).toEqual([[1], 3]);
    expect(await list(`persona_id=${unknownId}`)).toEqual([[], 0]);
    expect(await list(`batch_id=${unknownId}`)).toEqual([[], 0]);
    const { body } = await client.call('GET', '/runs?limit=1');
    expect(body.runs).toMatchObject([
      { id: ids[2], scenario: { id: passing, name: 'Scenario 1' }, assertion_results: [{ name: 'Booked' }] },
    ]);
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'status=DONE', 'scenario_id=x']) {
      expect((await client.call('GET', `/runs?${query}`)).codes).toEqual(['INVALID_PARAMETER']);
    }
  });
});

describe('the end of a run', () => {
  it('is sent to its own URL, with the whole run', async () => {
    const run = await client.run(await scenario(), { webhook_url: 'https://hooks.example.com/run' });
    const { db } = test.control.services.database;
    const [event, ...others] = await db.selectFrom('webhook_deliveries').selectAll().execute();
    expect(others).toEqual([]);
    expect(event).toMatchObject({ url: 'https://hooks.example.com/run', type: 'test_run.completed' });
    const { data, errors, ...bare } = run;
    expect(JSON.parse(event?.body ?? '{}')).toMatchObject({ type: 'test_run.completed', data: bare });
  });

  it('omits and names the largest parts of a run above 1 MiB', async () => {
    const { db } = test.control.services.database;
    const createdAt = '2030-01-01T00:00:00.000Z';
    const more = { status: 'RUNNING', webhook_url: 'https://hooks.example.com/large' } as const;
    const scenarioId = await scenario();
    const id = await storeFinishedRun(db, { orgId: test.orgId, scenarioId, createdAt, more });
    const variables_extracted = toJson({ large: 'é'.repeat(600_000) });
    const record = { variables_extracted, ending: toJson({ by: 'agent', reason: 'Done.' }) };
    const end = { ...cancelledEnd(createdAt), status: 'PASSED', score: 1, record } as const;
    await db.transaction().execute((trx) => finishRun(trx, id, end));
    const { body } = await db
      .selectFrom('webhook_deliveries')
      .select('body')
      .where('subject_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(Buffer.byteLength(body ?? '')).toBeLessThan(1_048_576 + 1024);
    expect(JSON.parse(body ?? '{}')).toMatchObject({
      data: { id, status: 'PASSED', variables_extracted: {}, omitted: ['variables_extracted'] },
    });
    // It is complete under its id.
    expect((await client.call('GET', `/runs/${id}`)).body).not.toHaveProperty('omitted');
  });

  it('is final: it cannot be canceled', async () => {
    const run = await client.run(await scenario());
    const answer = await client.call('POST', `/runs/${run.id}/cancel`);
    expect([answer.status, answer.codes]).toEqual([409, ['RUN_NOT_ACTIVE']]);
    expect((await client.call('POST', `/runs/${unknownId}/cancel`)).codes).toEqual(['RUN_NOT_FOUND']);
  });
});
