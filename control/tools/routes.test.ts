import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ToolList } from '#shared/api/tools.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { onSqlite } from '../../test/kit/db/test-database.ts';

/** One for all tests: each looks at tools that it has made. */
let test: TestControl;
beforeAll(async () => {
  test = await startRoutes({ RATE_LIMIT_PER_MINUTE: '1000000' });
});
afterAll(() => test.close());

const unknown = '00000000-0000-4000-8000-000000000000';
const minimal = { name: 'lookup', description: 'Finds an order', integration: 'rest_api', action: 'request' };
const whole = {
  ...minimal,
  input_schema: {
    type: 'object',
    properties: { order: { type: 'string' }, items: { type: 'array', items: { type: 'integer' } } },
    required: ['order'],
  },
  body: {
    url: 'https://api.example.com/orders/{{input.order}}',
    method: 'GET',
    headers: { 'x-caller': '{{from}}' },
    query: { first: '{{input.items.0}}' },
  },
  speech: 'One moment.',
  timeout: 2500.5,
  cache: 'true',
  response_data: [{ name: 'status', data: '$.status', context: 'of the order' }],
  max_retries: 2,
  cooldown: 1.5,
  public: true,
  label: 'Orders',
};
const create = (body: unknown, key?: string) =>
  test.call('POST', '/v2/tools', { body, ...(key !== undefined && { key }) });
const idOf = (answer: { body: { data?: { id?: unknown } } }) => String(answer.body.data?.id);

