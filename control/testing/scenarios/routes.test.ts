import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScenarioAnswer, ScenarioList } from '#shared/api/agent-testing/scenarios.ts';
import { TemplateCloned, TemplateList } from '#shared/api/agent-testing/templates.ts';
import { PersonaAnswer } from '#shared/api/personas.ts';
import { storeFinishedRun } from '../../../test/kit/control/agent-testing.ts';
import { callRecord } from '../../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import type { Answer } from '../../../test/kit/http/answer.ts';
import { toJson } from '../../db/index.ts';

const base = '/v1/agent-testing';
const unknownId = '00000000-0000-4000-8000-000000000000';

let test: TestControl;
let pathwayId: string;

beforeAll(async () => {
  test = await startControl();
  pathwayId = await createPathway();
});
afterAll(() => test.close());

async function createPathway(key = test.key): Promise<string> {
  const answer = await test.call('POST', '/v1/pathway/create', { body: { name: 'Booking' }, key });
  return String(answer.body.pathway_id);
}

let scenarioNumber = 0;
async function create(body: object = {}): Promise<Answer> {
  scenarioNumber++;
  return test.call('POST', `${base}/scenarios`, {
    body: { pathway_id: pathwayId, name: `Scenario ${scenarioNumber}`, ...body },
  });
}

function details(answer: Answer): unknown {
  return answer.errors[0]?.details;
}

const nodeReached = (node_id: string) => ({ type: 'NODE_REACHED', config: { node_id } });

