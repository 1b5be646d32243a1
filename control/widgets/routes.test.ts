import { describe, expect, it } from 'vitest';
import { ThreadListAnswer } from '#shared/api/widgets.ts';
import { openApiOf } from '../../test/kit/control/openapi.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { makePathway, makeThread, makeWidget, origin, unknownId } from '../../test/kit/control/widgets.ts';

const test = routesOfFile();

const post = (path: string, content: string, more: object = {}) =>
  test.call('POST', `${path}/messages`, { body: { content, ...more } });
const contents = (messages: unknown) =>
  (messages as { sender_type: string; content: string }[]).map((one) => [one.sender_type, one.content]);

describe('a new widget', () => {
  it('has the defaults of the contract', async () => {
    const pathway_id = await makePathway(test);
    const { body, status } = await test.call('POST', '/v1/widget', { body: { name: 'Shop', pathway_id } });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 200,
      errors: null,
      data: {
        widget: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          name: 'Shop',
          pathway_id,
          persona_id: null,
          pathway_version: 'production',
          config: {
            timeoutSeconds: 86_400,
            greeting: null,
            blockedWords: [],
            allowedOrigins: [],
            voice: false,
          },
          created_at: '2030-01-01T00:00:00.000Z',
          updated_at: '2030-01-01T00:00:00.000Z',
        },
      },
    });
  });

  it.each([
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'x'.repeat(201) }, '/name'],
    [{ name: 'a', pathway_id: 'b' }, '/pathway_id'],
    [{ name: 'a' }, '/pathway_id'],
    [{ name: 'a', pathway_id: unknownId, persona_id: unknownId }, '/pathway_id'],
    [{ name: 'a', persona_id: unknownId, pathway_version: 1 }, '/pathway_version'],
    [{ name: 'a', pathway_id: unknownId, pathway_version: 'draft' }, '/pathway_version'],
    [{ name: 'a', pathway_id: unknownId, config: { timeoutSeconds: 59 } }, '/config/timeoutSeconds'],
    [{ name: 'a', pathway_id: unknownId, config: { greeting: 'x'.repeat(1001) } }, '/config/greeting'],
    [
      { name: 'a', pathway_id: unknownId, config: { allowedOrigins: ['https://a.b/'] } },
      '/config/allowedOrigins/0',
    ],
    [{ name: 'a', pathway_id: unknownId, config: { allowedOrigins: ['null'] } }, '/config/allowedOrigins/0'],
    [{ name: 'a', pathway_id: unknownId, config: { other: 1 } }, '/config/other'],
    [{ name: 'a', pathway_id: unknownId, other: 1 }, '/other'],
  ])('is rejected as %j, which gives %s', async (body, path) => {
    const answer = await test.call('POST', '/v1/widget', { body });
    expect(answer.status).toBe(400);
    expect(answer.body.status).toBe(400);
    expect(answer.body.data).toBeNull();
    expect(answer.text).toContain(`"path":"${path}"`);
  });

  it('requires a pathway, version or persona of the organization', async () => {
    const pathway_id = await makePathway(test);
    const create = (body: object, key = test.key) =>
      test.call('POST', '/v1/widget', { key, body: { name: 'x', ...body } });
    expect((await create({ pathway_id: unknownId })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await create({ pathway_id }, test.foreignKey)).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await create({ pathway_id, pathway_version: 7 })).codes).toEqual(['VERSION_NOT_FOUND']);
    expect((await create({ persona_id: unknownId })).codes).toEqual(['PERSONA_NOT_FOUND']);
    expect((await create({ pathway_id, pathway_version: 0 })).body.data?.widget?.pathway_version).toBe(0);
  });
});

