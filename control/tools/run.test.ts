import { createServer } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { order, rest, ToolRuns } from '../../test/kit/control/tool-runs.ts';
import type { TargetServer } from '../../test/kit/control/tools.ts';
import { onceIsEnough } from '../../test/kit/db/test-database.ts';
import { wireSettled } from '../../test/kit/wire.ts';

const tools = ToolRuns.ofFile();
const { test } = tools;
let target: TargetServer;
beforeEach(() => {
  ({ target } = tools);
});

describe('a run', () => {
  it('sends the filled-in template, and takes variables from the response', async () => {
    const id = await tools.create({
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
    const { status, body } = await tools.run(id, {
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
        request: {
          method: 'POST',
          url: `${target.url}/orders/a%2Fb?by=Ann+%26+Bob&tag=a&tag=a%2Fb&none=%7B%22deep%22%3A%5B1%5D%7D&n=5`,
          headers: {
            accept: 'application/json, */*;q=0.8',
            'content-type': 'application/json',
            'user-agent': 'Trunkline',
            'x-caller': '+14155550100',
            'x-none': '',
          },
          body: '{"order":"a/b","extra":{"deep":[1]},"text":"for Ann & Bob"}',
          cut: false,
        },
      },
      errors: null,
    });
    expect(tools.received()).toEqual([
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
    const id = await tools.create({ ...order, body: { url: `${target.url}/`, ...more } });
    await tools.run(id, { inputs: { order: 'q"r', extra: [1] } });
    expect(target.received[0]).toMatchObject({ body: text, headers: { 'content-type': type } });
  });

  it.each([
    [{}, '/inputs/order', 'required'],
    [{ order: 5 }, '/inputs/order', 'must be string'],
    [{ order: 'a', more: 1 }, '/inputs/more', 'not a known property'],
  ])('rejects the inputs %j', async (inputs, path, rule) => {
    const id = await tools.create({ ...order, body: { url: target.url } });
    const answer = await tools.run(id, { inputs });
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    expect(answer.body.errors).toMatchObject([{ details: { path, rule } }]);
    expect(target.received).toEqual([]);
  });

  // Before a database hears of it.
  it.runIf(onceIsEnough)('is not blocked by a schema whose expression takes forever', async () => {
    const forEver = `${'a'.repeat(50)}!`;
    const pattern = { type: 'object', properties: { order: { type: 'string', pattern: '^(a+)+$' } } };
    const one = await tools.create({ input_schema: pattern, body: { url: target.url } });
    expect((await tools.run(one, { inputs: { order: forEver } })).body.errors).toMatchObject([
      { details: { path: '/inputs/order', rule: 'must match pattern "^(a+)+$"' } },
    ]);
    const names = { type: 'object', properties: {}, patternProperties: { '^(a+)+$': {} } };
    const other = await tools.create({ input_schema: names, body: { url: target.url } });
    const rule = 'cannot be checked against the schema: took longer than 100 ms';
    expect((await tools.run(other, { inputs: { [forEver]: 1 } })).body.errors).toMatchObject([
      { details: { path: '/inputs', rule } },
    ]);
  });

  it.each([404, 429, 500, 302])('reports a target that answers %d', async (status) => {
    const id = await tools.create({
      body: { url: target.url },
      response_data: [{ name: 'a', data: '$.a' }],
    });
    target.reply({ status, body: { a: 1 }, headers: { location: `${target.url}/elsewhere` } });
    expect((await tools.run(id)).body.data).toEqual({
      success: false,
      statusCode: status,
      data: { a: 1 },
      responseTime: 0,
      variables: {},
      error: `the target answered ${status}`,
      request: expect.objectContaining({ method: 'POST', body: null }),
    });
    expect(target.received).toHaveLength(1);
  });

  it('reports a target that is unreachable, does not answer JSON, or answers too much', async () => {
    const id = await tools.create({ body: { url: target.url } });
    target.reply({ body: 'plain' }, { body: JSON.stringify('x'.repeat(1_048_576)) }, { body: '' });
    expect((await tools.run(id)).body.data).toMatchObject({ success: true, data: 'plain' });
    const cut = (await tools.run(id)).body.data;
    expect(cut).toMatchObject({
      success: false,
      statusCode: 200,
      error: 'the response is larger than 1048576 bytes and was cut',
    });
    expect(String(cut?.data)).toHaveLength(1_048_576);
    expect((await tools.run(id)).body.data).toMatchObject({ success: true, data: null });
    await target.close();
    expect((await tools.run(id)).body.data).toMatchObject({
      success: false,
      statusCode: null,
      error: '127.0.0.1 refused the connection (ECONNREFUSED)',
    });
  });

  it('keeps a too deeply nested response as text', async () => {
    const id = await tools.create({
      body: { url: target.url },
      response_data: [{ name: 'deep', data: '$' }],
    });
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    target.reply({ body: deep });
    const answer = await tools.run(id);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ success: true, data: deep });
  });

  it('retries what may succeed', async () => {
    const id = await tools.create({
      body: { url: target.url },
      max_retries: 2,
      cooldown: 3,
      timeout: 60_000,
    });
    target.reply({ status: 503 }, { status: 429 }, { body: { ok: 1 } });
    let done = false;
    const running = tools.run(id).finally(() => {
      done = true;
    });
    while (!done) {
      test.clock.advance(100);
      await wireSettled();
    }
    expect((await running).body.data).toMatchObject({ success: true, data: { ok: 1 } });
    target.reply({ status: 400 });
    expect((await tools.run(id)).body.data).toMatchObject({ statusCode: 400 });
    expect(target.received).toHaveLength(4);
    const { data } = (await test.call('GET', `/v2/tools/${id}/logs`)).body;
    expect(data).toMatchObject({ logs: [{ attempts: 1 }, { attempts: 3, success: true }] });
  });

  it('times out an attempt', async () => {
    const id = await tools.create({ body: { url: target.url }, timeout: 1500 });
    target.reply({ silent: true });
    const running = tools.run(id);
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
    const id = await tools.create({});
    expect((await tools.run(id)).body.data).toMatchObject({
      success: false,
      error: 'the tool has no body that describes a request',
    });
    const code = await tools.create({ integration: 'custom-code', action: 'run_javascript' });
    expect((await tools.run(code)).body.data).toMatchObject({ error: 'the tool has no body with code' });
  });

  it('is answered with 503 when the service stops meanwhile', async () => {
    const own = await startRoutes({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
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
    const own = await startRoutes({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', QUOTAS: 'toolRunsAtOnce=1' });
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
    const id = await tools.create({ body: { url: target.url } });
    const before = test.clock.pending;
    await tools.run(id);
    expect(test.clock.pending).toBe(before);
  });
});

describe('targets', () => {
  it('are checked on every address, and contacted at a checked one whatever DNS says later', async () => {
    const id = await tools.create({ body: { url: `http://api.example.com:${target.port}/x` } });
    expect((await tools.run(id)).body.data).toMatchObject({ success: true });
    expect(target.received[0]?.headers.host).toBe(`api.example.com:${target.port}`);
    tools.addresses = [['127.0.0.1', '10.0.0.1']];
    expect((await tools.run(id)).body.data).toMatchObject({
      success: false,
      error: 'api.example.com is not an allowed target: 10.0.0.1 is a private address',
    });
    tools.addresses = [['::ffff:169.254.169.254']];
    expect((await tools.run(id)).body.data).toMatchObject({ success: false, error: /metadata/ });
    expect(target.received).toHaveLength(1);
  });

  it('are not retried after a rejected address', async () => {
    let asked = 0;
    const server = createServer(() => asked++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    tools.addresses = [['10.0.0.1'], ['127.0.0.1']];
    const id = await tools.create({ body: { url: 'http://rebind.example/' }, max_retries: 3 });
    expect((await tools.run(id)).body.data).toMatchObject({ success: false, statusCode: null });
    expect(tools.addresses).toHaveLength(1);
    await new Promise((resolve) => server.close(resolve));
    expect(asked).toBe(0);
  });
});

describe('logs', () => {
  it('are listed newest first, paged, without request or response data', async () => {
    const resource_id = await tools.connect('rest_api', {
      base_url: target.url,
      headers: { authorization: 'key-1' },
    });
    const id = await tools.create({ ...order, resource_id, body: { url: '/{{input.order}}' } });
    target.reply({ status: 500, body: { private: 'answer-1' } });
    await tools.run(id, { inputs: { order: 'order-1' } });
    test.clock.advance(1000);
    await tools.run(id, { inputs: { order: 'order-2' } });
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