describe('a new scenario', () => {
  it('is returned with its defaults, at top level and in data', async () => {
    const answer = await create({ name: 'Defaults', assertions: [nodeReached('n1')] });
    expect(answer.status).toBe(200);
    const { data, errors, ...bare } = answer.body;
    expect(errors).toBeNull();
    expect(data).toEqual(bare);
    const assertionId = answer.read(ScenarioAnswer).assertions[0]?.id;
    expect(bare).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      org_id: test.orgId,
      pathway_id: pathwayId,
      persona_id: null,
      name: 'Defaults',
      description: null,
      category: 'CUSTOM',
      scenario_type: 'AGENT',
      tester_persona_prompt: null,
      tester_persona_name: null,
      max_turns: 20,
      request_data: null,
      start_node_id: null,
      service_tone_enabled: false,
      is_required_for_promotion: false,
      enabled: true,
      input_messages: null,
      advanced_instructions: null,
      metadata: null,
      assertions: [
        {
          id: assertionId,
          type: 'NODE_REACHED',
          name: null,
          config: { node_id: 'n1' },
          is_required: true,
          weight: 1,
          order: 0,
        },
      ],
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
    });
    expect((await test.call('GET', `${base}/scenarios/${bare.id}`)).body).toEqual(answer.body);
  });

  it('accepts every field, and reads VOICEMAIL_SCREENER as CALL_SCREENER', async () => {
    const fields = {
      description: 'About it',
      scenario_type: 'REPLAY',
      tester_persona_prompt: 'You are curious.',
      tester_persona_name: 'Sam',
      max_turns: 50,
      request_data: { deep: [{ of: 1 }] },
      start_node_id: 'nowhere',
      service_tone_enabled: true,
      is_required_for_promotion: true,
      enabled: false,
      input_messages: [{ role: 'user', content: 'Hello', node_id: 'n1' }],
      advanced_instructions: 'Whisper.',
      metadata: { ticket: 7 },
    };
    const answer = await create({ ...fields, category: 'VOICEMAIL_SCREENER' });
    expect(answer.body).toMatchObject({ ...fields, category: 'CALL_SCREENER' });
  });

  it('accepts an assertion of each type', async () => {
    const assertions = [
      { type: 'LLM_JUDGE', config: { prompt: 'Calm?', output_type: 'score', threshold: 0.5 }, weight: 1.5 },
      { type: 'SERVICE_TONE', config: {} },
      { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'name', expected_value: 3 } },
      nodeReached('a'),
      { type: 'NODES_VISITED', config: { node_ids: ['a', 'b'], mode: 'any' } },
      { type: 'WEBHOOK_TRIGGERED', config: { url: 'https://x.example/*', body_match: { 'a.b': [1] } } },
      { type: 'REGEX_MATCH', config: { pattern: 'b+', flags: 'im', target: 'variables.x' }, order: 9 },
      { type: 'STRING_CHECK', config: { value: 'yes' }, is_required: false, name: 'Yes' },
      {
        type: 'CUSTOM_LLM',
        config: {
          system_prompt: 'Judge.',
          output_type: 'categorical',
          categories: ['good', 'bad'],
          pass_categories: ['good'],
        },
      },
      { type: 'TRAVERSAL_MATCH', config: { reference_path: ['a'] } },
    ];
    const answer = await create({ assertions });
    expect(answer.codes).toEqual([]);
    const read = answer.read(ScenarioAnswer);
    expect(read.assertions.map(({ type, order }) => [type, order])).toEqual([
      ['LLM_JUDGE', 0],
      ['SERVICE_TONE', 1],
      ['VARIABLE_EXTRACTED', 2],
      ['NODE_REACHED', 3],
      ['NODES_VISITED', 4],
      ['WEBHOOK_TRIGGERED', 5],
      ['STRING_CHECK', 7],
      ['CUSTOM_LLM', 8],
      ['REGEX_MATCH', 9],
      ['TRAVERSAL_MATCH', 9],
    ]);
  });

  it.each([
    ['no name', { name: undefined }, '/name', 'INVALID_PARAMETER'],
    ['an unknown property', { color: 'red' }, '/color', 'UNKNOWN_PROPERTY'],
    ['two subjects', { persona_id: unknownId }, '/pathway_id', 'INVALID_PARAMETER'],
    ['no subject', { pathway_id: undefined }, '/pathway_id', 'INVALID_PARAMETER'],
    ['too many turns', { max_turns: 51 }, '/max_turns', 'INVALID_PARAMETER'],
    ['an unknown category', { category: 'NICE' }, '/category', 'INVALID_PARAMETER'],
    ['a replay without words', { scenario_type: 'REPLAY' }, '/input_messages', 'INVALID_PARAMETER'],
    [
      'a replay of the agent’s words only',
      { scenario_type: 'REPLAY', input_messages: [{ role: 'assistant', content: 'Hi' }] },
      '/input_messages',
      'INVALID_PARAMETER',
    ],
    [
      'a historical conversation without lines',
      { scenario_type: 'HISTORICAL', input_messages: [] },
      '/input_messages',
      'INVALID_PARAMETER',
    ],
    [
      'an unknown type of assertion',
      { assertions: [{ type: 'MAGIC', config: {} }] },
      '/assertions/0/type',
      'INVALID_PARAMETER',
    ],
    [
      'an unknown key of a configuration',
      { assertions: [{ type: 'NODE_REACHED', config: { node_id: 'a', depth: 1 } }] },
      '/assertions/0/config/depth',
      'UNKNOWN_PROPERTY',
    ],
    [
      'an id of an assertion',
      { assertions: [{ id: unknownId, ...nodeReached('a') }] },
      '/assertions/0/id',
      'UNKNOWN_PROPERTY',
    ],
    [
      'an invalid pattern',
      { assertions: [nodeReached('a'), { type: 'REGEX_MATCH', config: { pattern: '(' } }] },
      '/assertions/1/config/pattern',
      'INVALID_PARAMETER',
    ],
    [
      'a pattern with a backreference, which no linear engine supports',
      { assertions: [{ type: 'REGEX_MATCH', config: { pattern: '(a)\\1' } }] },
      '/assertions/0/config/pattern',
      'INVALID_PARAMETER',
    ],
    [
      'a pattern as expected value that is none',
      {
        assertions: [
          { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'a', match: 'regex', expected_value: '[' } },
        ],
      },
      '/assertions/0/config/expected_value',
      'INVALID_PARAMETER',
    ],
    [
      'categories that are missing',
      { assertions: [{ type: 'LLM_JUDGE', config: { prompt: 'x', output_type: 'categorical' } }] },
      '/assertions/0/config/categories',
      'INVALID_PARAMETER',
    ],
    [
      'a passing category that is none',
      {
        assertions: [
          {
            type: 'CUSTOM_LLM',
            config: {
              system_prompt: 'x',
              output_type: 'categorical',
              categories: ['a', 'b'],
              pass_categories: ['a', 'c'],
            },
          },
        ],
      },
      '/assertions/0/config/pass_categories/1',
      'INVALID_PARAMETER',
    ],
    [
      'a tone dimension twice',
      { assertions: [{ type: 'SERVICE_TONE', config: { dimensions: ['empathy', 'empathy'] } }] },
      '/assertions/0/config/dimensions',
      'INVALID_PARAMETER',
    ],
  ])('is rejected with %s', async (_what, body, path, code) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.codes).toEqual([code]);
    expect(details(answer)).toMatchObject({ path });
    expect(answer.body.data).toBeNull();
  });

  it('requires a pathway or persona of the same organization', async () => {
    const foreign = await createPathway(test.foreignKey);
    expect((await create({ pathway_id: foreign })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await create({ pathway_id: unknownId })).status).toBe(404);
    expect((await create({ pathway_id: undefined, persona_id: unknownId })).codes).toEqual([
      'PERSONA_NOT_FOUND',
    ]);
    expect((await create({ pathway_id: 'nonsense' })).status).toBe(400);
  });

  it('requires a name that no other scenario of the pathway has', async () => {
    await create({ name: 'Twice' });
    const again = await create({ name: 'Twice' });
    expect([again.status, again.codes]).toEqual([409, ['SCENARIO_NAME_TAKEN']]);
    expect((await create({ name: 'Twice', pathway_id: await createPathway() })).status).toBe(200);
  });
});

