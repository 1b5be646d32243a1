import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';

const test = routesOfFile({ RATE_LIMIT_PER_MINUTE: '20' });

describe('every response', () => {
  it('has a request id, echoed when well formed, and forbids storing and sniffing', async () => {
    const echoed = await test.call('GET', '/v1/sip/numbers', { headers: { 'x-request-id': 'abc.DEF_1-2' } });
    expect(echoed.headers).toMatchObject({
      'x-request-id': 'abc.DEF_1-2',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const made = await test.call('GET', '/v1/none', { headers: { 'x-request-id': 'not well formed' } });
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const bad = await test.call('GET', '/v1/%zz');
    expect(bad.status).toBe(404);
    expect(bad.headers).toMatchObject({ 'cache-control': 'no-store' });
    expect(bad.codes).toEqual(['ROUTE_NOT_FOUND']);
  });

  it('wraps errors as its group does', async () => {
    const body = { error: 'AUTH_FAILURE', code: 'AUTH_FAILURE', message: 'Unauthorized' };
    expect((await test.call('GET', '/v1/sip/numbers', { key: null })).body).toEqual({
      data: null,
      errors: [body],
    });
    expect((await test.call('GET', '/v1/pathway', { key: null })).body).toEqual({
      status: 'error',
      message: 'Unauthorized',
      errors: [body],
      data: null,
    });
    for (const path of ['/v1/calls', '/v1/sip/calls']) {
      const long = await test.call('GET', `${path}/${'x'.repeat(10_000)}`);
      expect([long.status, long.codes]).toEqual([404, ['CALL_NOT_FOUND']]);
    }
    const flat = await test.call('GET', '/v1/calls/nothing');
    expect(flat.body).toEqual({
      status: 'error',
      message: 'There is no such call.',
      errors: [{ error: 'CALL_NOT_FOUND', code: 'CALL_NOT_FOUND', message: 'There is no such call.' }],
    });
  });

  it('lists the methods of an existing path before it requires a key', async () => {
    const answer = await test.call('PUT', '/v1/pathway/abc', { key: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('DELETE, GET, HEAD, POST');
    expect(answer.body.errors).toMatchObject([
      {
        code: 'METHOD_NOT_ALLOWED',
        message: 'PUT is not allowed for this path; it has DELETE, GET, HEAD, POST.',
      },
    ]);
    expect((await test.call('GET', '/v1/tools', { key: null })).codes).toEqual(['ROUTE_NOT_FOUND']);
  });
});

describe('keys', () => {
  it('are accepted bare and after Bearer in any case', async () => {
    for (const key of [test.key, `Bearer ${test.key}`, `bEARER  ${test.key}`]) {
      expect((await test.call('GET', '/v1/pathway', { key })).status).toBe(200);
    }
  });

  it.each(['', 'Bearer', 'Bearer x y', 'tk_unknown', `${'x'.repeat(600)}`])('reject %j', async (key) => {
    expect((await test.call('GET', '/v1/pathway', { key })).codes).toEqual(['AUTH_FAILURE']);
  });

  it('of operators do not work for customers, and vice versa', async () => {
    expect((await test.call('GET', '/v1/pathway', { key: test.operatorKey })).status).toBe(401);
    expect((await test.call('GET', '/metrics')).codes).toEqual(['OPERATOR_KEY_REQUIRED']);
    expect((await test.call('GET', '/metrics', { key: null })).status).toBe(401);
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.status).toBe(200);
    expect(metrics.text).toContain('trunkline_control_edges_connected 0');
  });

  it('of an organization without SIP are rejected on /v1/sip, whatever the body', async () => {
    const answer = await test.call('POST', '/v1/sip/attach', {
      key: test.plainKey,
      body: { nonsense: true },
    });
    expect(answer.status).toBe(403);
    expect(answer.codes).toEqual(['SIP_NOT_ENABLED']);
  });
});

describe('bodies', () => {
  const post = (payload: string, type = 'application/json') =>
    test.control.app.inject({
      method: 'POST',
      url: '/v1/sip/parse-destination',
      headers: { authorization: test.key, 'content-type': type },
      payload,
    });

  it.each(['{', '[]', '"text"', 'null', '3', '{"input":"a"} x', '{"__proto__":{"a":1},"input":"a"}'])(
    'that are not a JSON object are rejected: %s',
    async (payload) => {
      const answer = await post(payload);
      expect([answer.statusCode, answer.json().errors[0].code]).toEqual([400, 'INVALID_JSON']);
    },
  );

  it('that are no JSON are rejected with the place, and without the words of the body', async () => {
    const said = async (payload: string) => (await post(payload)).json().errors[0].message;
    expect(await said('{"password": "secret",}')).toBe('The body is not JSON: line 1, column 23.');
    expect(await said('{\n  "input": "a"\n  "b": 1 }')).toBe('The body is not JSON: line 3, column 3.');
    expect(await said('{"password":secret}')).toBe('The body is not JSON.');
    expect(await said('[1]')).toBe('The body must be a JSON object.');
  });

  it('with keys that would poison objects are rejected with that reason', async () => {
    expect((await post('{"__proto__":{}}')).json().errors[0].message).toContain('__proto__');
    expect((await post('{"__proto__":')).json().errors[0].message).toBe(
      'The body is not JSON: it ends too early.',
    );
  });

  it('of another type are rejected, also without a type', async () => {
    expect((await post('{"input":"a"}', 'text/plain')).statusCode).toBe(415);
    expect((await post('input=a', 'application/x-www-form-urlencoded')).json().errors[0].code).toBe(
      'UNSUPPORTED_MEDIA_TYPE',
    );
    expect((await post('{"input":"host.example"}', 'application/json; charset=utf-8')).statusCode).toBe(200);
  });

  it('deeper than 64 levels are rejected before they are traversed', async () => {
    const deep = (levels: number) => `{"input":${'['.repeat(levels)}"]}"${']'.repeat(levels)}}`;
    expect((await post(deep(63))).json().errors).toMatchObject([
      { code: 'INVALID_PARAMETER', details: { path: '/input' } },
    ]);
    for (const payload of [deep(64), deep(200_000), `{"input":${'['.repeat(200_000)}`]) {
      const answer = await post(payload);
      expect([answer.statusCode, answer.json().errors[0]]).toEqual([
        400,
        {
          error: 'INVALID_JSON',
          code: 'INVALID_JSON',
          message: 'body: must be at most 64 levels deep',
          details: { path: '', rule: 'must be at most 64 levels deep' },
        },
      ]);
    }
  });

  it('must be UTF-8; a byte order mark is skipped', async () => {
    const bytes = (payload: Buffer) =>
      test.control.app.inject({
        method: 'POST',
        url: '/v1/sip/parse-destination',
        headers: { authorization: test.key, 'content-type': 'application/json' },
        payload,
      });
    const invalid = await bytes(Buffer.from('{"input":"a\xff"}', 'latin1'));
    expect([invalid.statusCode, invalid.json().errors[0].code]).toEqual([400, 'INVALID_JSON']);
    expect((await bytes(Buffer.from('\ufeff{"input":"host.example"}'))).statusCode).toBe(200);
  });

  it('of more than 1 MiB are rejected', async () => {
    const answer = await post(JSON.stringify({ input: 'x'.repeat(1_048_576) }));
    expect([answer.statusCode, answer.json().errors[0].code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('that are empty count as an empty object', async () => {
    const answer = await test.call('POST', '/v1/sip/parse-destination');
    expect(answer.body.errors).toMatchObject([
      { code: 'INVALID_PARAMETER', details: { path: '/input', rule: 'required' } },
    ]);
  });

  it('are not coerced, and all their errors are listed', async () => {
    const answer = await test.call('POST', '/v1/sip/attach', {
      body: {
        phone_number: 5,
        'a/b~c': 1,
        directions: [
          { type: 'inbound', priority: '1', options: { allowed_ips: 'x', extra: 1 } },
          { type: 'outbound', sip_endpoint: 'a\u0000', auth_mode: 'ip' },
          { type: 'sideways' },
        ],
      },
    });
    expect(answer.errors.map(({ code, details }) => `${code} ${details?.path}`).sort()).toEqual([
      'INVALID_PARAMETER /directions/0/options/allowed_ips',
      'INVALID_PARAMETER /directions/0/priority',
      'INVALID_PARAMETER /directions/1/sip_endpoint',
      'INVALID_PARAMETER /directions/2/type',
      'INVALID_PARAMETER /phone_number',
      'UNKNOWN_PROPERTY /a~1b~0c',
      'UNKNOWN_PROPERTY /directions/0/options/extra',
      'UNKNOWN_PROPERTY /directions/1/auth_mode',
    ]);
  });

  it('list at most 20 violations', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, 1]));
    const answer = await test.call('POST', '/v1/sip/parse-destination', { body: { input: 'a', ...unknown } });
    expect(answer.codes).toEqual(Array(20).fill('UNKNOWN_PROPERTY'));
  });
});

describe('query values', () => {
  it('are parsed from text and validated', async () => {
    expect((await test.call('GET', '/v1/sip/calls?limit=5&unknown=1')).status).toBe(200);
    for (const query of [
      'limit=0',
      'limit=501',
      'limit=5.0',
      'limit=%20',
      'direction=up',
      'from_date=2026-02-30',
      'to_date=2026-02-30T10:00:00Z',
      'limit=1&limit=2',
    ]) {
      const answer = await test.call('GET', `/v1/sip/calls?${query}`);
      expect(answer.codes).toEqual(['INVALID_PARAMETER']);
      expect(answer.body.errors).toMatchObject([{ details: { path: `?${query.split('=')[0]}` } }]);
    }
    expect((await test.call('GET', '/v1/sip')).body.errors).toMatchObject([
      { details: { path: '?phone_number', rule: 'required' } },
    ]);
  });
});

describe('the rate limit', () => {
  it('shows what is left, rejects without counting, and frees up as the window slides', async () => {
    const first = await test.call('GET', '/v1/pathway');
    expect(first.headers).toMatchObject({
      'ratelimit-limit': '20',
      'ratelimit-remaining': '19',
      'ratelimit-reset': '60',
    });
    test.clock.advance(30_000);
    for (let sent = 0; sent < 19; sent++) await test.call('GET', '/v1/pathway');
    const refused = await test.call('POST', '/v1/sip/attach', { body: { nonsense: 1 } });
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({ 'retry-after': '30', 'ratelimit-remaining': '0' });
    expect(refused.body.errors).toMatchObject([
      { code: 'RATE_LIMITED', details: { limit: 20, window_seconds: 60, scope: 'key' } },
    ]);
    expect((await test.call('GET', '/v1/pathway', { key: test.foreignKey })).status).toBe(200);
    test.clock.advance(30_000);
    expect((await test.call('GET', '/v1/pathway')).headers['ratelimit-remaining']).toBe('0');
    expect((await test.call('GET', '/v1/pathway')).status).toBe(429);
  });
});

describe('an Idempotency-Key', () => {
  const create = (name: string, key: string, options: { key?: string } = {}) =>
    test.call('POST', '/v1/pathway/create', {
      body: { name },
      headers: { 'idempotency-key': key },
      ...options,
    });

  it('returns the first response again without repeating the work, also for overlapping requests', async () => {
    const [first, second] = await Promise.all([create('Menu', 'once'), create('Menu', 'once')]);
    const third = await create('Menu', 'once');
    expect(second?.body).toEqual(first?.body);
    expect(third.body).toEqual(first?.body);
    expect(third.headers['idempotent-replayed']).toBe('true');
    expect((await test.call('GET', '/v1/pathway')).body).toHaveLength(1);
  });

  it('is rejected with another body, and independent per path, organization and day', async () => {
    const first = await create('Menu', 'once');
    const other = await create('Other', 'once');
    expect([other.status, other.codes]).toEqual([409, ['IDEMPOTENCY_CONFLICT']]);
    expect((await create('Menu', 'once', { key: test.foreignKey })).body).not.toEqual(first.body);
    test.clock.advance(24 * 60 * 60 * 1000);
    expect((await create('Other', 'once')).status).toBe(200);
  });

  it('is rejected for another upload of the same length, and recognizes the same one with any boundary', async () => {
    const upload = (content: string, boundary = 'x') =>
      test.call('POST', '/v1/sip/port/document', {
        headers: {
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'idempotency-key': 'document',
        },
        body: `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n${content}\r\n--${boundary}--\r\n`,
      });
    const first = await upload('%PDF-1.4 first');
    expect(first.status).toBe(200);
    expect((await upload('%PDF-1.4 first', 'another')).body).toEqual(first.body);
    expect((await upload('%PDF-1.4 other')).codes).toEqual(['IDEMPOTENCY_CONFLICT']);
  });

  it('also keeps rejections, and must be printable', async () => {
    const refuse = () =>
      test.call('POST', '/v1/pathway/create', { body: { name: '' }, headers: { 'idempotency-key': 'bad' } });
    expect((await refuse()).status).toBe(400);
    expect((await refuse()).headers['idempotent-replayed']).toBe('true');
    expect((await create('Menu', 'ä')).body.errors).toMatchObject([
      { details: { path: '@idempotency-key' } },
    ]);
  });
});

describe('documents', () => {
  let quiet: TestControl;
  beforeAll(async () => {
    quiet = await startRoutes();
  });
  afterAll(() => quiet.close());

  it('describe the API in OpenAPI 3.1 and as pages', async () => {
    const { body } = await quiet.call('GET', '/openapi.json', { key: null });
    expect(body.openapi).toBe('3.1.0');
    expect(body.paths?.['/v1/sip/attach']?.post?.responses?.['403']).toMatchObject({
      description: 'CSRF_TOKEN_INVALID, ROLE_TOO_LOW, SIP_NOT_ENABLED',
    });
    const page = await quiet.call('GET', '/docs', { key: null });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<a href="/docs/api/trunks">');
    expect(page.text).not.toMatch(/(?:src|href)="http/);
  });

  it('report in /health that everything is ready when no edge is expected', async () => {
    const { status, body } = await quiet.call('GET', '/health', { key: null });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'ok',
      checks: { database: 'ok', edges: 0 },
      edge: { connected: 0, ids: [], applied_version: null },
    });
  });
});
