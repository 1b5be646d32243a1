import { beforeEach, describe, expect, it } from 'vitest';
import { SessionAnswer } from '#shared/api/widgets.ts';
import { startControl, startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { makeThread, makeWidget, origin, unknownId } from '../../test/kit/control/widgets.ts';
import { onSqlite } from '../../test/kit/db/test-database.ts';

const test = emptiedForEach(startRoutes);
let widget = '';
beforeEach(async () => {
  widget = await makeWidget(test, { blockedWords: ['Thanks'] });
});

const session = (body: object = {}, headers: Record<string, string> = { origin }) =>
  test.call('POST', `${widget}/session`, { key: null, body, headers });

async function newVisitor() {
  const { token, thread_id, visitor_id } = (await session()).read(SessionAnswer).data;
  const call = (method: 'GET' | 'POST', path: string, payload?: object, more?: Record<string, string>) =>
    test.call(method, path, {
      key: `Bearer ${token}`,
      headers: { origin, ...more },
      ...(payload && { body: payload }),
    });
  return { call, visitor_id, thread: `${widget}/threads/${thread_id}`, thread_id };
}

describe('the script', () => {
  const script = (id = widget.split('/').at(-1)) => `/widget/${id}/embed.js`;

  it('is served to everyone, for five minutes, with its styles and an ETag', async () => {
    const answer = await test.call('GET', script(), { key: null });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.text).not.toContain('@chat.css');
    expect(answer.text).toContain('.launcher');
    const again = await test.call('GET', script(), {
      key: null,
      headers: { 'if-none-match': `"other", ${String(answer.headers.etag)}` },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('never runs text as code or as HTML', async () => {
    const { text } = await test.call('GET', script(), { key: null });
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/);
  });

  it('is not found for an unknown widget, or for one that is not embedded', async () => {
    const closed = await makeWidget(test, { allowedOrigins: [] });
    for (const id of [unknownId, closed.split('/').at(-1)]) {
      const answer = await test.call('GET', script(id), { key: null });
      expect([answer.status, answer.codes]).toEqual([404, ['WIDGET_NOT_FOUND']]);
    }
    expect((await test.call('GET', script('x'), { key: null })).codes).toEqual(['INVALID_PARAMETER']);
  });
});

describe('a session', () => {
  it('is given to a page of an allowed origin, for a day', async () => {
    const answer = await session();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      status: 200,
      errors: null,
      data: {
        token: expect.stringMatching(/^wv_[\w-]{43}$/),
        visitor_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        expires_at: '2030-01-02T00:00:00.000Z',
      },
    });
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers.vary).toBe('Origin');
  });

  it.each([
    {},
    { origin: 'https://other.example' },
    { origin: `${origin}.evil.example` },
    { origin: 'null' },
  ])('is rejected with the headers %j', async (headers) => {
    const answer = await session({}, headers);
    expect([answer.status, answer.codes]).toEqual([403, ['ORIGIN_NOT_ALLOWED']]);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('names the origin and no wildcard when every origin is allowed', async () => {
    widget = await makeWidget(test, { allowedOrigins: ['*'] });
    const answer = await session({}, { origin: 'https://any.example' });
    expect(answer.headers['access-control-allow-origin']).toBe('https://any.example');
  });

  it('continues the visitor’s open thread, and starts another after its end', async () => {
    const first = await newVisitor();
    const threadOf = async () =>
      (await session({ visitor_id: first.visitor_id })).read(SessionAnswer).data.thread_id;
    expect(await threadOf()).toBe(first.thread_id);
    await test.call('POST', `${first.thread}/end`);
    expect(await threadOf()).not.toBe(first.thread_id);
  });

  it.each([{ visitor_id: 'me' }, { visitor_id: null }, { other: 1 }])('is rejected with %j', async (body) => {
    expect((await session(body)).status).toBe(400);
  });

  it('of an unknown widget is 404, of a malformed id 400', async () => {
    widget = `/v1/widget/${unknownId}`;
    expect((await session()).codes).toEqual(['WIDGET_NOT_FOUND']);
    widget = '/v1/widget/x';
    expect((await session()).codes).toEqual(['INVALID_PARAMETER']);
  });

  it('is given 30 times a minute to one address', async () => {
    for (let i = 0; i < 30; i++) expect((await session()).status).toBe(200);
    const refused = await session();
    expect(refused.codes).toEqual(['RATE_LIMITED']);
    expect(refused.headers['retry-after']).toBe('60');
    expect(refused.headers['access-control-allow-origin']).toBe(origin);
    expect((await test.call('GET', '/metrics', { key: test.operatorKey })).text).toContain(
      'trunkline_control_widget_refused_total{scope="address"} 1',
    );
    test.clock.advance(60_000);
    expect((await session()).status).toBe(200);
  });
});

describe('behind a proxy', () => {
  it('a visitor’s address comes from a trusted proxy', async () => {
    const limits = { widgets: { sessionsPerMinute: 2 } };
    const startWith = async (env: Record<string, string>) => {
      const control = await startControl(env, {}, {}, { limits, begin: onSqlite });
      const path = await makeWidget(control);
      const from = async (address: string) => {
        const headers = { origin, 'x-forwarded-for': address };
        return (await control.call('POST', `${path}/session`, { key: null, body: {}, headers })).status;
      };
      return { from, close: control.close };
    };
    const direct = await startWith({});
    for (let i = 0; i < 2; i++) expect(await direct.from('192.0.2.1')).toBe(200);
    expect(await direct.from('192.0.2.2')).toBe(429);
    await direct.close();
    const trusting = await startWith({ TRUSTED_PROXIES: '127.0.0.0/8' });
    for (let i = 0; i < 2; i++) expect(await trusting.from('192.0.2.1')).toBe(200);
    expect(await trusting.from('192.0.2.2')).toBe(200);
    expect(await trusting.from('192.0.2.1')).toBe(429);
    expect(await trusting.from('192.0.2.9, 192.0.2.1')).toBe(429);
    await trusting.close();
  });
});

describe('a visitor with an Idempotency-Key', () => {
  const post = (visitor: Awaited<ReturnType<typeof newVisitor>>, content: string) =>
    visitor.call('POST', `${visitor.thread}/messages`, { content }, { 'idempotency-key': 'k' });

  it('writes a message once, whatever others do with the same key', async () => {
    const [one, other] = [await newVisitor(), await newVisitor()];
    const first = await post(one, 'Hello');
    const again = await post(one, 'Hello');
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    expect((await post(one, 'Bye')).codes).toEqual(['IDEMPOTENCY_CONFLICT']);
    const others = await post(other, 'Hello');
    expect([others.status, others.headers['idempotent-replayed']]).toEqual([200, undefined]);
    const organization = await test.call('POST', `${one.thread}/messages`, {
      body: { content: 'Bye' },
      headers: { 'idempotency-key': 'k' },
    });
    expect([organization.status, organization.headers['idempotent-replayed']]).toEqual([200, undefined]);
  });

  it('may send the key from a page of an allowed origin', async () => {
    const asked = await test.control.app.inject({
      method: 'OPTIONS',
      url: `${widget}/threads/${unknownId}/messages`,
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(asked.headers['access-control-allow-headers']).toContain('idempotency-key');
  });
});

describe('a token', () => {
  it('reads, writes and ends its thread', async () => {
    const { call, thread, thread_id, visitor_id } = await newVisitor();
    const posted = await call('POST', `${thread}/messages`, { content: 'Thanks, Ada' });
    expect(posted.status).toBe(200);
    expect(posted.headers['access-control-allow-origin']).toBe(origin);
    expect(posted.body.data?.messages).toMatchObject([
      { content: '******, Ada', original_content: 'Thanks, Ada' },
      { content: '******. Anything else?', original_content: null },
    ]);
    for (const query of ['', `?thread_id=${thread_id}`]) {
      const read = await call('GET', `${widget}/threads${query}`);
      expect(read.body.data).toMatchObject({ threads: [{ id: thread_id, visitor_id }], total: 1 });
    }
    const ended = await call('POST', `${thread}/end`);
    expect(ended.body.data?.thread?.ended_at).toBe('2030-01-01T00:00:00.000Z');
  });

  it('opens nothing else', async () => {
    const { call, thread } = await newVisitor();
    const other = await makeThread(test, widget);
    const elsewhere = await makeThread(test, await makeWidget(test));
    expect((await call('GET', `${widget}/threads?thread_id=${other.split('/').at(-1)}`)).body.data).toEqual({
      threads: [],
      total: 0,
    });
    for (const [path, code] of [
      [other, 'THREAD_NOT_FOUND'],
      [elsewhere, 'WIDGET_NOT_FOUND'],
    ]) {
      expect((await call('POST', `${path}/messages`, { content: 'a' })).codes).toEqual([code]);
      expect((await call('POST', `${path}/end`, {})).codes).toEqual([code]);
      expect((await call('GET', `${path}/events`)).codes).toEqual([code]);
    }
    expect((await call('POST', `${thread}/handoff`, {})).codes).toEqual(['AUTH_FAILURE']);
    expect((await call('POST', `${widget}/threads`, {})).codes).toEqual(['AUTH_FAILURE']);
    expect((await call('POST', '/v1/widget', { name: 'x' })).codes).toEqual(['AUTH_FAILURE']);
    expect((await call('GET', '/v1/pathway')).codes).toEqual(['AUTH_FAILURE']);
  });

  it('cannot act as the live agent', async () => {
    const { call, thread } = await newVisitor();
    await test.call('POST', `${thread}/handoff`);
    const answer = await call('POST', `${thread}/messages`, { content: 'a', sender_type: 'ASSISTANT' });
    expect(answer.codes).toEqual(['INVALID_PARAMETER']);
  });

  it('is valid for a day', async () => {
    widget = await makeWidget(test, { timeoutSeconds: 2_592_000 });
    const { call } = await newVisitor();
    test.clock.advance(86_399_999);
    expect((await call('GET', `${widget}/threads`)).status).toBe(200);
    test.clock.advance(1);
    const refused = await call('GET', `${widget}/threads`);
    expect(refused.codes).toEqual(['AUTH_FAILURE']);
    expect(refused.headers['access-control-allow-origin']).toBe(origin);
  });

  it('allows 30 messages a minute', async () => {
    const { call, thread } = await newVisitor();
    await test.call('POST', `${thread}/handoff`);
    for (let i = 0; i < 30; i++) {
      expect((await call('POST', `${thread}/messages`, { content: 'a' })).status).toBe(200);
    }
    const refused = await call('POST', `${thread}/messages`, { content: 'a' });
    expect(refused.codes).toEqual(['RATE_LIMITED']);
    expect(refused.body.errors?.[0]?.details).toEqual({
      limit: 30,
      window_seconds: 60,
      scope: 'visitor_messages',
    });
  });
});

describe("a browser's preflight", () => {
  const ask = (from: string, path: string) =>
    test.control.app.inject({ method: 'OPTIONS', url: path, headers: { origin: from } });

  it.each([
    ['/session', 'POST'],
    ['/threads', 'GET'],
    [`/threads/${unknownId}/messages`, 'POST'],
    [`/threads/${unknownId}/end`, 'POST'],
    [`/threads/${unknownId}/call`, 'POST'],
    [`/threads/${unknownId}/events`, 'GET'],
  ])('is allowed for %s from an allowed origin only', async (path, method) => {
    const allowed = await ask(origin, widget + path);
    expect(allowed.statusCode).toBe(204);
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': method,
      'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id',
      vary: 'Origin',
    });
    const refused = await ask('https://other.example', widget + path);
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    expect(refused.headers['access-control-allow-headers']).toBeUndefined();
  });

  it('is rejected for requests that pages never make', async () => {
    const answer = await ask(origin, `${widget}/threads/${unknownId}/handoff`);
    expect(answer.statusCode).toBe(405);
  });
});
