import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { type ChatAnswer, ChatServer } from '../../../test/kit/fakes/chat-server.ts';
import { RunUsage } from '../judging/usage.ts';
import { ForeignChat } from './chat.ts';
import { type ForeignSettings, unset } from './rules.ts';

let server: ChatServer | null = null;
let usage = new RunUsage(null);
let tool = (_name: string, _input: unknown): unknown => ({});

afterEach(() => {
  server?.close();
  server = null;
  usage = new RunUsage(null);
});

const openai = { format: 'openai', model: 'm', body: null, reply: null, ended: null } as const;
const form = {
  format: 'form',
  model: null,
  body: { text: 'Caller: {{message}}', ids: ['{{conversation_id}}'], past: '{{history}}', n: 1 },
  reply: '/out/0/say',
  ended: '/over',
} as const;

async function chatWith(
  answer: (body: unknown) => ChatAnswer,
  settings: Partial<ForeignSettings>,
): Promise<ForeignChat> {
  server = await ChatServer.start(answer);
  return new ForeignChat({
    settings: { ...unset, ...openai, url: server.url, timeout_ms: 5000, ...settings },
    headers: [{ name: 'Authorization', value: 'Bearer secret' }],
    outgoing: { clock: systemClock, allowedTargets: parseNetworks(['127.0.0.0/8']) },
    conversationId: 'run-1',
    signal: new AbortController().signal,
    usage,
    tool,
  });
}

const completion = (content: string | null) => ({ body: { choices: [{ message: { content } }] } });

describe('a chat completion', () => {
  test('has the whole conversation, the model and the headers', async () => {
    const chat = await chatWith(() => completion(' Hello. '), {});
    expect(await chat.open()).toBeNull();
    expect(await chat.say('Hi')).toEqual({ text: 'Hello.', ended: false });
    await chat.say('Bye');
    expect(server?.asked.map(({ body }) => body)).toEqual([
      { model: 'm', stream: false, messages: [{ role: 'user', content: 'Hi' }] },
      {
        model: 'm',
        stream: false,
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello.' },
          { role: 'user', content: 'Bye' },
        ],
      },
    ]);
    expect(server?.asked[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
    });
  });

  test('tells its tokens', async () => {
    let told: object = { usage: { prompt_tokens: 30, completion_tokens: 4 } };
    const chat = await chatWith(() => ({ body: { ...completion('Hello.').body, ...told } }), {});
    await chat.say('Hi');
    expect(usage.tokens('agent')).toBe(34);
    told = {};
    await chat.say('Hi');
    expect(usage.tokens('agent')).toContain('1 of 2 requests of the agent to model m');
  });

  test('is answered what its tools answer, until it speaks', async () => {
    const calls = [
      { id: 'c-1', type: 'function', function: { name: 'price', arguments: '{"item":"tulip"}' } },
    ];
    const asks = { body: { choices: [{ message: { content: 'One moment.', tool_calls: calls } }] } };
    const asked: unknown[] = [];
    tool = (name, input) => {
      asked.push([name, input]);
      return { eur: 5 };
    };
    let count = 0;
    const chat = await chatWith(() => (count++ === 0 ? asks : completion('Five euros.')), {});
    expect(await chat.say('How much?')).toEqual({ text: 'One moment. Five euros.', ended: false });
    expect(asked).toEqual([['price', { item: 'tulip' }]]);
    expect(server?.asked[1]?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'How much?' },
        { role: 'assistant', content: 'One moment.', tool_calls: calls },
        { role: 'tool', tool_call_id: 'c-1', content: '{"eur":5}' },
      ],
    });
  });

  test('that never stops calling tools, or calls in no known form, has failed', async () => {
    const calls = (list: unknown) => ({
      body: { choices: [{ message: { content: null, tool_calls: list } }] },
    });
    const one = { id: 'c', type: 'function', function: { name: 'x', arguments: '' } };
    const endless = await chatWith(() => calls([one]), {});
    await expect(endless.say('Hi')).rejects.toThrow('more than 8 times in a row');
    server?.close();
    const unread = await chatWith(() => calls([{ name: 'x' }]), {});
    await expect(unread.say('Hi')).rejects.toThrow('cannot be read');
  });

  test('whose calls grow without end has failed', async () => {
    const list = [{ id: 'c', type: 'function', function: { name: 'x', arguments: 'a'.repeat(150_000) } }];
    const chat = await chatWith(
      () => ({ body: { choices: [{ message: { content: null, tool_calls: list } }] } }),
      {},
    );
    await expect(chat.say('Hi')).rejects.toThrow('more than 1000000 characters');
    expect(server?.asked).toHaveLength(7);
  });

  test('without words says nothing', async () => {
    const chat = await chatWith(() => completion(null), {});
    expect(await chat.say('Hi')).toEqual({ text: '', ended: false });
  });
});

describe('a declared form', () => {
  test('is filled in on the parsed tree, and read by its pointers', async () => {
    const said = 'He said "}}" and {{conversation_id}}\n';
    const chat = await chatWith(() => ({ body: { out: [{ say: 'Noted.' }], over: true } }), form);
    expect(await chat.say(said)).toEqual({ text: 'Noted.', ended: true });
    expect(server?.asked[0]?.body).toEqual({ text: `Caller: ${said}`, ids: ['run-1'], past: [], n: 1 });
  });

  test('may let the agent speak first', async () => {
    const chat = await chatWith(() => ({ body: { out: [{ say: 'Hello.' }] } }), {
      ...form,
      speaks_first: true,
    });
    expect(await chat.open()).toEqual({ text: 'Hello.', ended: false });
    await chat.say('Hi');
    expect(server?.asked[1]?.body).toMatchObject({ past: [{ role: 'assistant', content: 'Hello.' }] });
  });
});

describe('a failure', () => {
  test.each([
    [{ status: 500, body: {} }, 'HTTP 500', true],
    [{ status: 429, body: {} }, 'HTTP 429', true],
    [{ status: 401, body: {} }, 'HTTP 401', false],
    [{ status: 302, body: {} }, 'HTTP 302', false],
    [{ body: 'no JSON' }, 'not JSON', false],
    [{ body: { choices: [] } }, 'no text at /choices/0/message/content', false],
    [{ body: { choices: [{ message: { content: 7 } }] } }, 'no text at', false],
    [{ body: { text: 'x'.repeat(300_000) } }, 'larger than', false],
  ])('says what was wrong and whether it may pass: %o', async (answer, words, mayPass) => {
    const chat = await chatWith(() => answer, {});
    await expect(chat.say('Hi')).rejects.toMatchObject({
      name: 'ForeignAgentFailure',
      message: expect.stringContaining(words),
      mayPass,
    });
  });

  test('of a forbidden address never passes, that of a closed port may', async () => {
    const chat = await chatWith(() => completion('x'), { url: 'http://169.254.169.254/latest' });
    await expect(chat.say('Hi')).rejects.toMatchObject({ mayPass: false });
    const closed = await chatWith(() => completion('x'), {});
    server?.close();
    await expect(closed.say('Hi')).rejects.toMatchObject({ mayPass: true });
  });
});
