import { describe, expect, it } from 'vitest';
import type { DialogueModel, DialoguePart, DialogueQuestion } from '#shared/agent/dialogue.ts';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { PersonaTextAgent, TextGraph } from './text-agent.ts';
import type { TextSessionParts, TextState, ToolConversation } from './text-parts.ts';
import { TextSession } from './text-session.ts';

/** Answers each question with the test's script. */
class ScriptedModel implements DialogueModel {
  readonly evaluator = { provider: 'script', model: 'script', deterministic: true };
  readonly questions: DialogueQuestion[] = [];
  readonly #script: DialoguePart[][];
  constructor(...script: DialoguePart[][]) {
    this.#script = script;
  }
  async *reply(question: DialogueQuestion): AsyncGenerator<DialoguePart> {
    this.questions.push(question);
    const parts = this.#script.shift();
    if (!parts) throw new Error('the script is over');
    yield* parts;
  }
}

const text = (words: string): DialoguePart => ({ type: 'text', text: words });
const call = (name: string, input: unknown): DialoguePart => ({
  type: 'call',
  call: { id: 'c', name, input },
});
const menu: TextGraph = {
  pathwayId: 'p',
  version: 3,
  nodes: [
    { id: 'ask', type: 'Default', data: { isStart: true, name: 'Ask', text: 'Sales or support?' } },
    { id: 'sales', type: 'End Call', data: { name: 'Sales', text: 'Sales it is.' } },
  ],
  edges: [{ source: 'ask', target: 'sales', data: { label: 'sales' } }],
  tools: [],
};

const persona: PersonaTextAgent = {
  kind: 'persona',
  orgId: 'o',
  settings: {
    kind: 'persona',
    persona_id: 'a',
    persona_version: 1,
    name: 'Ann',
    role: 'Host',
    orchestration_prompt: 'Greet {{guest}}.',
    personality_prompt: 'Calm.',
    pathway_conditions: [
      { name: 'Menu', prompt: 'When asked', pathway_id: 'p', pathway_version: 3, start_node_id: null },
    ],
    first_sentence: null,
    wait_for_greeting: false,
    block_interruptions: false,
    ignore_button_press: false,
    voice: null,
    language: 'en-US',
    interruption_threshold: 500,
    timezone: 'UTC',
    max_duration: 30,
    request_data: {},
    fallback_number: null,
    tools: [
      {
        tool_id: 'TL-t',
        name: 'price',
        description: 'Price',
        input_schema: null,
        speech: null,
        timeout_ms: 1,
      },
    ],
  },
  graphs: [menu],
};

const partsWith = (dialogue: DialogueModel, more: Partial<TextSessionParts> = {}): TextSessionParts => ({
  models: { understanding: ruleEngine, dialogue },
  webhook: async () => ({ status: null, body: null, error: 'none' }),
  tools: null,
  clock: { now: () => 0 },
  ...more,
});
const facts = { id: 'chat', variables: { guest: 'Bob' } };
const stored = (session: TextSession): TextState => JSON.parse(JSON.stringify(session.state));

describe('a text session with a persona', () => {
  it('joins the sentences of an answer, and emits each as soon as it is available', async () => {
    const model = new ScriptedModel([text('Hello Bob. How are'), text(' you?')]);
    const session = new TextSession(partsWith(model), persona, facts);
    const pieces: string[] = [];
    const turn = await session.open((piece) => pieces.push(piece));
    expect(turn).toMatchObject({ messages: ['Hello Bob. How are you?'], completed: false, node: null });
    expect(pieces).toEqual(['Hello Bob.', 'How are you?']);
    expect(model.questions[0]?.system).toContain('Bob');
  });

  it('uses its tools, and reports each call in its turn', async () => {
    const model = new ScriptedModel(
      [text('Hi.')],
      [call('price', { item: 'x' })],
      [text('42.')],
      [text('Bye.')],
    );
    const asked: [readonly { readonly name: string }[], ToolConversation][] = [];
    const runner: ToolRunner = {
      list: () => [{ name: 'price', description: 'Price', inputSchema: { type: 'object' }, speech: null }],
      run: async () => ({ ok: true, data: 42, error: null, variables: { price: 42 } }),
    };
    const tools: TextSessionParts['tools'] = (given, conversation) => {
      asked.push([given, conversation]);
      return runner;
    };
    const session = new TextSession(partsWith(model, { tools }), persona, { ...facts, source: 'test' });
    await session.open();
    const turn = await session.step('How much?');
    expect(turn).toMatchObject({ messages: ['42.'], variables: { price: 42, guest: 'Bob' } });
    expect(turn.toolCalls).toMatchObject([{ name: 'price', input: { item: 'x' }, result: { data: 42 } }]);
    expect(asked).toMatchObject([
      [[{ name: 'price' }], { orgId: 'o', conversationId: 'chat', source: 'test' }],
    ]);
    expect((await session.step('Thanks')).toolCalls).toEqual([]);
  });

  it('is resumed in the pathway that it continued in', async () => {
    const model = new ScriptedModel([text('Hi.')], [call('go_to_pathway', { name: 'Menu' })]);
    const parts = partsWith(model);
    const first = new TextSession(parts, persona, facts);
    await first.open();
    const second = new TextSession(parts, persona, facts, stored(first));
    const entered = await second.step('The menu, please');
    expect(entered).toMatchObject({ messages: ['Sales or support?'], node: { id: 'ask', name: 'Ask' } });
    const third = new TextSession(parts, persona, facts, stored(second));
    expect(await third.step('sales')).toMatchObject({
      messages: ['Sales it is.'],
      node: { id: 'sales' },
      completed: true,
      visits: [{ nodeId: 'sales', pathwayId: 'p' }],
    });
    expect(third.history.map(({ text: words }) => words)).toEqual([
      'Hi.',
      'The menu, please',
      'Sales or support?',
      'sales',
      'Sales it is.',
    ]);
    const over = new TextSession(parts, persona, facts, stored(third));
    expect(await over.step('hello?')).toMatchObject({ messages: [], completed: true });
  });
});