describe('creating a tool', () => {
  it('answers with its id, and applies defaults', async () => {
    const now = new Date(test.clock.now()).toISOString();
    const answer = await create(minimal);
    expect(answer.status).toBe(200);
    const id = idOf(answer);
    expect(answer.body).toEqual({ status: 'success', data: { id }, errors: null });
    expect(id).toMatch(/^TL-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect((await test.call('GET', `/v2/tools/${id}`)).body.data).toEqual({
      id,
      ...minimal,
      input_schema: null,
      body: null,
      speech: null,
      timeout: 10_000,
      cache: false,
      response_data: [],
      max_retries: 0,
      cooldown: 1,
      resource_id: null,
      public: false,
      label: null,
      is_active: true,
      is_draft: false,
      created_at: now,
      updated_at: now,
    });
  });

  it('keeps every field, and a string flag as a boolean', async () => {
    const id = idOf(await create(whole));
    const read = await test.call('GET', `/v2/tools/${id.slice('TL-'.length)}`);
    expect(read.body.data).toMatchObject({ ...whole, id, cache: true });
    const text = '{"url":"https://api.example.com/","body":{"n":{{input.order}}}}';
    const other = idOf(await create({ ...whole, body: text, cache: false, response_data: null }));
    expect((await test.call('GET', `/v2/tools/${other}`)).body.data).toMatchObject({
      body: text,
      cache: false,
      response_data: null,
    });
  });

  it.each(['input', ' HANG ', 'Speak', 'button'])('rejects the reserved name %j', async (name) => {
    const answer = await create({ ...minimal, name });
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    expect(answer.body.status).toBe('error');
    expect(answer.body.errors).toMatchObject([
      { details: { path: '/name', reserved: expect.arrayContaining(['input', 'hang']) } },
    ]);
    expect((await create({ ...minimal, name: `${name} it` })).status).toBe(200);
  });

  it('rejects unknown integrations and actions, and lists the known ones', async () => {
    const integration = await create({ ...minimal, integration: 'nothing' });
    expect([integration.status, integration.codes]).toEqual([400, ['INTEGRATION_NOT_FOUND']]);
    expect(integration.body.errors).toMatchObject([
      {
        details: {
          integrations: [
            'service-sms',
            'custom-code',
            'chat-app',
            'crm-a',
            'rest_api',
            'crm-b',
            'scheduling-a',
            'scheduling-b',
            'notes-app',
          ],
        },
      },
    ]);
    const action = await create({ ...minimal, integration: 'crm-a', action: 'request' });
    expect([action.status, action.codes]).toEqual([400, ['ACTION_NOT_FOUND']]);
    expect(action.body.errors).toMatchObject([
      {
        message: expect.stringMatching(/create_record, update_record, find_records$/),
        details: { valid_actions: ['create_record', 'update_record', 'find_records'] },
      },
    ]);
  });

  const deep = (levels: number): object => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } });
  it.each([
    ['/type', { properties: {} }],
    ['/type', { type: 'array' }],
    ['/properties', { type: 'object', properties: [] }],
    ['/properties/a', { type: 'object', properties: { a: 'string' } }],
    ['/properties/a/type', { type: 'object', properties: { a: { type: 'text' } } }],
    ['/properties/a/pattern', { type: 'object', properties: { a: { pattern: '(' } } }],
    ['/properties/a/enum', { type: 'object', properties: { a: { enum: [] } } }],
    ['/properties/a/items', { type: 'object', properties: { a: { items: 3 } } }],
    ['/required', { type: 'object', properties: { a: {} }, required: ['b'] }],
    ['/required', { type: 'object', properties: {}, required: 'a' }],
    ['/properties/a/$ref', { type: 'object', properties: { a: { $ref: 'https://a.example/b.json' } } }],
    ['/properties/a/$ref', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
    ['/properties/a/$id', { type: 'object', properties: { a: { $id: 'x' } } }],
    ['', { type: 'object', $ref: '#' }],
    ['/properties/a', { type: 'object', properties: { a: { allOf: [{ $ref: '#/properties/a' }] } } }],
    ['', { type: 'object', ...deep(6) }],
  ])('rejects an input schema with an error at %s: %j', async (path, input_schema) => {
    const answer = await create({ ...minimal, input_schema });
    expect([answer.status, answer.codes[0]]).toEqual([400, 'INVALID_INPUT_SCHEMA']);
    expect(answer.body.errors).toMatchObject([{ details: { path: `/input_schema${path}` } }]);
  });

  it('accepts schemas with internal references', async () => {
    const input_schema = {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: {
        node: { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/node' } } } },
      },
    };
    expect((await create({ ...minimal, input_schema })).status).toBe(200);
  });

  it('rejects references that the input schema does not have, in any form of body', async () => {
    for (const body of [
      {
        url: 'https://a.example/{{input.x}}',
        body: { deep: ['{{ input.y.z }}', '{{name}} {{input.order}}'] },
      },
      '{"url":"https://a.example/{{input.x}}","body":{{input.y.z}}}',
    ]) {
      const answer = await create({ ...whole, body });
      expect([answer.status, answer.codes]).toEqual([400, ['UNKNOWN_TEMPLATE_REFERENCE']]);
      expect(answer.body.errors).toMatchObject([{ details: { references: ['input.x', 'input.y.z'] } }]);
    }
    expect((await create({ ...minimal, body: { url: 'https://a.example/{{input.x}}' } })).codes).toEqual([
      'UNKNOWN_TEMPLATE_REFERENCE',
    ]);
  });

  it.each([
    ['/body/url', {}],
    ['/body/url', { url: 'ftp://a.example/' }],
    ['/body/url', { url: 'https://{{host}}/a' }],
    ['/body/url', { url: 'https://api.example.com{{rest}}' }],
    ['/body/url', { url: 'https://api.example.com:{{port}}/' }],
    ['/body/url', { url: '{{scheme}}://api.example.com/' }],
    ['/body/url', { url: 'https://user:pass@api.example.com/' }],
    ['/body/url', { url: '/path/without/resource' }],
    ['/body/method', { url: 'https://a.example/', method: 'TRACE' }],
    ['/body/headers/Host', { url: 'https://a.example/', headers: { Host: 'b.example' } }],
    ['/body/headers/x', { url: 'https://a.example/', headers: { x: 'a\r\nb: c' } }],
    ['/body/query', { url: 'https://a.example/', query: 'a=b' }],
    ['/body/body/{{name}}', { url: 'https://a.example/', body: { '{{name}}': 1 } }],
  ])('rejects a request at %s: %j', async (path, body) => {
    const answer = await create({ ...minimal, body });
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    expect(answer.body.errors).toMatchObject([{ details: { path } }]);
  });

  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://169.254.169.254/latest/meta-data/{{name}}',
    'http://localhost:8080/',
    'http://100.64.0.1/',
  ])('rejects the target %s', async (url) => {
    const answer = await create({ ...minimal, body: { url } });
    expect([answer.status, answer.codes]).toEqual([400, ['TARGET_NOT_ALLOWED']]);
    expect(answer.body.errors).toMatchObject([{ details: { path: '/body/url' } }]);
  });

  it.each([
    [{}, '/name'],
    [{ ...minimal, name: '' }, '/name'],
    [{ ...minimal, name: '   ' }, '/name'],
    [{ ...minimal, name: 'x'.repeat(129) }, '/name'],
    [{ ...minimal, description: 'x'.repeat(5001) }, '/description'],
    [{ ...minimal, timeout: 999 }, '/timeout'],
    [{ ...minimal, timeout: '1000' }, '/timeout'],
    [{ ...minimal, max_retries: 5 }, '/max_retries'],
    [{ ...minimal, max_retries: 1.5 }, '/max_retries'],
    [{ ...minimal, cooldown: 0 }, '/cooldown'],
    [{ ...minimal, cache: 'yes' }, '/cache'],
    [{ ...minimal, cache: 1 }, '/cache'],
    [{ ...minimal, resource_id: 'x' }, '/resource_id'],
    [{ ...minimal, response_data: [{ name: 'a' }] }, '/response_data/0/data'],
    [{ ...minimal, response_data: [{ name: 'a', data: '$..[' }] }, '/response_data/0/data'],
    [{ ...minimal, body: 5 }, '/body'],
    [{ ...minimal, body: 'no JSON' }, '/body'],
    [{ ...minimal, other: 1 }, '/other'],
    [{ ...minimal, integration: 'custom-code', action: 'run_javascript', body: { code: '' } }, '/body/code'],
  ])('rejects %j', async (body, path) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual(
      expect.arrayContaining([expect.objectContaining({ details: expect.objectContaining({ path }) })]),
    );
  });

  it('requires an existing resource when it references one', async () => {
    const answer = await create({ ...minimal, resource_id: unknown });
    expect([answer.status, answer.codes]).toEqual([404, ['RESOURCE_NOT_FOUND']]);
    expect((await create({ ...minimal, integration: 'crm-a', action: 'create_record' })).status).toBe(200);
  });
});