describe('a scenario', () => {
  it('is changed in part, and its updated_at moves', async () => {
    const { body } = await create({ description: 'Old', metadata: { a: 1 }, max_turns: 3 });
    test.clock.advance(1000);
    const changed = await test.call('PUT', `${base}/scenarios/${body.id}`, {
      body: { description: null, enabled: false },
    });
    expect(changed.body).toMatchObject({
      description: null,
      enabled: false,
      metadata: { a: 1 },
      max_turns: 3,
      created_at: body.created_at,
      updated_at: '2030-01-01T00:00:01.000Z',
    });
  });

  it('keeps assertions sent with their ids, and deletes those not sent', async () => {
    const made = await create({ assertions: [nodeReached('a'), nodeReached('b')] });
    const { id, assertions } = made.read(ScenarioAnswer);
    const [first, second] = assertions;
    const changed = await test.call('PUT', `${base}/scenarios/${id}`, {
      body: { assertions: [nodeReached('c'), { id: second?.id, ...nodeReached('d') }] },
    });
    const kept = changed.read(ScenarioAnswer).assertions;
    expect(kept.map(({ config }) => config.node_id)).toEqual(['c', 'd']);
    expect(kept[1]?.id).toBe(second?.id);
    expect(kept[0]?.id).not.toBe(first?.id);
  });

  it.each([
    ['an id of another scenario’s assertion', [{ id: unknownId, ...nodeReached('a') }], '/assertions/0/id'],
  ])('is not changed with %s', async (_what, assertions, path) => {
    const { body } = await create();
    const answer = await test.call('PUT', `${base}/scenarios/${body.id}`, { body: { assertions } });
    expect([answer.status, details(answer)]).toMatchObject([400, { path }]);
  });

  it('cannot get the same assertion twice, another pathway, or a replay without words', async () => {
    const made = await create({ assertions: [nodeReached('a')] });
    const { body } = made;
    const id = made.read(ScenarioAnswer).assertions[0]?.id;
    const put = (change: object) => test.call('PUT', `${base}/scenarios/${body.id}`, { body: change });
    const twice = [
      { id, ...nodeReached('a') },
      { id, ...nodeReached('b') },
    ];
    expect(details(await put({ assertions: twice }))).toMatchObject({ path: '/assertions/1/id' });
    expect((await put({ pathway_id: pathwayId })).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect(details(await put({ scenario_type: 'REPLAY' }))).toMatchObject({ path: '/input_messages' });
    expect((await test.call('GET', `${base}/scenarios/${body.id}`)).body).toEqual(body);
  });

  it("accepts its own name again, and not another's", async () => {
    const { body } = await create({ name: 'Mine' });
    await create({ name: 'Yours' });
    const put = (name: string) => test.call('PUT', `${base}/scenarios/${body.id}`, { body: { name } });
    expect((await put('Mine')).status).toBe(200);
    expect((await put('Yours')).codes).toEqual(['SCENARIO_NAME_TAKEN']);
  });

  it('is deleted once; its waiting runs are canceled, its name is free', async () => {
    const { body } = await create({ name: 'Gone' });
    const { db } = test.control.services.database;
    const run = {
      orgId: test.orgId,
      scenarioId: String(body.id),
      createdAt: '2030-01-01T00:00:00.000Z',
      pathwayId,
    };
    const waiting = await storeFinishedRun(db, { ...run, more: { status: 'PENDING' } });
    const running = await storeFinishedRun(db, run);
    const answer = await test.call('DELETE', `${base}/scenarios/${body.id}`);
    expect(answer.body).toEqual({ deleted: true, data: { deleted: true }, errors: null });
    const statuses = await db
      .selectFrom('test_runs')
      .select(['id', 'status'])
      .where('scenario_id', '=', String(body.id))
      .execute();
    expect(new Map(statuses.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [waiting, 'CANCELLED'],
        [running, 'RUNNING'],
      ]),
    );
    expect((await test.call('GET', `${base}/scenarios/${body.id}`)).codes).toEqual(['SCENARIO_NOT_FOUND']);
    expect((await test.call('DELETE', `${base}/scenarios/${body.id}`)).status).toBe(404);
    expect((await create({ name: 'Gone' })).status).toBe(200);
  });

  it('is deleted with its pathway', async () => {
    const own = await createPathway();
    const { body } = await create({ pathway_id: own });
    expect((await test.call('DELETE', `/v1/pathway/${own}`)).status).toBe(200);
    expect((await test.call('GET', `${base}/scenarios/${body.id}`)).status).toBe(404);
    expect((await test.call('GET', `${base}/analytics/${own}`)).codes).toEqual(['PATHWAY_NOT_FOUND']);
  });

  it('is unknown to another organization, and requires a key', async () => {
    const { body } = await create();
    const url = `${base}/scenarios/${body.id}`;
    const put = { body: { description: 'x' } };
    for (const answer of [
      await test.call('GET', url, { key: test.foreignKey }),
      await test.call('PUT', url, { key: test.foreignKey, ...put }),
      await test.call('DELETE', url, { key: test.foreignKey }),
      await test.call('GET', `${base}/scenarios/nonsense`),
    ]) {
      expect([answer.status, answer.codes]).toEqual([404, ['SCENARIO_NOT_FOUND']]);
    }
    for (const [method, path] of [
      ['GET', url],
      ['PUT', url],
      ['DELETE', url],
      ['GET', `${base}/scenarios`],
      ['POST', `${base}/scenarios`],
      ['GET', `${base}/templates`],
      ['POST', `${base}/templates/tmpl_happy_path/clone`],
      ['POST', `${base}/scenarios/generate-from-call`],
      ['GET', `${base}/analytics/${pathwayId}`],
      ['GET', `${base}/analytics/${pathwayId}/enhanced`],
    ] as const) {
      const answer = await test.call(method, path, { key: null });
      expect([path, answer.status, answer.codes]).toEqual([path, 401, ['AUTH_FAILURE']]);
      expect(answer.body.data).toBeNull();
    }
  });
});