describe('a persona that waits for a greeting', () => {
  const waiting = { ...persona, settings: { ...persona.settings, wait_for_greeting: true } };

  it('says nothing before the person has written, and answers that', async () => {
    const model = new ScriptedModel([text('Good day. Sales or support?')]);
    const session = new TextSession(partsWith(model), waiting, facts);
    expect(await session.open()).toMatchObject({ messages: [], completed: false });
    expect(model.questions).toEqual([]);
    const again = new TextSession(partsWith(model), waiting, facts, stored(session));
    expect((await again.step('Hello?')).messages).toEqual(['Good day. Sales or support?']);
    expect(model.questions[0]?.messages).toEqual([{ role: 'user', text: 'Hello?' }]);
  });

  it('still has its configured first words', async () => {
    const settings = { ...waiting.settings, first_sentence: 'Welcome!' };
    const session = new TextSession(partsWith(new ScriptedModel()), { ...waiting, settings }, facts);
    expect((await session.open()).messages).toEqual(['Welcome!']);
  });
});

describe('a pathway that a persona continues in', () => {
  it('is not ended by misunderstandings in text, and is in a simulated call', async () => {
    const [ask = {}, sales = {}] = menu.nodes;
    const support = { ...sales, id: 'support' };
    const edges = [...menu.edges, { source: 'ask', target: 'support', data: { label: 'support' } }];
    const graphs = [{ ...menu, nodes: [ask, sales, support], edges }];
    const enter = () => new ScriptedModel([text('Hi.')], [call('go_to_pathway', { name: 'Menu' })]);
    const misunderstood = async (source: 'chat' | 'test') => {
      const session = new TextSession(partsWith(enter()), { ...persona, graphs }, { ...facts, source });
      await session.open();
      await session.step('The menu, please');
      for (let count = 0; count < 5 && !session.completed; count++) await session.step('gibberish');
      return session.completed;
    };
    expect(await misunderstood('chat')).toBe(false);
    expect(await misunderstood('test')).toBe(true);
  });
});

