import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import { createToolClient } from './tool-client.ts';

const tool: AgentTool = {
  tool_id: 'TL-1',
  name: 'look_up',
  description: 'Finds',
  input_schema: null,
  speech: 'One moment.',
  timeout_ms: 5000,
};
const call = { callId: 'c1', orgId: 'o1' };
const { signal } = new AbortController();

let server: Server;
let port = 0;
let requests: { url: string; authorization: string; body: unknown }[] = [];
let reply: { status: number; body: string } | null = null;
let arrived = Promise.withResolvers<void>();
const clock = new FakeClock();
beforeEach(async () => {
  requests = [];
  arrived = Promise.withResolvers<void>();
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { url = '', headers } = request;
      requests.push({ url, authorization: headers.authorization ?? '', body: JSON.parse(body) });
      arrived.resolve();
      if (reply) response.writeHead(reply.status).end(reply.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const runner = () =>
  createToolClient({ controlUrl: `http://127.0.0.1:${port}`, edgeToken: 'et_1', clock })([tool], call);
const failure = (error: string) => ({ ok: false, data: null, error, variables: {} });

describe('the tools of a call', () => {
  it('are run by control', async () => {
    const result = { ok: true, data: [1], error: null, variables: { n: 1 } };
    reply = { status: 200, body: JSON.stringify({ data: result, errors: null }) };
    expect(await runner().run('look_up', { order: 'x' }, signal, { name: 'Ann' })).toEqual(result);
    expect(requests).toEqual([
      {
        url: '/v1/edge/tool-runs',
        authorization: 'Bearer et_1',
        body: {
          org_id: 'o1',
          call_id: 'c1',
          tool_id: 'TL-1',
          inputs: { order: 'x' },
          variables: { name: 'Ann' },
        },
      },
    ]);
    expect(runner().list()).toEqual([
      {
        name: 'look_up',
        description: 'Finds',
        inputSchema: { type: 'object', properties: {} },
        speech: 'One moment.',
      },
    ]);
  });

  it.each([
    [{ status: 503, body: '' }, 'the control plane answered 503'],
    [{ status: 200, body: '{}' }, 'the control plane answered nonsense'],
  ])('fail when control answers %j', async (answer, error) => {
    reply = answer;
    expect(await runner().run('look_up', {}, signal, {})).toEqual(failure(error));
  });

  it('fail when control is away, too slow, or does not know the tool', async () => {
    reply = null;
    const running = runner().run('look_up', {}, signal, {});
    await arrived.promise;
    clock.advance(5000);
    expect(await running).toEqual(failure('the tool did not end within 5000 ms'));
    expect(await runner().run('other', {}, signal, {})).toEqual(failure('there is no tool "other"'));
    const away = createToolClient({ controlUrl: 'http://127.0.0.1:1', edgeToken: 'et_1', clock })(
      [tool],
      call,
    );
    expect(await away.run('look_up', {}, signal, {})).toEqual({
      ...failure(''),
      error: expect.stringMatching(/^the control plane cannot be reached: /),
    });
    expect(clock.pending).toBe(0);
  });

  it('are aborted when the call ends', async () => {
    reply = null;
    const stop = new AbortController();
    const running = runner().run('look_up', {}, stop.signal, {});
    await arrived.promise;
    stop.abort(new Error('the call is over'));
    await expect(running).rejects.toThrow('the call is over');
    expect(clock.pending).toBe(0);
  });
});
