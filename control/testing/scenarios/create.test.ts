import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { startRoutes, type TestControl } from '../../../test/kit/control/harness.ts';
import {
  base,
  createPathway,
  details,
  nodeReached,
  Scenarios,
  unknownId,
} from '../../../test/kit/control/scenarios.ts';

let test: TestControl;
let scenarios: Scenarios;
let pathwayId: string;
beforeAll(async () => {
  test = await startRoutes();
  scenarios = await Scenarios.of(test);
  ({ pathwayId } = scenarios);
});
afterAll(() => test.close());

describe('a new scenario', () => {
  it('is returned with its defaults, at top level and in data', async () => {
    const answer = await scenarios.create({ name: 'Defaults', assertions: [nodeReached('n1')] });
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
      agent_id: null,
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
      promotion_repeats: 1,
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
      promotion_repeats: 5,
      enabled: false,
      input_messages: [{ role: 'user', content: 'Hello', node_id: 'n1' }],
      advanced_instructions: 'Whisper.',
      metadata: { ticket: 7 },
    };
    const answer = await scenarios.create({ ...fields, category: 'VOICEMAIL_SCREENER' });
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
    const answer = await scenarios.create({ assertions });
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
    const answer = await scenarios.create(body);
    expect(answer.status).toBe(400);
    expect(answer.codes).toEqual([code]);
    expect(details(answer)).toMatchObject({ path });
    expect(answer.body.data).toBeNull();
  });

  it('requires a pathway or persona of the same organization', async () => {
    const foreign = await createPathway(test, test.foreignKey);
    expect((await scenarios.create({ pathway_id: foreign })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await scenarios.create({ pathway_id: unknownId })).status).toBe(404);
    expect((await scenarios.create({ pathway_id: undefined, persona_id: unknownId })).codes).toEqual([
      'PERSONA_NOT_FOUND',
    ]);
    expect((await scenarios.create({ pathway_id: 'nonsense' })).status).toBe(400);
  });

  it('requires a name that no other scenario of the pathway has', async () => {
    await scenarios.create({ name: 'Twice' });
    const again = await scenarios.create({ name: 'Twice' });
    expect([again.status, again.codes]).toEqual([409, ['SCENARIO_NAME_TAKEN']]);
    expect((await scenarios.create({ name: 'Twice', pathway_id: await createPathway(test) })).status).toBe(
      200,
    );
  });
});