describe('a new resource', () => {
  it.each([
    ['chat-app', { base_url: 'https://x.example.com', token: '********' }, '/credentials/token'],
    ['rest_api', { headers: { 'X-Key': '********' } }, '/credentials/headers/X-Key'],
  ])('of %s rejects the mask of a secret, because none is stored', async (integration, credentials, path) => {
    const answer = await test.call('POST', `/v1/integrations/${integration}/resources`, {
      body: { name: 'r', credentials },
    });
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    expect(answer.body.errors).toMatchObject([{ details: { path } }]);
  });
});

describe('the list', () => {
  it('is paged, searched and ordered by age', async () => {
    // All tools of this organization are made here.
    const key = test.foreignKey;
    const ids: string[] = [];
    for (const name of ['Alpha', 'beta 100%', 'Gamma']) {
      ids.push(idOf(await create({ ...minimal, name, description: `about ${name}` }, key)));
      test.clock.advance(1);
    }
    await create(minimal);
    const list = async (query: string) => {
      const { data } = (await test.call('GET', `/v2/tools?${query}`, { key })).read(ToolList);
      return { ids: data.tools.map(({ id }) => ids.indexOf(id)), pagination: data.pagination };
    };
    expect(await list('')).toEqual({
      ids: [2, 1, 0],
      pagination: { page: 1, limit: 50, hasMore: false, nextPage: null },
    });
    expect(await list('limit=2&orderBy=created_at&orderDirection=asc')).toEqual({
      ids: [0, 1],
      pagination: { page: 1, limit: 2, hasMore: true, nextPage: 2 },
    });
    expect(await list('limit=2&page=2&orderDirection=asc')).toEqual({
      ids: [2],
      pagination: { page: 2, limit: 2, hasMore: false, nextPage: null },
    });
    expect((await list('search=ALPHA')).ids).toEqual([0]);
    expect((await list('search=about%20g')).ids).toEqual([2]);
    expect((await list(`search=${encodeURIComponent('100%')}`)).ids).toEqual([1]);
    expect((await list('search=_')).ids).toEqual([]);
    expect((await list('page=9')).ids).toEqual([]);
  });

  it.each(['page=0', 'limit=0', 'limit=1001', 'limit=x', 'orderBy=name', 'orderDirection=up'])(
    'rejects ?%s',
    async (query) => {
      const answer = await test.call('GET', `/v2/tools?${query}`);
      expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
      expect(answer.body.status).toBe('error');
    },
  );

  it.runIf(onSqlite)('reads its page and order from an index', async () => {
    const { db } = test.control.services.database;
    const plan = await sql`explain query plan select * from tools where org_id = 'x'
      order by created_at desc, id desc limit 51`.execute(db);
    expect(JSON.stringify(plan)).toContain('tools_by_age');
    expect(JSON.stringify(plan)).not.toContain('TEMP B-TREE');
  });
});

