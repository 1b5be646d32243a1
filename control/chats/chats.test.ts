import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Understanding } from '#shared/agent/interfaces.ts';
import { ChatAnswered } from '#shared/api/chats.ts';
import { ModelUnavailable } from '#shared/models/model-unavailable.ts';
import { ruleDialogue } from '#shared/models/rule-dialogue.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { takeDatabase } from '../../test/kit/db/test-database.ts';
import { createApp } from '../app.ts';
import { demoEdges, demoNodes } from '../demo-pathway.ts';
import { pruneChats } from './store.ts';

/** Fails as often as a test sets. */
class FailingModel implements Understanding {
  readonly evaluator = ruleEngine.evaluator;
  failures = 0;
  readonly asked: string[] = [];
  extract = ruleEngine.extract;
  conditionHolds = ruleEngine.conditionHolds;
  generate: Understanding['generate'] = (question) => this.#fail() ?? ruleEngine.generate(question);
  chooseEdge: Understanding['chooseEdge'] = async (question) => {
    this.asked.push(question.text);
    return this.#fail() ?? ruleEngine.chooseEdge(question);
  };

  #fail(): Promise<never> | undefined {
    if (this.failures === 0) return undefined;
    this.failures--;
    return Promise.reject(new ModelUnavailable('timeout', 'm', 'https://a.example.com', 'no answer'));
  }
}

