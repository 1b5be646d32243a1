import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ForeignAgentAnswer,
  ForeignAgentList,
  type ForeignAgentWrite,
} from '#shared/api/agent-testing/foreign-agents.ts';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { ChatServer } from '../../../test/kit/fakes/chat-server.ts';
import { settingsOf, storedSettings } from './rules.ts';
import { findForeignAgent, mostAgents } from './store.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';
const secret = 'Bearer very-secret-value';

let test: TestControl;
let client: TestingClient;

beforeAll(async () => {
  test = await startControl({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
  client = new TestingClient(test);
});
afterAll(() => test.close());

const openai: ForeignAgentWrite = {
  name: 'Theirs',
  url: 'https://chat.example.com/v1/chat/completions',
  format: 'openai',
  model: 'their-model',
  headers: [{ name: 'Authorization', value: secret }],
};
const form: ForeignAgentWrite = {
  name: 'Form',
  url: 'https://chat.example.com/say',
  format: 'form',
  body: { text: '{{message}}' },
  reply: '/reply',
};

const number = '+14155550120';
const called: ForeignAgentWrite = { name: 'Desk', format: 'call', from: number, to: '+14155550121' };

const create = async (body: object = openai) =>
  (await client.call('POST', '/agents', body)).read(ForeignAgentAnswer);

describe('an agent of others', () => {
  it('is written, read, changed and forgotten, and its headers are not shown', async () => {
    const made = await create();
    expect(made).toMatchObject({
      name: 'Theirs',
      model: 'their-model',
      body: null,
      speaks_first: false,
      timeout_ms: 30_000,
      headers: [{ name: 'Authorization' }],
    });
    const read = await client.call('GET', `/agents/${made.id}`);
    expect(read.read(ForeignAgentAnswer)).toEqual(made);
    expect(read.text).not.toContain('very-secret');
    const changed = await client.call('PUT', `/agents/${made.id}`, {
      ...openai,
      name: 'Changed',
      headers: [{ name: 'authorization' }],
    });
    expect(changed.read(ForeignAgentAnswer)).toMatchObject({ id: made.id, name: 'Changed' });
    const { agents, total_count } = (await client.call('GET', '/agents?limit=1')).read(ForeignAgentList);
    expect([agents.map(({ name }) => name), total_count]).toEqual([['Changed'], 1]);
    expect((await client.call('DELETE', `/agents/${made.id}`)).status).toBe(200);
    expect((await client.call('GET', `/agents/${made.id}`)).codes).toEqual(['TEST_AGENT_NOT_FOUND']);
  });

  it('keeps a header only for the same host', async () => {
    const { id } = await create();
    const elsewhere = {
      ...openai,
      url: 'https://other.example.com/v1',
      headers: [{ name: 'Authorization' }],
    };
    const answer = await client.call('PUT', `/agents/${id}`, elsewhere);
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
  });

  it.each([
    [{ ...openai, url: 'http://chat.example.com' }, 'INVALID_PARAMETER'],
    [{ ...openai, url: 'https://10.0.0.1/' }, 'TARGET_NOT_ALLOWED'],
    [{ ...openai, model: null }, 'INVALID_PARAMETER'],
    [{ ...openai, reply: '/a' }, 'INVALID_PARAMETER'],
    [{ ...openai, speaks_first: true }, 'INVALID_PARAMETER'],
    [{ ...form, body: { text: 'always the same' } }, 'INVALID_PARAMETER'],
    [{ ...form, reply: undefined }, 'INVALID_PARAMETER'],
    [{ ...form, reply: 'reply' }, 'INVALID_PARAMETER'],
    [{ ...form, model: 'm' }, 'INVALID_PARAMETER'],
    [{ ...form, headers: [{ name: 'Host', value: 'x' }] }, 'INVALID_PARAMETER'],
    [{ ...form, headers: [{ name: 'X-A' }] }, 'INVALID_PARAMETER'],
    [{ ...form, headers: [{ name: 'X-A', value: 'a\r\nX-B: b' }] }, 'INVALID_PARAMETER'],
    [
      {
        ...form,
        headers: [
          { name: 'X-A', value: 'a' },
          { name: 'x-a', value: 'b' },
        ],
      },
      'INVALID_PARAMETER',
    ],
    [{ ...form, other: 1 }, 'UNKNOWN_PROPERTY'],
    [{ ...form, from: number }, 'INVALID_PARAMETER'],
    [{ ...called, to: undefined }, 'INVALID_PARAMETER'],
    [{ ...called, to: 'sip:bot@10.0.0.1' }, 'TARGET_NOT_ALLOWED'],
    [{ ...called, from: '12' }, 'INVALID_PARAMETER'],
    [{ ...called, timeout_ms: 5000 }, 'INVALID_PARAMETER'],
    [{ ...called, headers: [{ name: 'Contact', value: 'x' }] }, 'INVALID_PARAMETER'],
    [{ name: 'Bot', format: 'stream', url: 'https://bot.example.com' }, 'INVALID_PARAMETER'],
    [{ name: 'Bot', format: 'stream', url: 'wss://10.0.0.1/' }, 'TARGET_NOT_ALLOWED'],
    [{ name: 'Model', format: 'realtime', connection: 'none', instructions: 'x' }, 'INVALID_PARAMETER'],
  ])('is refused with what is wrong: %o', async (body, code) => {
    const answer = await client.call('POST', '/agents', body);
    expect([answer.status, answer.codes]).toEqual([400, [code]]);
  });

  it('is nobody else’s', async () => {
    const { id } = await create();
    const foreign = new TestingClient(test, test.foreignKey);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const answer = await foreign.call(method, `/agents/${id}`, method === 'PUT' ? openai : undefined);
      expect([method, answer.codes]).toEqual([method, ['TEST_AGENT_NOT_FOUND']]);
    }
    const scenario = await foreign.call('POST', '/scenarios', { name: 'x', agent_id: id });
    expect(scenario.codes).toEqual(['TEST_AGENT_NOT_FOUND']);
  });

  it('is one of a limited number', async () => {
    const { db } = test.control.services.database;
    const row = await findForeignAgent(db, test.orgId, (await create()).id);
    if (!row) throw new Error('no row');
    const { agents } = (await client.call('GET', '/agents')).read(ForeignAgentList);
    const more = Array.from({ length: mostAgents - agents.length }, (_, i) => ({ ...row, id: `more-${i}` }));
    await db.insertInto('test_agents').values(more).execute();
    const answer = await client.call('POST', '/agents', openai);
    expect([answer.status, answer.codes]).toEqual([409, ['QUOTA_EXCEEDED']]);
    await db.deleteFrom('test_agents').where('id', 'like', 'more-%').execute();
  });
});

describe('a scenario of an agent of others', () => {
  /** The API takes https only. */
  const lead = async (id: string, url: string) => {
    const { db } = test.control.services.database;
    const row = await findForeignAgent(db, test.orgId, id);
    if (!row) throw new Error('no row');
    const settings = storedSettings({ ...settingsOf(row), url });
    await db.updateTable('test_agents').set({ settings }).where('id', '=', id).execute();
  };

  it('is run against it: what can be heard is judged, what cannot be known is inconclusive', async () => {
    const server = await ChatServer.start((body) => {
      const { messages } = body as { messages: { content: string }[] };
      const content = messages.length === 1 ? 'What is your order number?' : 'Order 4711 is on its way.';
      return { body: { choices: [{ message: { content } }] } };
    });
    try {
      const { id: agent_id } = await create();
      await lead(agent_id, server.url);
      const scenarioId = await client.scenario({
        agent_id,
        scenario_type: 'REPLAY',
        input_messages: [
          { role: 'user', content: 'Where is my order?' },
          { role: 'user', content: 'It is 4711.' },
        ],
        assertions: [
          { type: 'STRING_CHECK', config: { value: 'on its way' } },
          { type: 'NODE_REACHED', config: { node_id: 'done' }, is_required: false },
          { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'order' }, is_required: false },
        ],
      });
      const run = await client.run(scenarioId);
      expect(run).toMatchObject({
        status: 'PASSED',
        agent_id,
        pathway_id: null,
        persona_id: null,
        version_number: 0,
        nodes_visited: [],
        evaluator: { agent: { provider: 'foreign', deterministic: false } },
      });
      expect(run.chat_history.map(({ content }) => content)).toEqual([
        'Where is my order?',
        'What is your order number?',
        'It is 4711.',
        'Order 4711 is on its way.',
      ]);
      const [said, ...unknown] = run.assertion_results;
      expect(said?.status).toBe('PASSED');
      for (const { reasoning, status } of unknown) {
        expect(status).toBe('INCONCLUSIVE');
        expect(reasoning).toContain('cannot be seen');
      }
      expect(server.asked[0]?.headers.authorization).toBe(secret);
      const listed = (await client.call('GET', `/runs?agent_id=${agent_id}`)).read(RunList);
      expect([listed.total_count, listed.runs.map(({ id }) => id)]).toEqual([1, [run.id]]);
      expect((await client.call('GET', `/runs?agent_id=${unknownId}`)).read(RunList).total_count).toBe(0);
      const used = await client.call('DELETE', `/agents/${agent_id}`);
      expect([used.status, used.codes]).toEqual([409, ['TEST_AGENT_IN_USE']]);
      const call = { transport: 'sip', phone_number: '+14155550100' };
      const overCall = await client.call('POST', `/scenarios/${scenarioId}/run`, call);
      expect([overCall.status, overCall.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    } finally {
      server.close();
    }
  });

  it('ends in ERROR with what the agent answered, when that is no conversation', async () => {
    const server = await ChatServer.start(() => ({ status: 401, body: {} }));
    try {
      const { id: agent_id } = await create();
      await lead(agent_id, server.url);
      const run = await client.run(await client.scenario({ agent_id, tester_persona_prompt: 'You ask.' }));
      expect(run).toMatchObject({
        status: 'ERROR',
        error_message: 'The tested agent answered with HTTP 401.',
      });
    } finally {
      server.close();
    }
  });

  it('gets another conversation id when the run is tried again', async () => {
    const asked: unknown[] = [];
    const server = await ChatServer.start((body) => {
      asked.push(body);
      return asked.length === 2 ? { status: 503, body: {} } : { body: { reply: 'Go on.' } };
    });
    try {
      const { id: agent_id } = await create({
        ...form,
        body: { id: '{{conversation_id}}', say: '{{message}}' },
      });
      await lead(agent_id, server.url);
      const input_messages = ['One.', 'Two.'].map((content) => ({ role: 'user', content }));
      const run = await client.run(
        await client.scenario({ agent_id, scenario_type: 'REPLAY', input_messages }),
      );
      const again = expect.stringMatching(`^${run.id}-\\d+$`);
      expect(asked).toEqual([
        { id: run.id, say: 'One.' },
        { id: run.id, say: 'Two.' },
        { id: again, say: 'One.' },
        { id: again, say: 'Two.' },
      ]);
    } finally {
      server.close();
    }
  });

  it('gets scenarios from templates', async () => {
    const { id: agent_id } = await create();
    const cloned = () => client.call('POST', '/templates/tmpl_happy_path/clone', { agent_id });
    expect((await cloned()).body.scenario).toMatchObject({ agent_id, pathway_id: null, name: 'Happy path' });
    expect((await cloned()).body.scenario).toMatchObject({ name: 'Happy path (2)' });
  });

  it('names exactly one target', async () => {
    const { id: agent_id } = await create();
    for (const body of [{ agent_id, persona_id: unknownId }, { agent_id, pathway_id: unknownId }, {}]) {
      const answer = await client.call('POST', '/scenarios', { name: 'x', ...body });
      expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    }
    const unknown = await client.call('POST', '/scenarios', { name: 'x', agent_id: unknownId });
    expect(unknown.codes).toEqual(['TEST_AGENT_NOT_FOUND']);
  });
});