describe('a widget whose agent is gone', () => {
  it('begins no thread and no session, and both routes declare the code', async () => {
    const widget = await makeWidget(test);
    const id = widget.split('/').at(-1) ?? '';
    const { db } = test.control.services.database;
    // As it can be in a database from before versions that somebody names were kept.
    await db.updateTable('widgets').set({ pathway_version: '7' }).where('id', '=', id).execute();
    const { paths = {} } = await openApiOf(test);
    for (const route of ['threads', 'session']) {
      const answer = await test.call('POST', `${widget}/${route}`, { body: {}, headers: { origin } });
      expect([answer.status, answer.codes]).toEqual([404, ['VERSION_NOT_FOUND']]);
      const declared = JSON.stringify(paths[`/v1/widget/{id}/${route}`]?.post?.responses?.[404]);
      for (const code of ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND', 'PERSONA_NOT_FOUND'])
        expect(declared).toContain(code);
    }
  });
});

describe('a thread', () => {
  it('begins with the start node’s words, is answered, and ends with the pathway', async () => {
    const widget = await makeWidget(test);
    const thread = await makeThread(test, widget, { request_data: { shop: 'friend' } });
    const first = await post(thread, 'Ada');
    expect(first.status).toBe(200);
    expect(contents(first.body.data?.messages)).toEqual([
      ['USER', 'Ada'],
      ['ASSISTANT', 'Thanks. Anything else?'],
    ]);
    expect(first.body.data?.thread).toEqual({
      id: thread.split('/').at(-1),
      created_at: '2030-01-01T00:00:00.000Z',
      ended_at: null,
      live_agent_handoff_at: null,
      visitor_id: null,
    });
    test.clock.advance(1000);
    const last = await post(thread, 'No');
    expect(contents(last.body.data?.messages)).toEqual([
      ['USER', 'No'],
      ['ASSISTANT', 'Goodbye.'],
    ]);
    expect(last.body.data?.thread?.ended_at).toBe('2030-01-01T00:00:01.000Z');
    expect((await post(thread, 'Hello?')).codes).toEqual(['THREAD_ENDED']);
    const listed = await test.call('GET', `${widget}/threads`);
    expect(contents(listed.body.data?.threads?.[0]?.messages)).toEqual([
      ['ASSISTANT', 'Hello friend, what is your name?'],
      ['USER', 'Ada'],
      ['ASSISTANT', 'Thanks. Anything else?'],
      ['USER', 'No'],
      ['ASSISTANT', 'Goodbye.'],
    ]);
  });

  it('begins with the greeting instead, which is not said again', async () => {
    const thread = await makeThread(test, await makeWidget(test, { greeting: 'Welcome to {{shop}}!' }), {
      request_data: { shop: 'Acme' },
    });
    const first = await post(thread, 'Ada');
    expect(contents(first.body.data?.messages)).toEqual([
      ['USER', 'Ada'],
      ['ASSISTANT', 'Thanks. Anything else?'],
    ]);
    const listed = await test.call('GET', thread.replace(/\/[^/]+$/, ''));
    expect(listed.body.data?.threads?.[0]?.messages?.[0]?.content).toBe('Welcome to Acme!');
  });

  it('continues after any number of misunderstandings, and always answers', async () => {
    const pathway = await makePathway(test);
    await test.call('POST', `/v1/pathway/${pathway}`, {
      body: {
        nodes: [
          { id: 'wait', type: 'Wait for Response', data: { name: 'Wait', isStart: true } },
          { id: 'bye', type: 'End Call', data: { name: 'Bye', text: 'Goodbye.' } },
        ],
        edges: [
          { source: 'wait', target: 'bye', data: { label: 'goodbye' } },
          { source: 'wait', target: 'bye', data: { label: 'sales' } },
        ],
      },
    });
    const thread = await makeThread(test, await makeWidget(test, { greeting: 'Hi.' }, pathway));
    const answer = async (text: string) => {
      const { body } = await post(thread, text);
      return [contents(body.data?.messages).at(-1), body.data?.thread?.ended_at === null];
    };
    const sorry = 'I am sorry, I did not understand that. Could you say that another way, please?';
    for (let count = 0; count < 5; count++) {
      expect(await answer('gibberish')).toEqual([['ASSISTANT', sorry], true]);
    }
    expect(await answer('goodbye')).toEqual([['ASSISTANT', 'Goodbye.'], false]);
  });

  it('keeps the pathway as of its start', async () => {
    const pathway = await makePathway(test);
    const thread = await makeThread(test, await makeWidget(test, {}, pathway));
    await test.call('POST', `/v1/pathway/${pathway}`, {
      body: {
        nodes: [{ id: 'new', type: 'Default', data: { name: 'New', text: 'New', isStart: true } }],
        edges: [],
      },
    });
    expect(contents((await post(thread, 'Ada')).body.data?.messages)).toContainEqual([
      'ASSISTANT',
      'Thanks. Anything else?',
    ]);
  });

  it('is listed newest first, page by page, and by its id', async () => {
    const widget = await makeWidget(test);
    const made = [];
    for (let i = 0; i < 3; i++) made.push((await makeThread(test, widget)).split('/').at(-1));
    const list = async (query: string) => {
      const answer = await test.call('GET', `${widget}/threads${query}`);
      const { data } = answer.read(ThreadListAnswer);
      return [answer.status, data.threads.map(({ id }) => id), data.total];
    };
    expect(await list('')).toEqual([200, made.toReversed(), 3]);
    expect(await list('?limit=2&page=2')).toEqual([200, [made[0]], 3]);
    expect(await list('?page=9')).toEqual([200, [], 3]);
    expect(await list(`?thread_id=${made[1]}`)).toEqual([200, [made[1]], 1]);
    expect(await list(`?thread_id=${unknownId}`)).toEqual([200, [], 0]);
  });

  it.each(['?page=0', '?page=x', '?limit=0', '?limit=101', '?thread_id=7'])(
    'rejects a list with %s',
    async (query) => {
      const answer = await test.call('GET', `${await makeWidget(test)}/threads${query}`);
      expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    },
  );

  it('has control characters removed and blocked words masked, in both directions', async () => {
    const widget = await makeWidget(test, { blockedWords: ['darn', 'Thanks'] });
    const thread = await makeThread(test, widget);
    const { body } = await post(thread, 'Oh DARN\u0007, darned');
    expect(body.data?.messages).toMatchObject([
      { content: 'Oh ****, darned', original_content: 'Oh DARN\u0007, darned' },
      { content: '******. Anything else?', original_content: 'Thanks. Anything else?' },
    ]);
  });

  it('times out when nobody writes, also in reads before the sweep', async () => {
    const widget = await makeWidget(test, { timeoutSeconds: 60 });
    const thread = await makeThread(test, widget);
    test.clock.advance(59_999);
    expect((await post(thread, 'Ada')).status).toBe(200);
    test.clock.advance(60_000);
    const listed = await test.call('GET', `${widget}/threads`);
    expect(listed.body.data?.threads?.[0]?.ended_at).toBe('2030-01-01T00:01:59.999Z');
    expect((await post(thread, 'x')).codes).toEqual(['THREAD_ENDED']);
    const ended = await test.call('POST', `${thread}/end`);
    expect(ended.body.data?.thread?.ended_at).toBe('2030-01-01T00:01:59.999Z');
  });

  it("is handed to a live agent once, and then accepts the agent's messages", async () => {
    const thread = await makeThread(test, await makeWidget(test));
    expect((await post(thread, 'I am Eve', { sender_type: 'ASSISTANT' })).codes).toEqual([
      'HANDOFF_REQUIRED',
    ]);
    const first = await test.call('POST', `${thread}/handoff`);
    expect(first.body.data?.thread?.live_agent_handoff_at).toBe('2030-01-01T00:00:00.000Z');
    expect(first.body.data?.thread?.messages).toHaveLength(1);
    test.clock.advance(1000);
    expect((await test.call('POST', `${thread}/handoff`)).body).toEqual(first.body);
    expect(contents((await post(thread, 'Ada')).body.data?.messages)).toEqual([['USER', 'Ada']]);
    const live = await post(thread, 'I am Eve', { sender_type: 'ASSISTANT' });
    expect(contents(live.body.data?.messages)).toEqual([['ASSISTANT', 'I am Eve']]);
  });

  it('is ended once, and then can neither be handed over nor written to', async () => {
    const thread = await makeThread(test, await makeWidget(test));
    const first = await test.call('POST', `${thread}/end`);
    expect(first.body.data?.thread?.ended_at).toBe('2030-01-01T00:00:00.000Z');
    test.clock.advance(1000);
    expect((await test.call('POST', `${thread}/end`)).body).toEqual(first.body);
    expect((await test.call('POST', `${thread}/handoff`)).codes).toEqual(['THREAD_ENDED']);
    expect((await post(thread, 'x')).codes).toEqual(['THREAD_ENDED']);
  });

  it.each([
    [{}, '/content'],
    [{ content: '' }, '/content'],
    [{ content: 'x'.repeat(4001) }, '/content'],
    [{ content: 7 }, '/content'],
    [{ content: 'a\u0000b' }, '/content'],
    [{ content: 'a', sender_type: 'AGENT' }, '/sender_type'],
    [{ content: 'a', other: 1 }, '/other'],
  ])('rejects a message like %j', async (body, path) => {
    const thread = await makeThread(test, await makeWidget(test));
    const answer = await test.call('POST', `${thread}/messages`, { body });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`"path":"${path}"`);
  });

  it('answers simultaneous messages one after the other', async () => {
    const widget = await makeWidget(test);
    const thread = await makeThread(test, widget);
    await Promise.all([post(thread, 'Ada'), post(thread, 'Nothing much'), post(thread, 'x')]);
    const listed = await test.call('GET', `${widget}/threads`);
    const senders = contents(listed.body.data?.threads?.[0]?.messages).map(([sender]) => sender);
    expect(senders.slice(0, 5)).toEqual(['ASSISTANT', 'USER', 'ASSISTANT', 'USER', 'ASSISTANT']);
  });
});

