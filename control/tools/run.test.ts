import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { startTarget, type TargetServer } from '../../test/kit/control/tools.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

let test: TestControl;
let target: TargetServer;
let addresses: string[][] = [];
beforeEach(async () => {
  target = await startTarget();
  addresses = [];
  test = await startControl(
    { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' },
    { resolve: async () => addresses.shift() ?? ['127.0.0.1'] },
  );
});
afterEach(() =>
  releaseAll(
    () => test.close(),
    () => target.close(),
  ),
);

const rest = { name: 'lookup', description: 'Finds', integration: 'rest_api', action: 'request' };
const order = {
  input_schema: {
    type: 'object',
    properties: { order: { type: 'string', minLength: 1 }, extra: {} },
    required: ['order'],
    additionalProperties: false,
  },
};
async function toolOf(body: Record<string, unknown>): Promise<string> {
  const answer = await test.call('POST', '/v2/tools', { body: { ...rest, ...body } });
  if (answer.status !== 200) throw new Error(answer.text);
  return String(answer.body.data?.id);
}
const run = (id: string, body: unknown = {}) => test.call('POST', `/v2/tools/${id}/run`, { body });
async function connect(integration: string, credentials: Record<string, unknown>): Promise<string> {
  const url = `/v1/integrations/${integration}/resources`;
  const answer = await test.call('POST', url, { body: { name: 'Main', credentials } });
  if (answer.status !== 200) throw new Error(answer.text);
  return String(answer.body.data?.resource?.id);
}
const received = () =>
  target.received.map(({ method, url, body }) => ({
    method,
    url,
    body: body === '' ? null : JSON.parse(body),
  }));

describe('a run', () => {
  it('sends the filled-in template, and takes variables from the response', async () => {
    const id = await toolOf({
      ...order,
      body: {
        url: `${target.url}/orders/{{input.order}}?by={{name}}`,
        method: 'POST',
        headers: { 'X-Caller': '{{from}}', 'X-None': '{{unset}}' },
        query: { tag: ['a', '{{input.order}}'], none: '{{input.extra}}', n: 5 },
        body: { order: '{{input.order}}', extra: '{{input.extra}}', text: 'for {{name}}' },
      },
      response_data: [
        { name: 'status', data: '$.order.status' },
        { name: 'items', data: '$.order.items[*].sku' },
        { name: 'first', data: 'order.items.0.sku' },
        { name: 'all', data: '' },
        { name: 'none', data: '$.nothing' },
      ],
    });
    const answer = { order: { status: 'sent', items: [{ sku: 'A' }, { sku: 'B' }] } };
    target.reply({ status: 201, body: answer });
    const { status, body } = await run(id, {
      inputs: { order: 'a/b', extra: { deep: [1] } },
      variables: { name: 'Ann & Bob', from: '+14155550100' },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      data: {
        success: true,
        statusCode: 201,
        data: answer,
        responseTime: 0,
        variables: { status: 'sent', items: ['A', 'B'], first: 'A', all: answer },
        error: null,
      },
      errors: null,
    });
    expect(received()).toEqual([
      {
        method: 'POST',
        url: '/orders/a%2Fb?by=Ann+%26+Bob&tag=a&tag=a%2Fb&none=%7B%22deep%22%3A%5B1%5D%7D&n=5',
        body: { order: 'a/b', extra: { deep: [1] }, text: 'for Ann & Bob' },
      },
    ]);
    expect(target.received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-caller': '+14155550100',
      'x-none': '',
      'user-agent': 'Trunkline',
    });
  });

  it.each([
    [{ body: '{"a": {{input.extra}}, "b": "{{input.order}}"}' }, 'application/json', '{"a":[1],"b":"q\\"r"}'],
    [{ body: '<o>{{input.order}}</o>' }, 'text/plain; charset=utf-8', '<o>q"r</o>'],
    [{ body: '{{input.order}}' }, 'text/plain; charset=utf-8', 'q"r'],
    [{ body: '{{input.extra}}' }, 'application/json', '[1]'],
    [
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a={{input.order}}&b=1' },
      'application/x-www-form-urlencoded',
      'a=q%22r&b=1',
    ],
    [
      {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: { a: '{{input.order}}', b: 1 },
      },
      'application/x-www-form-urlencoded',
      'a=q%22r&b=1',
    ],
  ])('sends the body of %j as %s', async (more, type, text) => {
    const id = await toolOf({ ...order, body: { url: `${target.url}/`, ...more } });
    await run(id, { inputs: { order: 'q"r', extra: [1] } });
    expect(target.received[0]).toMatchObject({ body: text, headers: { 'content-type': type } });
  });

  it.each([
    [{}, '/inputs/order', 'required'],
    [{ order: 5 }, '/inputs/order', 'must be string'],
    [{ order: 'a', more: 1 }, '/inputs/more', 'not a known property'],
  ])('rejects the inputs %j', async (inputs, path, rule) => {
    const id = await toolOf({ ...order, body: { url: target.url } });
    const answer = await run(id, { inputs });
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    expect(answer.body.errors).toMatchObject([{ details: { path, rule } }]);
    expect(target.received).toEqual([]);
  });

  it('is not blocked by a schema whose expression takes forever', async () => {
    const forEver = `${'a'.repeat(50)}!`;
    const pattern = { type: 'object', properties: { order: { type: 'string', pattern: '^(a+)+$' } } };
    const one = await toolOf({ input_schema: pattern, body: { url: target.url } });
    expect((await run(one, { inputs: { order: forEver } })).body.errors).toMatchObject([
      { details: { path: '/inputs/order', rule: 'must match pattern "^(a+)+$"' } },
    ]);
    const names = { type: 'object', properties: {}, patternProperties: { '^(a+)+$': {} } };
    const other = await toolOf({ input_schema: names, body: { url: target.url } });
    const rule = 'cannot be checked against the schema: took longer than 100 ms';
    expect((await run(other, { inputs: { [forEver]: 1 } })).body.errors).toMatchObject([
      { details: { path: '/inputs', rule } },
    ]);
  });

  it.each([404, 429, 500, 302])('reports a target that answers %d', async (status) => {
    const id = await toolOf({
      body: { url: target.url },
      response_data: [{ name: 'a', data: '$.a' }],
    });
    target.reply({ status, body: { a: 1 }, headers: { location: `${target.url}/elsewhere` } });
    expect((await run(id)).body.data).toEqual({
      success: false,
      statusCode: status,
      data: { a: 1 },
      responseTime: 0,
      variables: {},
      error: `the target answered ${status}`,
    });
    expect(target.received).toHaveLength(1);
  });

  it('reports a target that is unreachable, does not answer JSON, or answers too much', async () => {
    const id = await toolOf({ body: { url: target.url } });
    target.reply({ body: 'plain' }, { body: JSON.stringify('x'.repeat(1_048_576)) }, { body: '' });
    expect((await run(id)).body.data).toMatchObject({ success: true, data: 'plain' });
    const cut = (await run(id)).body.data;
    expect(cut).toMatchObject({
      success: false,
      statusCode: 200,
      error: 'the response is larger than 1048576 bytes and was cut',
    });
    expect(String(cut?.data)).toHaveLength(1_048_576);
    expect((await run(id)).body.data).toMatchObject({ success: true, data: null });
    await target.close();
    expect((await run(id)).body.data).toMatchObject({
      success: false,
      statusCode: null,
      error: '127.0.0.1 refused the connection (ECONNREFUSED)',
    });
  });

  it('keeps a too deeply nested response as text', async () => {
    const id = await toolOf({ body: { url: target.url }, response_data: [{ name: 'deep', data: '$' }] });
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    target.reply({ body: deep });
    const answer = await run(id);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ success: true, data: deep });
  });

  it('retries what may succeed', async () => {
    const id = await toolOf({ body: { url: target.url }, max_retries: 2, cooldown: 3, timeout: 60_000 });
    target.reply({ status: 503 }, { status: 429 }, { body: { ok: 1 } });
    let done = false;
    const running = run(id).finally(() => {
      done = true;
    });
    while (!done) {
      test.clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await running).body.data).toMatchObject({ success: true, data: { ok: 1 } });
    target.reply({ status: 400 });
    expect((await run(id)).body.data).toMatchObject({ statusCode: 400 });
    expect(target.received).toHaveLength(4);
    const { data } = (await test.call('GET', `/v2/tools/${id}/logs`)).body;
    expect(data).toMatchObject({ logs: [{ attempts: 1 }, { attempts: 3, success: true }] });
  });

  it('times out an attempt', async () => {
    const id = await toolOf({ body: { url: target.url }, timeout: 1500 });
    target.reply({ silent: true });
    const running = run(id);
    await target.seen(1);
    test.clock.advance(1500);
    expect((await running).body.data).toMatchObject({
      success: false,
      error: 'no answer within 1500 ms',
      responseTime: 1500,
    });
    const { data } = (await test.call('GET', `/v2/tools/${id}/logs`)).body;
    expect(data).toMatchObject({
      logs: [{ source: 'api', success: false, status_code: null, duration_ms: 1500, attempts: 1 }],
      pagination: { page: 1, limit: 50, hasMore: false, nextPage: null },
    });
  });

  it('without a body reports what is missing', async () => {
    const id = await toolOf({});
    expect((await run(id)).body.data).toMatchObject({
      success: false,
      error: 'the tool has no body that describes a request',
    });
    const code = await toolOf({ integration: 'custom-code', action: 'run_javascript' });
    expect((await run(code)).body.data).toMatchObject({ error: 'the tool has no body with code' });
  });

  it('is answered with 503 when the service stops meanwhile', async () => {
    const own = await startControl({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
    const tool = { ...rest, body: { url: target.url }, max_retries: 4 };
    const id = String((await own.call('POST', '/v2/tools', { body: tool })).body.data?.id);
    target.reply({ silent: true });
    const running = own.call('POST', `/v2/tools/${id}/run`);
    await target.seen(1);
    await own.close();
    const answer = await running;
    expect([answer.status, answer.codes]).toEqual([503, ['SERVICE_UNAVAILABLE']]);
    expect(target.received).toHaveLength(1);
  });

  it('leaves room for other organizations', async () => {
    const own = await startControl({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', QUOTAS: 'toolRunsAtOnce=1' });
    const make = async (key: string) => {
      const body = { ...rest, body: { url: target.url } };
      return String((await own.call('POST', '/v2/tools', { body, key })).body.data?.id);
    };
    const [mine, theirs] = [await make(own.key), await make(own.foreignKey)];
    target.reply({ silent: true });
    const slow = own.call('POST', `/v2/tools/${mine}/run`);
    await target.seen(1);
    expect((await own.call('POST', `/v2/tools/${mine}/run`)).body.data).toMatchObject({
      success: false,
      error: 'too many tools of the organization run at the same time; wait for one to end',
    });
    const other = await own.call('POST', `/v2/tools/${theirs}/run`, { key: own.foreignKey });
    expect(other.body.data).toMatchObject({ success: true });
    own.clock.advance(10_000);
    expect((await slow).body.data).toMatchObject({ error: 'no answer within 10000 ms' });
    expect((await own.call('POST', `/v2/tools/${mine}/run`)).body.data).toMatchObject({ success: true });
    await own.close();
  });

  it('leaves no timer behind', async () => {
    const id = await toolOf({ body: { url: target.url } });
    const before = test.clock.pending;
    await run(id);
    expect(test.clock.pending).toBe(before);
  });
});

describe('targets', () => {
  it('are checked on every address, and contacted at a checked one whatever DNS says later', async () => {
    const id = await toolOf({ body: { url: `http://api.example.com:${target.port}/x` } });
    expect((await run(id)).body.data).toMatchObject({ success: true });
    expect(target.received[0]?.headers.host).toBe(`api.example.com:${target.port}`);
    addresses = [['127.0.0.1', '10.0.0.1']];
    expect((await run(id)).body.data).toMatchObject({
      success: false,
      error: 'api.example.com is not an allowed target: 10.0.0.1 is a private address',
    });
    addresses = [['::ffff:169.254.169.254']];
    expect((await run(id)).body.data).toMatchObject({ success: false, error: /metadata/ });
    expect(target.received).toHaveLength(1);
  });

  it('are not retried after a rejected address', async () => {
    let asked = 0;
    const server = createServer(() => asked++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    addresses = [['10.0.0.1'], ['127.0.0.1']];
    const id = await toolOf({ body: { url: 'http://rebind.example/' }, max_retries: 3 });
    expect((await run(id)).body.data).toMatchObject({ success: false, statusCode: null });
    expect(addresses).toHaveLength(1);
    await new Promise((resolve) => server.close(resolve));
    expect(asked).toBe(0);
  });
});

describe('resources', () => {
  it('are connected, listed oldest first, and disconnected, without showing their credentials', async () => {
    const base_url = 'https://chat.example.com/api';
    const first = await connect('chat-app', { base_url, token: 'first-secret' });
    test.clock.advance(1);
    const second = await connect('chat-app', { base_url, token: 'second-secret' });
    const list = await test.call('GET', '/v1/integrations/chat-app/resources');
    expect(list.body).toEqual({
      data: {
        resources: [
          { id: first, name: 'Main', status: 'active' },
          { id: second, name: 'Main', status: 'active' },
        ],
      },
      errors: null,
    });
    const rows = await test.control.services.database.db
      .selectFrom('integration_resources')
      .selectAll()
      .execute();
    expect(JSON.stringify(rows)).not.toMatch(/secret|chat\.example/);
    const foreign = { key: test.foreignKey };
    expect((await test.call('GET', '/v1/integrations/chat-app/resources', foreign)).body.data).toEqual({
      resources: [],
    });
    const url = `/v1/integrations/chat-app/resources/${first}`;
    expect((await test.call('DELETE', url, foreign)).codes).toEqual(['RESOURCE_NOT_FOUND']);
    expect((await test.call('DELETE', url.replace('chat-app', 'crm-a'))).codes).toEqual([
      'RESOURCE_NOT_FOUND',
    ]);
    expect((await test.call('DELETE', url)).body).toEqual({ data: { deleted: true }, errors: null });
    expect((await test.call('DELETE', url)).codes).toEqual(['RESOURCE_NOT_FOUND']);
    for (const key of [null, test.operatorKey]) {
      expect((await test.call('GET', '/v1/integrations/chat-app/resources', { key })).status).toBe(401);
    }
  });

  it.each([
    ['chat-app', { token: 'a' }, 'INVALID_PARAMETER', '/credentials/base_url'],
    ['chat-app', { base_url: 'https://a.example' }, 'INVALID_PARAMETER', '/credentials/token'],
    ['chat-app', { base_url: 'https://a.example', token: 'a\nb' }, 'INVALID_PARAMETER', '/credentials/token'],
    ['chat-app', { base_url: 'https://a.example', token: 'a', x: 1 }, 'UNKNOWN_PROPERTY', '/credentials/x'],
    ['chat-app', { base_url: 'https://10.0.0.1', token: 'a' }, 'TARGET_NOT_ALLOWED', '/credentials/base_url'],
    ['rest_api', { headers: { host: 'a' } }, 'INVALID_PARAMETER', '/credentials/headers/host'],
    ['rest_api', { base_url: 'ftp://a.example' }, 'INVALID_PARAMETER', '/credentials/base_url'],
    ['service-sms', {}, 'INVALID_PARAMETER', '/credentials'],
  ])('of %s are rejected with %j', async (integration, credentials, code, path) => {
    const url = `/v1/integrations/${integration}/resources`;
    const answer = await test.call('POST', url, { body: { name: 'x', credentials } });
    expect([answer.status, answer.codes]).toEqual([400, [code]]);
    expect(answer.body.errors).toMatchObject([{ details: { path } }]);
  });

  it('are rejected with all their errors', async () => {
    const body = { name: 'x', credentials: { x: 1, base_url: 'ftp://a.example' } };
    const answer = await test.call('POST', '/v1/integrations/chat-app/resources', { body });
    expect(answer.body.errors).toMatchObject([
      { code: 'UNKNOWN_PROPERTY', details: { path: '/credentials/x' } },
      { code: 'INVALID_PARAMETER', details: { path: '/credentials/token' } },
      { code: 'INVALID_PARAMETER', details: { path: '/credentials/base_url' } },
    ]);
  });

  it('of unknown integrations are not found', async () => {
    for (const [method, path] of [
      ['GET', 'actions'],
      ['GET', 'resources'],
      ['POST', 'resources'],
      ['DELETE', 'resources/x'],
    ] as const) {
      const answer = await test.call(method, `/v1/integrations/nothing/${path}`, {
        ...(method === 'POST' && { body: { name: 'x', credentials: {} } }),
      });
      expect([answer.status, answer.codes]).toEqual([404, ['INTEGRATION_NOT_FOUND']]);
    }
  });

  it('send their headers to their own base URL only', async () => {
    const resource_id = await connect('rest_api', {
      base_url: `${target.url}/v1`,
      headers: { Authorization: 'Bearer secret' },
    });
    const own = await toolOf({ resource_id, body: { url: '/orders', headers: { authorization: 'mine' } } });
    const whole = await toolOf({ resource_id, body: { url: `${target.url}/v1/orders` } });
    const beside = await toolOf({ resource_id, body: { url: `${target.url}/v10` } });
    for (const id of [own, whole, beside]) await run(id);
    expect(target.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v1/orders', 'Bearer secret'],
      ['/v1/orders', 'Bearer secret'],
      ['/v10', undefined],
    ]);
  });

  it('become inactive with the third consecutive 401, and their tools are answered with 404', async () => {
    const resource_id = await connect('rest_api', { base_url: target.url, headers: { authorization: 'x' } });
    const id = await toolOf({ resource_id, body: { url: '/' } });
    const refused = { status: 401 };
    target.reply(refused, refused, { status: 500 }, refused, refused, refused);
    for (let count = 0; count < 6; count++) expect((await run(id)).status).toBe(200);
    const { data } = (await test.call('GET', '/v1/integrations/rest_api/resources')).body;
    expect(data).toEqual({ resources: [{ id: resource_id, name: 'Main', status: 'inactive' }] });
    expect((await run(id)).codes).toEqual(['RESOURCE_NOT_FOUND']);
    const update = await test.call('POST', `/v2/tools/${id}`, { body: { name: 'other' } });
    expect([update.status, update.codes]).toEqual([404, ['RESOURCE_NOT_FOUND']]);
    expect(
      (await test.call('POST', `/v2/tools/${id}`, { body: { resource_id: null, body: null } })).status,
    ).toBe(200);
  });

  it('are reported missing by tools that need one, and by tools whose resource was deleted', async () => {
    const id = await toolOf({ integration: 'crm-b', action: 'find_contacts' });
    expect((await run(id, { inputs: { query: 'x' } })).codes).toEqual(['RESOURCE_NOT_FOUND']);
    const resource_id = await connect('crm-b', { base_url: target.url, access_token: 'a' });
    const other = await toolOf({ integration: 'crm-b', action: 'find_contacts', resource_id });
    await test.call('DELETE', `/v1/integrations/crm-b/resources/${resource_id}`);
    expect((await run(other, { inputs: { query: 'x' } })).codes).toEqual(['RESOURCE_NOT_FOUND']);
    expect((await test.call('GET', `/v2/tools/${other}`)).body.data).toMatchObject({ resource_id });
  });
});

const catalogue = [
  [
    'chat-app',
    'send_message',
    { token: 'k' },
    { channel: 'C1', text: 'Hi "all"' },
    { method: 'POST', url: '/chat.postMessage', body: { channel: 'C1', text: 'Hi "all"' } },
  ],
  [
    'chat-app',
    'create_channel',
    { token: 'k' },
    { name: 'calls', is_private: true },
    { method: 'POST', url: '/conversations.create', body: { name: 'calls', is_private: true } },
  ],
  [
    'crm-a',
    'create_record',
    { access_token: 'k' },
    { object: 'Case', fields: { Subject: 'x', Priority: 1 } },
    { method: 'POST', url: '/services/data/v61.0/sobjects/Case', body: { Subject: 'x', Priority: 1 } },
  ],
  [
    'crm-a',
    'update_record',
    { access_token: 'k' },
    { object: 'Case', id: '5/6', fields: { Status: 'Closed' } },
    { method: 'PATCH', url: '/services/data/v61.0/sobjects/Case/5%2F6', body: { Status: 'Closed' } },
  ],
  [
    'crm-a',
    'find_records',
    { access_token: 'k' },
    { object: 'Contact', query: "O'Hara", limit: 3 },
    {
      method: 'GET',
      url: '/services/data/v61.0/parameterizedSearch?q=O%27Hara&sobject=Contact&defaultLimit=3',
      body: null,
    },
  ],
  [
    'crm-b',
    'create_contact',
    { access_token: 'k' },
    { properties: { email: 'a@b.example' } },
    { method: 'POST', url: '/crm/v3/objects/contacts', body: { properties: { email: 'a@b.example' } } },
  ],
  [
    'crm-b',
    'update_contact',
    { access_token: 'k' },
    { id: '7', properties: { phone: '1' } },
    { method: 'PATCH', url: '/crm/v3/objects/contacts/7', body: { properties: { phone: '1' } } },
  ],
  [
    'crm-b',
    'find_contacts',
    { access_token: 'k' },
    { query: 'Ann', limit: 2 },
    { method: 'POST', url: '/crm/v3/objects/contacts/search', body: { query: 'Ann', limit: 2 } },
  ],
  [
    'scheduling-a',
    'list_event_types',
    { token: 'k' },
    { user: 'https://a.example/users/1' },
    { method: 'GET', url: '/event_types?user=https%3A%2F%2Fa.example%2Fusers%2F1', body: null },
  ],
  [
    'scheduling-a',
    'list_available_times',
    { token: 'k' },
    { event_type: 'e', start_time: '2030-01-02T00:00:00Z', end_time: '2030-01-03T00:00:00Z' },
    {
      method: 'GET',
      url: '/event_type_available_times?event_type=e&start_time=2030-01-02T00%3A00%3A00Z&end_time=2030-01-03T00%3A00%3A00Z',
      body: null,
    },
  ],
  [
    'scheduling-a',
    'cancel_event',
    { token: 'k' },
    { event_id: 'E1', reason: 'ill' },
    { method: 'POST', url: '/scheduled_events/E1/cancellation', body: { reason: 'ill' } },
  ],
  [
    'scheduling-b',
    'list_slots',
    { api_key: 'k' },
    { event_type_id: 4, start: '2030-01-02', end: '2030-01-03' },
    { method: 'GET', url: '/v2/slots?eventTypeId=4&start=2030-01-02&end=2030-01-03', body: null },
  ],
  [
    'scheduling-b',
    'create_booking',
    { api_key: 'k' },
    { event_type_id: 4, start: '2030-01-02T09:00:00Z', name: 'Ann', time_zone: 'Europe/Zurich' },
    {
      method: 'POST',
      url: '/v2/bookings',
      body: {
        eventTypeId: 4,
        start: '2030-01-02T09:00:00Z',
        attendee: { name: 'Ann', timeZone: 'Europe/Zurich' },
      },
    },
  ],
  [
    'scheduling-b',
    'cancel_booking',
    { api_key: 'k' },
    { booking_id: 'B1' },
    { method: 'POST', url: '/v2/bookings/B1/cancel', body: {} },
  ],
  [
    'notes-app',
    'create_page',
    { token: 'k' },
    { parent_id: 'P', title: 'Call', paragraphs: ['One'] },
    {
      method: 'POST',
      url: '/v1/pages',
      body: {
        parent: { page_id: 'P' },
        properties: { title: { title: [{ type: 'text', text: { content: 'Call' } }] } },
        children: [
          {
            object: 'block',
            type: 'paragraph',
            paragraph: { rich_text: [{ type: 'text', text: { content: 'One' } }] },
          },
        ],
      },
    },
  ],
  [
    'notes-app',
    'append_blocks',
    { token: 'k' },
    { block_id: 'P', paragraphs: ['One'] },
    {
      method: 'PATCH',
      url: '/v1/blocks/P/children',
      body: {
        children: [
          {
            object: 'block',
            type: 'paragraph',
            paragraph: { rich_text: [{ type: 'text', text: { content: 'One' } }] },
          },
        ],
      },
    },
  ],
  [
    'notes-app',
    'search',
    { token: 'k' },
    { query: 'calls' },
    { method: 'POST', url: '/v1/search', body: { query: 'calls' } },
  ],
] as const;

describe('the catalogue', () => {
  it.each(catalogue)('%s %s', async (integration, action, secret, inputs, expected) => {
    const resource_id = await connect(integration, { base_url: `${target.url}/base/`, ...secret });
    const id = await toolOf({ integration, action, resource_id });
    target.reply({ body: { ok: true, id: 9 } });
    expect((await run(id, { inputs })).body.data).toMatchObject({
      success: true,
      statusCode: 200,
      data: { ok: true, id: 9 },
    });
    expect(received()).toEqual([{ ...expected, url: `/base${expected.url}` }]);
    expect(target.received[0]?.headers.authorization).toBe('Bearer k');
  });

  it('describes every action with a schema, and accepts a body that fills it in', async () => {
    const actions = await test.call('GET', '/v1/integrations/chat-app/actions');
    expect(actions.body.data).toMatchObject({
      actions: [
        {
          key: 'send_message',
          name: expect.any(String),
          description: expect.any(String),
          input_schema: { type: 'object', required: ['channel', 'text'] },
        },
        { key: 'create_channel' },
      ],
    });
    const resource_id = await connect('chat-app', { base_url: target.url, token: 'k' });
    const id = await toolOf({
      ...order,
      integration: 'chat-app',
      action: 'send_message',
      resource_id,
      body: '{"channel":"C1","text":"Order {{input.order}} of {{name}}","thread_ts":{{input.extra}}}',
    });
    await run(id, { inputs: { order: '5' }, variables: { name: 'Ann' } });
    expect(received()).toMatchObject([{ body: { channel: 'C1', text: 'Order 5 of Ann' } }]);
  });

  it('reports what a service rejects, or what an action lacks', async () => {
    const resource_id = await connect('chat-app', { base_url: target.url, token: 'k' });
    const id = await toolOf({ integration: 'chat-app', action: 'send_message', resource_id });
    target.reply({ body: { ok: false, error: 'channel_not_found' } });
    expect((await run(id, { inputs: { channel: 'C', text: 'x' } })).body.data).toMatchObject({
      success: false,
      statusCode: 200,
      error: 'the target refused it: channel_not_found',
    });
    expect((await run(id, { inputs: { channel: 'C' } })).body.data).toMatchObject({
      success: false,
      statusCode: null,
      error: 'send_message cannot be done: /text required',
    });
  });

  it('runs code without network, and reports what it throws', async () => {
    const code =
      'const { a } = input; if (!a) throw new Error("no a"); return { twice: a * 2, city: variables.city };';
    const id = await toolOf({
      integration: 'custom-code',
      action: 'run_javascript',
      body: { code },
      response_data: [{ name: 'twice', data: '$.twice' }],
    });
    expect((await run(id, { inputs: { a: 4 }, variables: { city: 'Bern' } })).body.data).toMatchObject({
      success: true,
      statusCode: null,
      data: { twice: 8, city: 'Bern' },
      variables: { twice: 8 },
    });
    expect((await run(id)).body.data).toMatchObject({ success: false, error: 'Error: no a' });
  });

  it('sends SMS through the deployment’s service, or to its log', async () => {
    const tool = { integration: 'service-sms', action: 'send_sms' };
    const id = await toolOf(tool);
    expect((await run(id, { inputs: { to: '(415) 555-0100', text: 'x' } })).body.data).toMatchObject({
      success: true,
      data: { to: '+4155550100', sent: false },
    });
    expect((await run(id, { inputs: { to: 'nobody', text: 'x' } })).body.data).toMatchObject({
      success: false,
      error: 'send_sms cannot be done: /to must be a phone number',
    });
    const own = await startControl({ SMS_API_URL: `${target.url}/sms`, SMS_API_KEY: 'k', SMS_FROM: '+1999' });
    const created = await own.call('POST', '/v2/tools', { body: { ...rest, ...tool } });
    const url = `/v2/tools/${String(created.body.data?.id)}/run`;
    const sms = { inputs: { to: '+14155550100', text: 'Your table is ready' } };
    target.reply({ status: 202 }, { status: 422 });
    expect((await own.call('POST', url, { body: sms })).body.data).toMatchObject({
      success: true,
      data: { to: '+14155550100', sent: true },
    });
    expect(received()).toEqual([
      {
        method: 'POST',
        url: '/sms',
        body: { from: '+1999', to: '+14155550100', text: 'Your table is ready' },
      },
    ]);
    expect((await own.call('POST', url, { body: sms })).body.data).toMatchObject({
      success: false,
      error: 'the SMS service refuses it',
    });
    await own.close();
  });
});

describe('logs', () => {
  it('are listed newest first, paged, without request or response data', async () => {
    const resource_id = await connect('rest_api', {
      base_url: target.url,
      headers: { authorization: 'key-1' },
    });
    const id = await toolOf({ ...order, resource_id, body: { url: '/{{input.order}}' } });
    target.reply({ status: 500, body: { private: 'answer-1' } });
    await run(id, { inputs: { order: 'order-1' } });
    test.clock.advance(1000);
    await run(id, { inputs: { order: 'order-2' } });
    const first = await test.call('GET', `/v2/tools/${id}/logs?limit=1`);
    expect(first.body.data).toEqual({
      logs: [
        {
          id: expect.any(String),
          started_at: '2030-01-01T00:00:01.000Z',
          source: 'api',
          conversation_id: null,
          success: true,
          cached: false,
          status_code: 200,
          duration_ms: 0,
          attempts: 1,
          error: null,
        },
      ],
      pagination: { page: 1, limit: 1, hasMore: true, nextPage: 2 },
    });
    const second = await test.call('GET', `/v2/tools/${id}/logs?limit=1&page=2`);
    expect(second.body.data).toMatchObject({
      logs: [{ error: 'the target answered 500', status_code: 500 }],
    });
    expect(first.text + second.text).not.toMatch(/key-1|order-|answer-1|127\.0/);
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.text).toContain(
      'trunkline_control_tool_runs_total{integration="rest_api",outcome="failure"} 1',
    );
  });
});

describe('an edge', () => {
  const ask = (body: unknown, key: string | null = test.edgeToken) =>
    test.call('POST', '/v1/edge/tool-runs', { body, key });

  it('runs tools for its calls, with results that a conversation reuses', async () => {
    const body = { url: `${target.url}/{{input.order}}` };
    const tool = { ...order, body, cache: true, response_data: [{ name: 'n', data: '$.n' }] };
    const tool_id = await toolOf(tool);
    const request = {
      org_id: test.orgId,
      call_id: 'call-1',
      tool_id,
      inputs: { order: 'A' },
      variables: { now: '12:00' },
    };
    target.reply({ body: { n: 1 } }, { body: { n: 2 } }, { status: 404 }, { body: { n: 4 } });
    const result = (n: number) => ({
      data: { ok: true, data: { n }, error: null, variables: { n } },
      errors: null,
    });
    expect((await ask(request)).body).toEqual(result(1));
    expect((await ask({ ...request, variables: { now: '12:01' } })).body).toEqual(result(1));
    expect((await ask({ ...request, call_id: 'call-2' })).body).toEqual(result(2));
    const failure = (await ask({ ...request, call_id: 'call-3' })).body.data;
    expect(failure).toMatchObject({ ok: false, error: 'the target answered 404', variables: {} });
    expect((await ask({ ...request, call_id: 'call-3' })).body).toEqual(result(4));
    await test.call('POST', `/v2/tools/${tool_id}`, { body: { timeout: 2000 } });
    target.reply({ body: { n: 5 } });
    expect((await ask(request)).body).toEqual(result(5));
    test.clock.advance(600_000);
    target.reply({ body: { n: 6 } });
    expect((await ask(request)).body).toEqual(result(6));
  });

  it('gets errors in the result, and requires its token', async () => {
    const tool_id = await toolOf({ ...order, body: { url: target.url } });
    const request = { org_id: test.orgId, call_id: 'c', tool_id, inputs: {}, variables: {} };
    expect((await ask(request)).body.data).toMatchObject({ ok: false, error: '/inputs/order: required' });
    expect((await ask({ ...request, org_id: test.foreignOrgId })).body.data).toMatchObject({
      ok: false,
      error: 'the tool was deleted',
    });
    expect((await ask({ ...request, tool_id: 'x' })).body.data).toMatchObject({ ok: false });
    for (const key of [null, test.key, test.operatorKey, 'et_wrong']) {
      const answer = await ask(request, key);
      expect([answer.status, answer.codes]).toEqual([401, ['AUTH_FAILURE']]);
    }
    expect((await ask({})).status).toBe(400);
    const document = await test.call('GET', '/openapi.json', { key: null });
    expect(document.text).not.toContain('/v1/edge/tool-runs');
  });
});