const model = new FailingModel();
const start = (env: Record<string, string> = {}) =>
  startControl(
    { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', ...env },
    {},
    { models: { understanding: model, dialogue: ruleDialogue } },
  );
const test = emptiedForEach(start);
beforeEach(() => {
  model.failures = 0;
  model.asked.length = 0;
});

const unknown = '00000000-0000-4000-8000-000000000000';
type Graph = { nodes: object[]; edges: object[] };
const demo: Graph = { nodes: demoNodes, edges: demoEdges };

async function pathwayOf(graph: Graph, on: TestControl = test): Promise<string> {
  const { body } = await on.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
  const id = String(body.pathway_id);
  const written = await on.call('POST', `/v1/pathway/${id}`, { body: graph });
  expect(written.status).toBe(200);
  return id;
}
const begin = (body: object, on: TestControl = test) => on.call('POST', '/v1/pathway/chat/create', { body });
const say = (chat: unknown, message: unknown, on: TestControl = test) =>
  on.call('POST', `/v1/pathway/chat/${String(chat)}`, { body: { message } });
const beginDemo = async (on: TestControl = test) =>
  String((await begin({ pathway_id: await pathwayOf(demo, on) }, on)).body.data?.chat_id);
const greeting = 'Welcome to Trunkline. Press 1 for sales, or press 2 for support.';

describe('a chat', () => {
  it("opens with the agent's first words, and ends where the pathway ends", async () => {
    const pathway_id = await pathwayOf(demo);
    const begun = await begin({ pathway_id, request_data: { name: 'Ann', call_id: 'mine' } });
    const chat = begun.body.data?.chat_id;
    expect([begun.status, begun.body]).toMatchObject([
      200,
      { data: { message: greeting, variables: { name: 'Ann', call_id: chat, input: '' } }, errors: null },
    ]);
    const odd = await say(chat, 'I want to fly');
    expect(odd.body.data).toMatchObject({ current_node_id: 'repeat', completed: false });
    const { body } = await say(chat, 'sales please');
    const bye = 'You have reached sales. Thank you for calling, goodbye.';
    expect(body).toMatchObject({
      data: {
        chat_id: chat,
        assistant_responses: [bye],
        current_node_id: 'sales',
        current_node_name: 'Sales',
        chat_history: [
          { role: 'assistant', content: greeting },
          { role: 'user', content: 'I want to fly' },
          { role: 'assistant' },
          { role: 'user', content: 'sales please' },
          { role: 'assistant', content: bye },
        ],
        pathway_id,
        pathway_version: 0,
        variables: { name: 'Ann', input: 'sales please' },
        completed: true,
      },
      errors: null,
    });
    const after = await say(chat, 'hello?');
    expect([after.status, after.codes]).toEqual([409, ['CHAT_COMPLETED']]);
  });

  it('has no opening words where the pathway listens first', async () => {
    const nodes = [{ id: 'a', type: 'Wait for Response', data: { isStart: true } }];
    const { body } = await begin({ pathway_id: await pathwayOf({ nodes, edges: [] }) });
    expect(body.data?.message).toBe(null);
  });

  it('uses the chosen version and start node', async () => {
    const pathway_id = await pathwayOf(demo);
    const nodes = [
      { id: 'a', type: 'Default', data: { isStart: true, text: 'One.' } },
      { id: 'b', type: 'Default', data: { text: 'Two.' } },
    ];
    await test.call('POST', `/v1/pathway/${pathway_id}/version`, { body: { name: 'v', nodes, edges: [] } });
    const message = async (body: object) => (await begin({ pathway_id, ...body })).body.data?.message;
    expect(await message({ pathway_version: 1 })).toBe('One.');
    expect(await message({ pathway_version: 1, start_node_id: 'b' })).toBe('Two.');
    expect(await message({})).toBe(greeting);
    await test.call('POST', `/v1/pathway/${pathway_id}/publish`, { body: { version_id: 1 } });
    expect(await message({})).toBe('One.');
    expect(await message({ pathway_version: 'staging' })).toBe('One.');
    expect(await message({ pathway_version: 0 })).toBe(greeting);
  });

  it('continues with its graph as of the start, whatever happens to the pathway', async () => {
    const pathway_id = await pathwayOf(demo);
    const chat = (await begin({ pathway_id })).body.data?.chat_id;
    const nodes = [{ id: 'new', type: 'Default', data: { isStart: true, text: 'New.' } }];
    await test.call('POST', `/v1/pathway/${pathway_id}`, { body: { nodes, edges: [] } });
    await test.call('DELETE', `/v1/pathway/${pathway_id}`);
    expect((await say(chat, '2')).body.data?.current_node_id).toBe('support');
  });

  it('continues in another pathway that a node leads to', async () => {
    const other = await pathwayOf(demo);
    const data = { isStart: true, transferPathwayId: other };
    const pathway_id = await pathwayOf({ nodes: [{ id: 'go', type: 'Transfer Pathway', data }], edges: [] });
    const begun = await begin({ pathway_id });
    expect(begun.body.data?.message).toBe(greeting);
    expect((await say(begun.body.data?.chat_id, '1')).body.data?.current_node_id).toBe('sales');
  });

  it('continues in the version of another pathway that is published when it begins', async () => {
    const other = await pathwayOf(demo);
    const words = (text: string) => ({
      name: text,
      nodes: [{ id: 'only', type: 'Default', data: { isStart: true, text } }],
      edges: [],
    });
    for (const text of ['In production.', 'In staging.']) {
      await test.call('POST', `/v1/pathway/${other}/version`, { body: words(text) });
    }
    const said = async (version: string) => {
      const data = { isStart: true, transferPathwayId: other, transferPathwayVersion: version };
      const pathway_id = await pathwayOf({
        nodes: [{ id: 'go', type: 'Transfer Pathway', data }],
        edges: [],
      });
      return (await begin({ pathway_id })).body.data?.message;
    };
    expect(await said('production')).toBe(greeting);
    await test.call('POST', `/v1/pathway/${other}/publish`, { body: { version_id: 1 } });
    expect(await said('staging')).toBe('In production.');
    const staging = { version_id: 2, environment: 'staging' };
    await test.call('POST', `/v1/pathway/${other}/publish`, { body: staging });
    expect([await said('production'), await said('staging')]).toEqual(['In production.', 'In staging.']);
  });

  it('survives a restart of the control plane', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chats-'));
    const database = await takeDatabase(join(folder, 'control.db'));
    const first = await start({ DATABASE_URL: database.address });
    const chat = await beginDemo(first);
    await say(chat, 'hm', first);
    await first.close();
    const { config, clock } = first.control.services;
    const control = await createApp({ config, clock, logger: first.control.app.log, checkAnswers: true });
    const response = await control.app.inject({
      method: 'POST',
      url: `/v1/pathway/chat/${chat}`,
      headers: { authorization: first.key },
      payload: { message: '1' },
    });
    expect(response.json()).toMatchObject({
      data: { current_node_id: 'sales', completed: true, chat_history: { length: 5 } },
    });
    await control.close();
    await database.release();
    rmSync(folder, { recursive: true });
  });

  it('continues after any number of misunderstandings, and always answers', async () => {
    const nodes = [
      { id: 'wait', type: 'Wait for Response', data: { isStart: true } },
      { id: 'menu', type: 'Default', data: { text: 'Sales or support?' } },
      { id: 'sales', type: 'End Call', data: { text: 'Sales it is.' } },
    ];
    const edges = [
      { source: 'wait', target: 'menu', data: { label: 'menu' } },
      { source: 'wait', target: 'sales', data: { label: 'sales' } },
      { source: 'menu', target: 'sales', data: { label: 'sales' } },
      { source: 'menu', target: 'wait', data: { label: 'back' } },
    ];
    const begun = await begin({ pathway_id: await pathwayOf({ nodes, edges }) });
    expect(begun.body.data?.message).toBe(null);
    const chat = begun.body.data?.chat_id;
    const answers = async (message: string) => {
      const { body } = await say(chat, message);
      return [body.data?.assistant_responses, body.data?.completed];
    };
    const sorry = 'I am sorry, I did not understand that. Could you say that another way, please?';
    for (let count = 0; count < 5; count++) expect(await answers('gibberish')).toEqual([[sorry], false]);
    expect(await answers('menu')).toEqual([['Sales or support?'], false]);
    for (let count = 0; count < 5; count++) {
      expect(await answers('gibberish')).toEqual([['Sales or support?'], false]);
    }
    expect(await answers('sales')).toEqual([['Sales it is.'], true]);
  });

  it('is kept for 24 hours after its last message', async () => {
    const { db } = test.control.services.database;
    const chat = await beginDemo();
    const hours = (count: number) => test.clock.advance(count * 60 * 60 * 1000);
    hours(23);
    expect((await say(chat, 'hm')).status).toBe(200);
    hours(23);
    expect(await pruneChats(db, test.clock)).toBe(0);
    expect((await say(chat, 'hm')).status).toBe(200);
    hours(24);
    expect((await say(chat, 'hm')).codes).toEqual(['CHAT_NOT_FOUND']);
    await pruneChats(db, test.clock);
    expect(await db.selectFrom('chats').select('id').execute()).toEqual([]);
  });

  it('answers overlapping messages one after the other', async () => {
    const chat = await beginDemo();
    const answers = await Promise.all(['first', 'second', 'third'].map((text) => say(chat, text)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    // Requests that overlap may reach the chat in any order, but the order is the same for all.
    expect(model.asked.toSorted()).toEqual(['first', 'second', 'third']);
    const said = answers.map((answer) => {
      const { chat_history: history } = answer.read(ChatAnswered).data;
      return history.filter(({ role }) => role === 'user').map(({ content }) => content);
    });
    expect(said.sort((a, b) => a.length - b.length)).toEqual([1, 2, 3].map((n) => model.asked.slice(0, n)));
  });
});

describe('a model that fails', () => {
  it('leaves the chat unchanged, so that the message can be resent', async () => {
    const chat = await beginDemo();
    model.failures = 1;
    const refused = await say(chat, 'sales please');
    expect([refused.status, refused.codes]).toEqual([502, ['MODEL_UNAVAILABLE']]);
    expect(refused.body.errors).toMatchObject([
      { message: 'The language model m at https://a.example.com is unavailable: no answer' },
    ]);
    const { body } = await say(chat, 'sales please');
    expect(body.data).toMatchObject({ completed: true, chat_history: { length: 3 } });
  });

  it('prevents a chat from starting', async () => {
    const data = { isStart: true, prompt: 'Greet.' };
    const pathway_id = await pathwayOf({ nodes: [{ id: 'a', type: 'Default', data }], edges: [] });
    model.failures = 1;
    const refused = await begin({ pathway_id });
    expect([refused.status, refused.codes]).toEqual([502, ['MODEL_UNAVAILABLE']]);
    expect((await begin({ pathway_id })).status).toBe(200);
  });
});

describe('a webhook of a chat', () => {
  it('is actually called, and its response is used', async () => {
    const seen: { method?: string | undefined; url?: string | undefined; body: string }[] = [];
    const server = createServer((request, response) => {
      readAll(request).then((body) => {
        seen.push({ method: request.method, url: request.url, body });
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ price: 42 }));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const nodes = [
      { id: 'ask', type: 'Default', data: { isStart: true, text: 'What?' } },
      {
        id: 'hook',
        type: 'Webhook',
        data: {
          url: `http://127.0.0.1:${port}/price`,
          method: 'POST',
          body: { item: '{{input}}' },
          responseData: [{ name: 'price', data: '$.price', context: '' }],
        },
      },
      { id: 'tell', type: 'End Call', data: { text: 'It costs {{price}}.' } },
    ];
    const edges = [
      { source: 'ask', target: 'hook', data: { label: 'anything' } },
      { source: 'hook', target: 'tell', data: { label: 'success' } },
    ];
    const chat = (await begin({ pathway_id: await pathwayOf({ nodes, edges }) })).body.data?.chat_id;
    const { body } = await say(chat, 'a table');
    expect(body.data).toMatchObject({
      assistant_responses: ['It costs 42.'],
      variables: { price: 42 },
      completed: true,
    });
    expect(seen).toEqual([{ method: 'POST', url: '/price', body: '{"item":"a table"}' }]);
    await new Promise((done) => server.close(done));
  });

  it('does not reach private networks by a name', async () => {
    const resolve = async () => ['10.0.0.1'];
    const strict = await startControl({}, { resolve });
    const { body } = await strict.call('POST', '/v1/pathway/create', { body: { name: 'x' } });
    const nodes = [
      { id: 'hook', type: 'Webhook', data: { isStart: true, url: 'https://a.example.com/', method: 'GET' } },
      { id: 'bad', type: 'End Call', data: { text: 'Failed.' } },
    ];
    const edges = [{ source: 'hook', target: 'bad', data: { label: 'failure' } }];
    await strict.call('POST', `/v1/pathway/${String(body.pathway_id)}`, { body: { nodes, edges } });
    const begun = await strict.call('POST', '/v1/pathway/chat/create', {
      body: { pathway_id: body.pathway_id },
    });
    expect(begun.body.data?.message).toBe('Failed.');
    await strict.close();
  });

  it('in a loop ends the chat', async () => {
    const data = { isStart: true, url: 'http://127.0.0.1:1/', method: 'GET' };
    const nodes = [{ id: 'hook', type: 'Webhook', data }];
    const edges = [{ source: 'hook', target: 'hook', data: { label: 'failure' } }];
    const begun = await begin({ pathway_id: await pathwayOf({ nodes, edges }) });
    expect((await say(begun.body.data?.chat_id, 'x')).codes).toEqual(['CHAT_COMPLETED']);
  });
});

describe('every chat endpoint', () => {
  it.each([
    {},
    { pathway_id: 'x' },
    { pathway_id: unknown, pathway_version: -1 },
    { pathway_id: unknown, pathway_version: 'newest' },
    { pathway_id: unknown, request_data: [] },
    { pathway_id: unknown, more: 1 },
  ])('rejects a start with %j', async (body) => {
    const answer = await begin(body);
    expect([answer.status, answer.body.data]).toEqual([400, null]);
  });

  it('is 404 for unknown and foreign ids, and requires a key', async () => {
    const pathway_id = await pathwayOf(demo);
    expect((await begin({ pathway_id: unknown })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await begin({ pathway_id, pathway_version: 7 })).codes).toEqual(['VERSION_NOT_FOUND']);
    const node = await begin({ pathway_id, start_node_id: 'none' });
    expect(node.body.errors).toMatchObject([
      { code: 'INVALID_PARAMETER', details: { path: '/start_node_id' } },
    ]);
    const url = '/v1/pathway/chat/create';
    const foreign = await test.call('POST', url, { body: { pathway_id }, key: test.foreignKey });
    expect(foreign.codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await test.call('POST', url, { body: { pathway_id }, key: null })).status).toBe(401);
    const chat = `/v1/pathway/chat/${String((await begin({ pathway_id })).body.data?.chat_id)}`;
    const body = { message: 'hm' };
    expect((await test.call('POST', chat, { body, key: test.foreignKey })).codes).toEqual(['CHAT_NOT_FOUND']);
    expect((await test.call('POST', chat, { body, key: null })).body.data).toBe(null);
    for (const id of [unknown, 'none']) expect((await say(id, 'hm')).codes).toEqual(['CHAT_NOT_FOUND']);
    for (const message of ['', 'x'.repeat(4001), 5, null, undefined]) {
      expect((await test.call('POST', chat, { body: { message } })).codes).toEqual(['INVALID_PARAMETER']);
    }
  });
});

async function readAll(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