describe('the list of scenarios', () => {
  it('is filtered, newest first, and shows the newest run of each', async () => {
    const own = await createPathway();
    const first = (await create({ pathway_id: own, name: 'A', category: 'CALL_SCREENER' })).body;
    test.clock.advance(1000);
    const second = (
      await create({ pathway_id: own, name: 'B', enabled: false, assertions: [nodeReached('x')] })
    ).body;
    const { db } = test.control.services.database;
    const run = { orgId: test.orgId, scenarioId: String(first.id), pathwayId: own };
    await storeFinishedRun(db, { ...run, createdAt: '2030-01-01T00:00:05.000Z', status: 'PASSED', score: 1 });
    const newest = await storeFinishedRun(db, {
      ...run,
      createdAt: '2030-01-01T00:00:06.000Z',
      status: 'FAILED',
      score: 1 / 3,
    });
    const list = async (query: string) => {
      const answer = await test.call('GET', `${base}/scenarios?${query}`);
      return answer.read(ScenarioList).scenarios;
    };
    expect(await list(`pathway_id=${own}`)).toEqual([
      { ...bare(second), most_recent_run: null },
      {
        ...bare(first),
        most_recent_run: {
          id: newest,
          status: 'FAILED',
          score: 0.3333,
          completed_at: '2030-01-01T00:00:06.000Z',
        },
      },
    ]);
    const names = async (query: string) => (await list(query)).map(({ name }) => name);
    expect(await names(`pathway_id=${own}&enabled=true`)).toEqual(['A']);
    expect(await names(`pathway_id=${own}&category=VOICEMAIL_SCREENER`)).toEqual(['A']);
    const persona = await test.call('POST', '/v1/personas', { body: { name: 'Patient' } });
    const persona_id = persona.read(PersonaAnswer).data.id;
    await create({ pathway_id: undefined, persona_id, name: 'C' });
    expect(await names(`persona_id=${persona_id}`)).toEqual(['C']);
    expect(await names(`persona_id=${unknownId}`)).toEqual([]);
    expect(
      (await test.call('GET', `${base}/scenarios?pathway_id=${own}`, { key: test.foreignKey })).body,
    ).toEqual({
      scenarios: [],
      data: { scenarios: [] },
      errors: null,
    });
    expect((await test.call('GET', `${base}/scenarios?pathway_id=x`)).status).toBe(400);
    expect((await test.call('GET', `${base}/scenarios?enabled=maybe`)).status).toBe(400);
  });
});