describe('a text session with a pathway', () => {
  const pathway = (nodes: TextGraph['nodes'], edges: TextGraph['edges']) => ({
    kind: 'pathway' as const,
    orgId: 'o',
    pathwayId: 'p',
    version: 0,
    startNodeId: null,
    firstSentence: 'Good day.',
    graphs: [{ pathwayId: 'p', version: 0, nodes, edges, tools: persona.settings.tools ?? [] }],
  });

  it('reports what each turn added: nodes, log, webhooks', async () => {
    const nodes = [
      { id: 'a', type: 'Default', data: { isStart: true, text: 'What?' } },
      { id: 'w', type: 'Webhook', data: { url: 'https://a.example.com/', method: 'GET' } },
      { id: 'b', type: 'Default', data: { text: 'Done.' } },
    ];
    const edges = [
      { source: 'a', target: 'w', data: { label: 'anything' } },
      { source: 'w', target: 'b', data: { label: 'success' } },
    ];
    const webhook: TextSessionParts['webhook'] = async () => ({ status: 200, body: {}, error: null });
    const session = new TextSession(
      partsWith(new ScriptedModel(), { webhook }),
      pathway(nodes, edges),
      facts,
    );
    expect(await session.open()).toMatchObject({
      messages: ['Good day.'],
      visits: [{ nodeId: 'a' }],
      log: [],
    });
    const turn = await session.step('go');
    expect(turn).toMatchObject({
      messages: ['Done.'],
      visits: [{ nodeId: 'w' }, { nodeId: 'b' }],
      webhookCalls: [{ nodeId: 'w', url: 'https://a.example.com/', statusCode: 200 }],
      node: { id: 'b' },
    });
    expect(turn.log.map(({ nodeId }) => nodeId)).toEqual(['a', 'w', 'w']);
  });

  it.each([
    ['4091#', { staff: 4091 }, ['Done: 4091']],
    ['40912#', { staff: 40912 }, ['Done: 40912']],
    ['40912', { staff: 40912 }, ['Done: 40912']],
    ['*#', {}, ['Staff number?']],
  ])('takes the keys %s as a call does', async (keys, variables, messages) => {
    const nodes = [
      { id: 'menu', type: 'Default', data: { isStart: true, text: 'Press 1.' } },
      {
        id: 'pin',
        type: 'Default',
        data: {
          text: 'Staff number?',
          extractVars: [['staff', 'integer', 'staff number']],
          dtmf: { maxDigits: 5 },
        },
      },
      { id: 'done', type: 'End Call', data: { text: 'Done: {{staff}}' } },
    ];
    const edges = [
      { source: 'menu', target: 'pin', data: { label: 'press 1' } },
      { source: 'pin', target: 'done', data: { label: 'entered' } },
    ];
    const session = new TextSession(partsWith(new ScriptedModel()), pathway(nodes, edges), facts);
    await session.open();
    await session.press('1');
    expect((await session.press(keys)).messages).toEqual(messages);
    expect(session.learned).toEqual(variables);

    const together = new TextSession(partsWith(new ScriptedModel()), pathway(nodes, edges), facts);
    await together.open();
    expect((await together.press(`1${keys}`)).messages).toEqual(['Staff number?', ...messages]);
  });

  it('runs the tools of its nodes, each by its id', async () => {
    const tools: TextSessionParts['tools'] = (given) => ({
      list: () => [],
      run: async (name, input, _signal, variables) => {
        const data = [given.map((tool) => tool.tool_id), name, input, variables.guest];
        return { ok: true, data, error: null, variables: { price: 42 } };
      },
    });
    const ask = { isStart: true, tools: ['TL-t'], text: 'It costs {{price}}.' };
    const agent = { ...pathway([{ id: 'a', type: 'Default', data: ask }], []), firstSentence: null };
    const session = new TextSession(partsWith(new ScriptedModel(), { tools }), agent, facts);
    expect(await session.open()).toMatchObject({
      messages: ['It costs 42.'],
      toolCalls: [{ name: 'price', input: {}, result: { ok: true, data: [['TL-t'], 'price', {}, 'Bob'] } }],
    });
    const without = new TextSession(partsWith(new ScriptedModel()), agent, facts);
    expect((await without.open()).log.map(({ message }) => message)).toContain(
      'the tool failed: tools cannot be run here',
    );
  });

  it('ends where the call would be transferred', async () => {
    const data = { isStart: true, text: 'One moment.', transferNumber: '+14155550123' };
    const nodes = [{ id: 't', type: 'Transfer Call', data }];
    const session = new TextSession(
      partsWith(new ScriptedModel()),
      { ...pathway(nodes, []), firstSentence: null },
      facts,
    );
    const turn = await session.open();
    expect(turn).toMatchObject({
      messages: ['One moment.'],
      lines: [{ text: 'One moment.', nodeId: 't' }],
      completed: true,
      ending: { by: 'transfer' },
    });
    expect(turn.log[0]?.message).toContain('+14155550123');
  });

  it('ends when webhooks call each other endlessly', async () => {
    let calls = 0;
    const webhook: TextSessionParts['webhook'] = async () => {
      calls++;
      return { status: 200, body: {}, error: null };
    };
    const data = { isStart: true, url: 'https://a.example.com/', method: 'GET' };
    const edges = [{ source: 'w', target: 'w', data: { label: 'success' } }];
    const agent = pathway([{ id: 'w', type: 'Webhook', data }], edges);
    const session = new TextSession(partsWith(new ScriptedModel(), { webhook }), agent, facts);
    expect(await session.open()).toMatchObject({ completed: true, ending: { by: 'loop' } });
    expect(calls).toBe(26);
  });

  it("rejects with the model's error, and its previous state can be resumed", async () => {
    const nodes = [
      { id: 'a', type: 'Default', data: { isStart: true, text: 'What?' } },
      { id: 'b', type: 'End Call', data: { text: 'Sales.' } },
    ];
    const agent = pathway(nodes, [{ source: 'a', target: 'b', data: { label: 'sales' } }]);
    const failing = { ...ruleEngine, chooseEdge: () => Promise.reject(new Error('no model')) };
    const dialogue = new ScriptedModel();
    const session = new TextSession(
      partsWith(dialogue, { models: { understanding: failing, dialogue } }),
      agent,
      facts,
    );
    await session.open();
    const state = stored(session);
    await expect(session.step('sales')).rejects.toThrow('no model');
    const again = new TextSession(partsWith(dialogue), agent, facts, state);
    expect(await again.step('sales')).toMatchObject({
      messages: ['Sales.'],
      completed: true,
      ending: { by: 'agent', reason: 'the pathway reached its End Call node' },
    });
  });
});
