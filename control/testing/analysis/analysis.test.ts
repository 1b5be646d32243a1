import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RunAnalysis } from '#shared/api/agent-testing/runs.ts';
import {
  faultyGraph,
  harshPrompt,
  missingEdge,
  missingVariable,
  replay,
  soundBooking,
  unreachableNode,
  wrongTransfer,
} from '../../../test/kit/control/dental.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';

/** Of the present test. */
let client: TestingClient;
let pathway = '';
async function begin(test: TestControl): Promise<void> {
  client = new TestingClient(test);
  pathway = await client.pathway(faultyGraph);
}

const analyze = (runId: unknown) => client.call('POST', `/runs/${String(runId)}/analyze`);
async function failing(scenario: object): Promise<string> {
  const run = await client.run(await client.scenario({ pathway_id: pathway, ...scenario }));
  expect(String(run.status)).toBe('FAILED');
  return String(run.id);
}

describe('by rules', () => {
  const test = emptiedForEach(startControl);
  beforeEach(() => begin(test));

  it.each([
    ['a missing edge', missingEdge, 'flow', 'flow_change', 'greet', '“Opening hours”'],
    ['an unreachable node', unreachableNode, 'flow', 'flow_change', 'pain', '“Emergency”'],
    ['a missing variable', missingVariable, 'data', 'node_config', 'book', '"account_number","integer"'],
    ['a wrong transfer number', wrongTransfer, 'data', 'node_config', 'billing', '+14155550123'],
    ['a harsh prompt', harshPrompt, 'prompt', 'tone_improvement', 'complaint', 'I am sorry about that'],
    [
      'a test without a check',
      { ...soundBooking, assertions: [] },
      'harness',
      'node_config',
      null,
      'Add an assertion',
    ],
    [
      'an assertion that cannot be judged',
      { ...soundBooking, assertions: [{ type: 'LLM_JUDGE', config: { prompt: 'Is it poetry?' } }] },
      'harness',
      'node_config',
      null,
      'LLM_JUDGE_MODEL',
    ],
    [
      'an assertion about an unknown node',
      { ...soundBooking, assertions: [{ type: 'NODE_REACHED', config: { node_id: 'ghost' } }] },
      'harness',
      'node_config',
      null,
      'Name a node of the pathway',
    ],
  ] as const)('%s is found', async (_fault, scenario, cause, type, target, change) => {
    const answer = await analyze(await failing(scenario));
    expect(answer.status).toBe(200);
    const { analysis } = answer.read(RunAnalysis);
    expect(analysis).toMatchObject({ root_cause_class: cause });
    const [first] = analysis.suggestions;
    expect(first).toMatchObject({ type, target_node_id: target });
    expect(String(first?.suggested_change)).toContain(change);
  });

  it('names the nodes, sorts by confidence, and returns the same again', async () => {
    const run = await failing(missingEdge);
    const body = (await analyze(run)).read(RunAnalysis);
    expect(body.data.analysis).toEqual(body.analysis);
    expect(body.analysis.node_id_to_name).toEqual({ greet: 'Greeting', emergency: 'Emergency' });
    const confidences = body.analysis.suggestions.map(({ confidence }) => confidence);
    expect(confidences).toEqual(confidences.toSorted((a, b) => b - a));
    // Stored with the run: the pathway may be changed or deleted.
    await test.call('DELETE', `/v1/pathway/${pathway}`);
    expect((await analyze(run)).body).toEqual(body);
  });

  it('is for failed runs only', async () => {
    const passed = await client.run(await client.scenario({ pathway_id: pathway, ...soundBooking }));
    expect((await analyze(passed.id)).codes).toEqual(['RUN_NOT_FAILED']);
    expect((await analyze('nothing')).codes).toEqual(['RUN_NOT_FOUND']);
    const { db } = test.control.services.database;
    await db
      .updateTable('test_runs')
      .set({ status: 'RUNNING' })
      .where('id', '=', String(passed.id))
      .execute();
    expect((await analyze(passed.id)).codes).toEqual(['RUN_NOT_FINISHED']);
    const failed = await failing(missingEdge);
    const foreign = { key: test.foreignKey };
    const url = `/v1/agent-testing/runs/${failed}/analyze`;
    expect((await test.call('POST', url, foreign)).codes).toEqual(['RUN_NOT_FOUND']);
  });
});

describe('by a language model', () => {
  let server: Server;
  let answer: object = {};
  let asked = '';
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      asked = '';
      for await (const part of request) asked += String(part);
      const content = JSON.stringify(answer);
      const body = {
        id: 'a',
        object: 'chat.completion',
        created: 0,
        model: 'judge',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  const test = emptiedForEach(() => {
    const { port } = server.address() as AddressInfo;
    return startControl({ LLM_TEST_BASE_URL: `http://127.0.0.1:${port}`, LLM_JUDGE_MODEL: 'judge' });
  });
  beforeEach(() => begin(test));
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const suggestion = (more: object) => ({
    type: 'prompt_change',
    target_node_id: 'greet',
    description: 'The greeting does not say what it can do.',
    suggested_change: 'Say what callers can ask for.',
    confidence: 0.99,
    quotes: [{ turn: 0, quote: 'How can I help you?' }],
    ...more,
  });

  it('keeps actual quotes and existing nodes, besides the findings of rules', async () => {
    answer = {
      root_cause_class: 'flow',
      root_cause: 'Nobody foresaw the question.',
      suggestions: [
        suggestion({}),
        suggestion({ description: 'Invented.', quotes: [{ turn: 1, quote: 'Ignore the rules.' }] }),
        suggestion({ target_node_id: 'ghost', suggested_change: 'Elsewhere.', confidence: 0.1, quotes: [] }),
      ],
    };
    const { analysis } = (await analyze(await failing(missingEdge))).read(RunAnalysis);
    expect(analysis).toMatchObject({
      root_cause_class: 'flow',
      root_cause: 'Nobody foresaw the question.',
    });
    expect(
      analysis.suggestions.map(({ target_node_id, confidence }) => [target_node_id, confidence]),
    ).toEqual([
      ['greet', 0.99],
      ['greet', 0.9],
      // Unreachable, which has nothing to do with this run.
      ['emergency', 0.2],
    ]);
    // The conversation is data in the question, not part of the instructions.
    const { messages } = JSON.parse(asked) as { messages: { role: string; content: string }[] };
    expect(messages[0]).toMatchObject({
      role: 'system',
      content: expect.not.stringContaining('When are you'),
    });
  });

  it("answers 502 when the model's output is unusable, and stores nothing", async () => {
    answer = { nonsense: true };
    const run = await failing(replay('Asks', ['When are you open?'], missingEdge.assertions));
    const refused = await analyze(run);
    expect([refused.status, refused.codes]).toEqual([502, ['MODEL_UNAVAILABLE']]);
    answer = { root_cause_class: 'flow', root_cause: 'A gap.', suggestions: [] };
    expect((await analyze(run)).body.analysis).toMatchObject({ root_cause: 'A gap.' });
  });
});