function bare({ data: _data, errors: _errors, ...rest }: Answer['body']): Record<string, unknown> {
  return rest;
}

describe('templates', () => {
  it('are nine, in order, filtered by category', async () => {
    const { templates } = (await test.call('GET', `${base}/templates`)).read(TemplateList);
    expect(templates.map(({ id, category, max_turns }) => [id, category, max_turns])).toEqual([
      ['tmpl_voicemail_basic', 'VOICEMAIL', 4],
      ['tmpl_call_screener', 'CALL_SCREENER', 6],
      ['tmpl_gatekeeper', 'CALL_SCREENER', 10],
      ['tmpl_angry_caller', 'ANGRY_CALLER', 12],
      ['tmpl_abusive_caller', 'BELLIGERENT_CALLER', 10],
      ['tmpl_rambling_caller', 'CONFUSED_CALLER', 15],
      ['tmpl_happy_path', 'HAPPY_PATH', 12],
      ['tmpl_edge_interruptions', 'EDGE_CASE', 15],
      ['tmpl_custom_blank', 'CUSTOM', 20],
    ]);
    const screeners = await test.call('GET', `${base}/templates?category=VOICEMAIL_SCREENER`);
    expect(screeners.read(TemplateList).templates).toHaveLength(2);
    expect((await test.call('GET', `${base}/templates?category=x`)).status).toBe(400);
  });

  it('become scenarios, with a numbered name if it is taken and none is given', async () => {
    const own = await createPathway();
    const clone = (body: object, id = 'tmpl_angry_caller') =>
      test.call('POST', `${base}/templates/${id}/clone`, { body: { pathway_id: own, ...body } });
    const scenario = (answer: Answer) => answer.read(TemplateCloned).scenario;
    const first = await clone({ max_turns: 3, request_data: { order: 7 } });
    expect(scenario(first)).toMatchObject({
      name: 'Angry customer',
      category: 'ANGRY_CALLER',
      pathway_id: own,
      max_turns: 3,
      request_data: { order: 7 },
      tester_persona_name: 'Sam',
    });
    const types = scenario(first).assertions.map(({ type, is_required }) => [type, is_required]);
    expect(types).toEqual([
      ['LLM_JUDGE', true],
      ['SERVICE_TONE', false],
    ]);
    expect(scenario(await clone({})).name).toBe('Angry customer (2)');
    expect(scenario(await clone({})).name).toBe('Angry customer (3)');
    expect((await clone({ name: 'Angry customer' })).codes).toEqual(['SCENARIO_NAME_TAKEN']);
    expect((await clone({}, 'tmpl_none')).codes).toEqual(['TEMPLATE_NOT_FOUND']);
    expect((await clone({ pathway_id: unknownId })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await clone({ pathway_id: undefined, persona_id: unknownId })).codes).toEqual([
      'PERSONA_NOT_FOUND',
    ]);
    expect((await clone({ category: 'CUSTOM' })).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect((await clone({ persona_id: unknownId })).status).toBe(400);
  });

  it('all become scenarios', async () => {
    const own = await createPathway();
    const { templates } = (await test.call('GET', `${base}/templates`)).read(TemplateList);
    for (const { id } of templates) {
      const answer = await test.call('POST', `${base}/templates/${id}/clone`, { body: { pathway_id: own } });
      expect([id, answer.status, answer.codes]).toEqual([id, 200, []]);
    }
  });
});

describe('a scenario from a call', () => {
  const generate = (body: object, key = test.key) =>
    test.call('POST', `${base}/scenarios/generate-from-call`, { body, key });
  const transcript = [
    { role: 'assistant', content: 'Clinic, how can I help?' },
    { role: 'user', content: 'My name is Jane Doe. This is unacceptable, nobody called me back!' },
    { role: 'assistant', content: 'I am sorry, Jane. What is your number?' },
    { role: 'user', content: '+1 415 555 0100, or write to jane@example.com.' },
  ];

  it('can be created as is, without numbers, addresses and names', async () => {
    const answer = await generate({ pathway_id: pathwayId, transcript });
    expect(answer.status).toBe(200);
    const { data, errors: _, ...bareAnswer } = answer.body;
    expect(data).toEqual(bareAnswer);
    expect(bareAnswer).toMatchObject({ category: 'ANGRY_CALLER', persona_id: null, start_node_id: null });
    expect(answer.text).not.toMatch(/Jane|Doe|555|example\.com/);
    expect(bareAnswer.metadata).toEqual({
      generated_by: 'rules',
      removed: [
        { kind: 'name', placeholder: '[name]', hint: 'J…e', count: 2 },
        { kind: 'name', placeholder: '[name]', hint: 'D…e', count: 1 },
        { kind: 'email', placeholder: '[email]', hint: 'j…m', count: 1 },
        { kind: 'phone_number', placeholder: '[phone number]', hint: '+…0', count: 1 },
      ],
    });
    const { persona_id: _persona, ...ready } = bareAnswer;
    expect((await create(ready)).status).toBe(200);
    const again = await generate({ pathway_id: pathwayId, transcript });
    expect(again.body).toEqual(answer.body);
  });

  it('reads a call of the organization by its id, its request data redacted at every depth', async () => {
    const { db } = test.control.services.database;
    const record = callRecord(test.orgId);
    await db
      .insertInto('calls')
      .values({
        id: 'call-1',
        org_id: test.orgId,
        edge_id: 'edge',
        sip_call_id: 'sip-1@pbx',
        parent_id: null,
        direction: 'inbound',
        from_number: '+14155550100',
        to_number: '+14155550101',
        number: '+14155550101',
        trunk_id: null,
        source_ip: null,
        started_at: record.started_at,
        answered_at: null,
        ended_at: null,
        status: 'completed',
        outcome: 'completed',
        sip_code: null,
        sip_reason: null,
        termination: null,
        termination_detail: null,
        hangup_by: null,
        codec: null,
        media: null,
        agent_kind: null,
        pathway_id: null,
        pathway_version: null,
        persona_id: null,
        max_duration: null,
        request_data: toJson({
          plan: 'gold',
          deep: [{ customerName: 'Ada', url: 'https://a.example/x' }],
        }),
        variables: toJson({ first_name: 'Grace' }),
        failover_attempts: null,
        metadata: toJson({}),
        webhook: null,
        transferred_to: null,
        answered_by: null,
      })
      .execute();
    const body = { pathway_id: pathwayId, call_id: 'call-1' };
    expect((await generate(body)).codes).toEqual(['EMPTY_TRANSCRIPT']);
    const entry = { id: 'e', at: record.started_at, node_id: null, node_name: null };
    await db
      .insertInto('transcript_parts')
      .values({
        call_id: 'call-1',
        entries: toJson([
          { ...entry, user: 'agent-action', text: 'went to node 77777' },
          { ...entry, user: 'user', text: 'Grace here, for Ada.' },
        ]),
        received_at: record.started_at,
      })
      .execute();
    const answer = await generate(body);
    expect(answer.status).toBe(200);
    expect(answer.body.request_data).toEqual({
      plan: 'gold',
      deep: [{ customerName: '[name]', url: '[url]' }],
    });
    expect(answer.text).not.toMatch(/Grace|Ada|a\.example|77777/);
    expect((await generate({ ...body, call_id: 'sip-1@pbx' })).body).toEqual(answer.body);
    const foreign = await createPathway(test.foreignKey);
    expect((await generate({ pathway_id: foreign, call_id: 'call-1' }, test.foreignKey)).codes).toEqual([
      'CALL_NOT_FOUND',
    ]);
  });

  it('is rejected without a source, without words of the caller, or for an unknown pathway', async () => {
    test.clock.advance(60_000);
    expect((await generate({ pathway_id: pathwayId })).status).toBe(400);
    expect((await generate({ pathway_id: pathwayId, transcript, call_id: 'x' })).status).toBe(400);
    const silent = [{ role: 'user', content: ' ' }];
    expect((await generate({ pathway_id: pathwayId, transcript: silent })).codes).toEqual([
      'EMPTY_TRANSCRIPT',
    ]);
    expect((await generate({ pathway_id: pathwayId, transcript: [] })).codes).toEqual(['EMPTY_TRANSCRIPT']);
    expect((await generate({ pathway_id: unknownId, transcript })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await generate({ persona_id: unknownId, transcript })).codes).toEqual(['PERSONA_NOT_FOUND']);
    expect((await generate({ pathway_id: pathwayId, call_id: 'none' })).codes).toEqual(['CALL_NOT_FOUND']);
  });

  it('is drafted at most ten times a minute', async () => {
    test.clock.advance(60_000);
    for (let i = 0; i < 10; i++) {
      expect((await generate({ pathway_id: pathwayId, transcript })).status).toBe(200);
    }
    const refused = await generate({ pathway_id: pathwayId, transcript });
    expect([refused.status, refused.codes]).toEqual([429, ['RATE_LIMITED']]);
  });
});
