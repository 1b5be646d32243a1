/** Running runs, held by a caller's model that thinks: read, followed, canceled, overtaken by changes. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';
import { ModelServer } from '../../../test/kit/fakes/model-server.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import { cancelBatch } from './batches/start.ts';

let server: ModelServer;
let test: TestControl;
let client: TestingClient;
let pathway_id: string;
let answering: PromiseWithResolvers<void>;

beforeEach(async () => {
  server = await ModelServer.start();
  answering = Promise.withResolvers();
  test = await startControl(
    { LLM_TEST_BASE_URL: server.url, LLM_CALLER_MODEL: 'caller-1', QUOTAS: 'runsAtOnce=1' },
    {},
    {},
    { limits: { models: { maxRetries: 0 } } },
  );
  client = new TestingClient(test);
  pathway_id = await client.pathway(bookingGraph);
});
afterEach(() =>
  releaseAll(
    () => answering.resolve(),
    () => test.close(),
    () => server.close(),
  ),
);

const says = (text: string, delay?: Promise<unknown>) => {
  const answer = JSON.stringify({ action: 'say', text, keys: '', reason: '' });
  server.record({ text: [answer], ...(delay && { delay }) });
};
const scenario = (more: object = {}) =>
  client.scenario({
    pathway_id,
    max_turns: 2,
    assertions: [{ type: 'NODE_REACHED', config: { node_id: 'name' } }],
    ...more,
  });
/** A run whose caller has said one thing and thinks about the next. */
async function held(start: () => Promise<string>): Promise<string> {
  says('An appointment, please');
  says('Sam Reed', answering.promise);
  const id = await start();
  await server.asked(2);
  return id;
}

describe('a running run', () => {
  it('shows the transcript so far', async () => {
    const id = await scenario();
    const run = await held(() => client.start(id));
    const { body } = await client.call('GET', `/runs/${run}`);
    expect(body).toMatchObject({
      status: 'RUNNING',
      turn_count: 1,
      overall_score: null,
      started_at: '2030-01-01T00:00:00.000Z',
      completed_at: null,
      chat_history: [{ node_id: 'greet' }, { content: 'An appointment, please' }, { node_id: 'name' }],
    });
    answering.resolve();
    expect(await client.ended(run)).toMatchObject({ status: 'PASSED', turn_count: 2 });
  });

  it('is canceled at once, with its transcript, and stays canceled', async () => {
    const id = await scenario();
    const run = await held(() => client.start(id));
    const answer = await client.call('POST', `/runs/${run}/cancel`);
    expect([answer.status, answer.body.data]).toEqual([
      200,
      { id: run, status: 'CANCELLED', cancelled: true },
    ]);
    const cancelled = (await client.call('GET', `/runs/${run}`)).body;
    expect(cancelled).toMatchObject({
      status: 'CANCELLED',
      error_message: null,
      overall_score: null,
      completed_at: '2030-01-01T00:00:00.000Z',
      assertion_results: [],
    });
    expect(cancelled.chat_history).toHaveLength(3);
    expect((await client.call('POST', `/runs/${run}/cancel`)).codes).toEqual(['RUN_NOT_ACTIVE']);
    // Its place is free: the next one runs, and the first's aborted request has no effect.
    says('Hello');
    says('Hello');
    expect((await client.run(id)).status).toBe('PASSED');
    expect((await client.call('GET', `/runs/${run}`)).body.status).toBe('CANCELLED');
  });

  it('is followed over HTTP, each turn as it comes, and resumed from the last one', async () => {
    const base = await test.url();
    const id = await scenario();
    const run = await held(() => client.start(id));
    const url = `${base}/v1/agent-testing/runs/${run}/events`;
    const response = await fetch(url, { headers: { authorization: test.key } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('id: 1-3')) text += (await reader.read()).value ?? '';
    expect(text).toContain('event: state\ndata: {"id":');
    expect(text).toContain('id: 1-1\nevent: turn\ndata: {"role":"assistant","content":"Hello, this is');
    answering.resolve();
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text).toContain('"status":"PASSED"');
    expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true);
    const again = await fetch(url, { headers: { authorization: test.key, 'last-event-id': '1-4' } });
    const rest = await again.text();
    expect([...rest.matchAll(/^id: (.*)$/gm)].map(([, turn]) => turn)).toEqual(['1-5']);
  });

  it.each([
    ['scenario', (id: string) => ['DELETE', `/v1/agent-testing/scenarios/${id}`] as const],
    ['pathway', () => ['DELETE', `/v1/pathway/${pathway_id}`] as const],
  ])('leaves a second run waiting, whose stream ends when its %s is deleted', async (_, deletion) => {
    await held(async () => client.start(await scenario()));
    const id = await scenario({ name: 'Behind' });
    const waiting = await client.start(id);
    const url = `${await test.url()}/v1/agent-testing/runs/${waiting}/events`;
    const response = await fetch(url, { headers: { authorization: test.key } });
    const [method, path] = deletion(id);
    expect((await test.call(method, path)).status).toBe(200);
    const text = await response.text();
    expect(text).toContain('"status":"CANCELLED"');
    expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true);
  });

  it('has its stream closed when control ends', async () => {
    const base = await test.url();
    const id = await scenario();
    const run = await held(() => client.start(id));
    const response = await fetch(`${base}/v1/agent-testing/runs/${run}/events`, {
      headers: { authorization: test.key },
    });
    const text = response.text();
    const closed = once(test.control.app.server, 'close');
    const closing = test.close();
    expect(await text).not.toContain('event: end');
    await closing;
    await closed;
    test = await startControl();
  });
});