describe('every endpoint', () => {
  const endpoints = (widget: string, thread: string): ['GET' | 'POST', string, object | undefined][] => [
    ['GET', `${widget}/threads`, undefined],
    ['POST', `${widget}/threads`, {}],
    ['POST', `${thread}/messages`, { content: 'a' }],
    ['POST', `${thread}/handoff`, {}],
    ['POST', `${thread}/end`, {}],
    ['GET', `${thread}/events`, undefined],
  ];

  it('requires a key of the same organization', async () => {
    const widget = await makeWidget(test);
    const thread = await makeThread(test, widget);
    for (const [method, path, body] of endpoints(widget, thread)) {
      const call = (key: string | null) => test.call(method, path, { key, ...(body && { body }) });
      for (const key of [null, 'wv_unknown', test.operatorKey]) {
        expect([path, (await call(key)).codes]).toEqual([path, ['AUTH_FAILURE']]);
      }
      const foreign = await call(test.foreignKey);
      if (path.endsWith('/threads') && method === 'GET') {
        expect(foreign.body.data).toEqual({ threads: [], total: 0 });
      } else expect([path, foreign.codes]).toEqual([path, ['WIDGET_NOT_FOUND']]);
    }
  });

  it('rejects malformed ids, and reports unknown ones', async () => {
    const widget = await makeWidget(test);
    for (const [method, path, body] of endpoints('/v1/widget/7', '/v1/widget/7/threads/8')) {
      const answer = await test.call(method, path, { ...(body && { body }) });
      expect([path, answer.status, answer.codes]).toEqual([path, 400, ['INVALID_PARAMETER']]);
    }
    for (const [method, path, body] of endpoints(widget, `${widget}/threads/${unknownId}`).slice(2)) {
      const answer = await test.call(method, path, { ...(body && { body }) });
      expect([path, answer.status, answer.codes]).toEqual([path, 404, ['THREAD_NOT_FOUND']]);
    }
  });

  it('is in the OpenAPI document with its errors', async () => {
    const { paths = {} } = await openApiOf(test);
    const statuses = (path: string, method: string) => Object.keys(paths[path]?.[method]?.responses ?? {});
    expect(statuses('/v1/widget/{id}/threads/{thread_id}/messages', 'post')).toEqual(
      expect.arrayContaining(['200', '400', '401', '404', '409', '429', '502']),
    );
    expect(statuses('/v1/widget/{id}/session', 'post')).toEqual(
      expect.arrayContaining(['200', '403', '404', '429']),
    );
    expect(statuses('/widget/{id}/embed.js', 'get')).toEqual(expect.arrayContaining(['200', '400', '404']));
    expect(Object.keys(paths['/v1/widget/{id}/session'] ?? {})).toEqual(['post']);
  });
});