describe('updating', () => {
  it('accepts any fields, and checks the merged tool', async () => {
    const made = new Date(test.clock.now()).toISOString();
    const id = idOf(await create(whole));
    test.clock.advance(1000);
    const answer = await test.call('POST', `/v2/tools/${id}`, { body: { name: 'other', speech: null } });
    expect(answer.body).toEqual({ status: 'success', data: { id }, errors: null });
    expect((await test.call('GET', `/v2/tools/${id}`)).body.data).toMatchObject({
      ...whole,
      cache: true,
      name: 'other',
      speech: null,
      created_at: made,
      updated_at: new Date(test.clock.now()).toISOString(),
    });
    const refused = await test.call('POST', `/v2/tools/${id}`, { body: { input_schema: null } });
    expect(refused.codes).toEqual(['UNKNOWN_TEMPLATE_REFERENCE']);
    expect((await test.call('POST', `/v2/tools/${id}`, { body: { action: 'send_sms' } })).codes).toEqual([
      'ACTION_NOT_FOUND',
    ]);
    expect((await test.call('POST', `/v2/tools/${id}`, { body: { name: 'dial' } })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
    expect((await test.call('POST', `/v2/tools/${id}`, { body: {} })).status).toBe(200);
    expect((await test.call('POST', `/v2/tools/${id}`, { body: { nothing: 1 } })).codes).toEqual([
      'UNKNOWN_PROPERTY',
    ]);
  });
});

describe('deleting', () => {
  it('removes the tool and its logs', async () => {
    const id = idOf(await create(whole));
    expect((await test.call('DELETE', `/v2/tools/${id}`)).body).toEqual({
      status: 'success',
      data: { id, deleted: true },
      errors: null,
    });
    expect((await test.call('GET', `/v2/tools/${id}`)).codes).toEqual(['TOOL_NOT_FOUND']);
    expect((await test.call('DELETE', `/v2/tools/${id}`)).codes).toEqual(['TOOL_NOT_FOUND']);
  });
});

describe('every tool endpoint', () => {
  it("requires a key, and does not find other organizations' tools or malformed ids", async () => {
    const own = idOf(await create(minimal));
    const requests = (id: string) =>
      [
        ['GET', `/v2/tools/${id}`],
        ['POST', `/v2/tools/${id}`],
        ['DELETE', `/v2/tools/${id}`],
        ['POST', `/v2/tools/${id}/run`],
        ['GET', `/v2/tools/${id}/logs`],
      ] as const;
    for (const [method, url] of [...requests(own), ['GET', '/v2/tools'], ['POST', '/v2/tools']] as const) {
      const answer = await test.call(method, url, { key: null });
      expect([answer.status, answer.body.data, answer.codes]).toEqual([401, null, ['AUTH_FAILURE']]);
    }
    for (const id of [`TL-${unknown}`, unknown, 'TL-x', 'x', 'TL-', own.toUpperCase()]) {
      for (const [method, url] of requests(id)) {
        const answer = await test.call(method, url);
        expect([answer.status, answer.codes]).toEqual([404, ['TOOL_NOT_FOUND']]);
      }
    }
    for (const [method, url] of requests(own)) {
      expect((await test.call(method, url, { key: test.foreignKey })).codes).toEqual(['TOOL_NOT_FOUND']);
    }
    expect((await test.call('GET', '/v1/tools')).codes).toEqual(['ROUTE_NOT_FOUND']);
  });
});