describe('a waiting run', () => {
  it('is canceled with its scenario, and its batch ends with it', async () => {
    const first = await scenario();
    const second = await scenario();
    const run = await held(() => client.start(first));
    const { body } = await client.call('POST', '/batch-run', { scenario_ids: [second] });
    expect((await client.call('DELETE', `/scenarios/${second}`)).status).toBe(200);
    const batch = (await client.call('GET', `/batches/${body.batch_id}`)).body;
    expect(batch).toMatchObject({
      status: 'CANCELLED',
      failed_scenarios: 1,
      runs: [{ status: 'CANCELLED' }],
    });
    answering.resolve();
    await client.ended(run);
  });

  it('tests the content when its turn comes, and records its hash', async () => {
    const id = await scenario();
    const run = await held(() => client.start(id));
    const waiting = await client.start(id);
    const before = (await client.call('GET', `/runs/${waiting}`)).body;
    expect(before).toMatchObject({ status: 'PENDING', chat_history: [], started_at: null });
    const nodes = bookingGraph.nodes.map((node) =>
      node.id === 'greet' ? { ...node, data: { ...node.data, text: 'Changed.' } } : node,
    );
    await test.call('POST', `/v1/pathway/${pathway_id}`, { body: { nodes, edges: bookingGraph.edges } });
    says('An appointment, please');
    says('Sam Reed');
    answering.resolve();
    expect((await client.ended(run)).content_hash).toBe(before.content_hash);
    const after = await client.ended(waiting);
    expect(after.chat_history).toMatchObject([{ content: 'Changed.' }, {}, {}, {}, {}]);
    expect(after.content_hash).not.toBe(before.content_hash);
  });
});

describe('a running batch', () => {
  it('is canceled as a whole', async () => {
    const scenario_ids = [await scenario(), await scenario()];
    const batch = await held(async () => {
      const { body } = await client.call('POST', '/batch-run', { scenario_ids });
      return String(body.batch_id);
    });
    expect((await client.call('GET', `/batches/${batch}`)).body.status).toBe('RUNNING');
    const { services } = test.control;
    const cancelled = await services.database.db
      .transaction()
      .execute((db) => cancelBatch(services, db, batch));
    expect(cancelled).toHaveLength(2);
    expect((await client.call('GET', `/batches/${batch}`)).body).toMatchObject({
      status: 'CANCELLED',
      failed_scenarios: 2,
      runs: [{ status: 'CANCELLED' }, { status: 'CANCELLED' }],
    });
  });
});

describe('the metrics', () => {
  it('count waiting, running and ended runs', async () => {
    const id = await scenario();
    const run = await held(() => client.start(id));
    const waiting = await client.start(id);
    const metrics = async () => (await test.call('GET', '/metrics', { key: test.operatorKey })).text;
    expect(await metrics()).toMatch(
      /^trunkline_control_test_runs 1$[\s\S]*^trunkline_control_test_runs_waiting 1$/m,
    );
    says('a');
    says('b');
    answering.resolve();
    await client.ended(run);
    await client.ended(waiting);
    expect(await metrics()).toMatch(/^trunkline_control_test_runs_ended_total\{status="PASSED"\} 2$/m);
  });
});
