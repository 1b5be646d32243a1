import { describe, expect, it } from 'vitest';
import type { WebhookRequest } from '#shared/agent/conversation.ts';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import type { TextAgent } from '../../conversations/text-agent.ts';
import { mockProblems, outsideOf } from './declared.ts';
import { namedHosts, Recorder } from './mocks.ts';

const webhookNode = (id: string, url: string) => ({ id, type: 'Webhook', data: { url } });

function agent(...urls: readonly string[]): TextAgent {
  const nodes = urls.map((url, index) => webhookNode(`n${index}`, url));
  const common = { orgId: 'o', pathwayId: 'p', version: 0 };
  const graphs = [{ ...common, nodes, edges: [], tools: [] }];
  return { kind: 'pathway', ...common, startNodeId: null, firstSentence: null, graphs };
}

const request = (method: string, url: string): WebhookRequest => ({
  method,
  url,
  headers: {},
  body: method === 'GET' ? null : '{"a":1}',
  timeoutMs: 1000,
});

function recorder(metadata: Record<string, unknown>, tested = agent('https://api.example.com/{{id}}')) {
  const sent: string[] = [];
  const runner: ToolRunner = {
    list: () => [],
    learned: async (_name, data) => ({ from_response: data }),
    run: async (name) => {
      sent.push(name);
      return { ok: true, data: 'real', error: null, variables: {} };
    },
  };
  const made = new Recorder({
    outside: outsideOf(metadata),
    agent: tested,
    clock: { now: () => Date.UTC(2030, 0, 1) },
    webhook: async ({ url }) => {
      sent.push(url);
      return { status: 201, body: 'real', error: null };
    },
    tools: () => runner,
  });
  return { made, sent };
}

describe('a webhook of a run', () => {
  it('that only reads is actually sent to a host in the version', async () => {
    const { made, sent } = recorder({});
    const answer = await made.webhook(request('GET', 'https://api.example.com/7'), 'n0');
    expect([answer.status, sent]).toEqual([201, ['https://api.example.com/7']]);
    expect(made.webhookCalls).toMatchObject([
      { node_id: 'n0', status_code: 201, response: 'real', mocked: false },
    ]);
  });

  it('that may write is a dry run, unless the scenario allows it', async () => {
    const dry = recorder({});
    const answer = await dry.made.webhook(request('POST', 'https://api.example.com/7'), 'n0');
    expect([answer, dry.sent]).toEqual([{ status: 200, body: {}, error: null }, []]);
    expect(dry.made.webhookCalls).toMatchObject([{ method: 'POST', body: '{"a":1}', mocked: true }]);
    const real = recorder({ allow_real_requests: true });
    await real.made.webhook(request('POST', 'https://api.example.com/7'), 'n0');
    expect(real.sent).toEqual(['https://api.example.com/7']);
  });

  it('is never sent to a host chosen by a template', async () => {
    const tested = agent('https://{{host}}/a', 'https://api.example.com/', 'no url');
    expect([...namedHosts(tested)]).toEqual(['api.example.com']);
    const { made, sent } = recorder({ allow_real_requests: true }, tested);
    await made.webhook(request('POST', 'https://evil.example.net/a'), 'n0');
    await made.webhook(request('GET', 'https://evil.example.net/a'), 'n0');
    await made.webhook(request('GET', 'nonsense'), 'n0');
    expect(sent).toEqual([]);
  });

  it('is answered by the first matching mock, even where real requests are allowed', async () => {
    const mocks = [
      { url: 'https://api.example.com/a', status: 404 },
      { url: 'https://api.example.com/*', method: 'delete', status: 409 },
      { node_id: 'n0', body: { ok: 1 } },
      { tool: 'n1' },
    ];
    const { made, sent } = recorder({ mocks, allow_real_requests: true });
    const status = async (method: string, path: string, node = 'n0') =>
      (await made.webhook(request(method, `https://api.example.com/${path}`), node)).status;
    expect(await status('POST', 'a')).toBe(404);
    expect(await status('DELETE', 'b')).toBe(409);
    expect(await status('POST', 'b')).toBe(200);
    expect(await status('POST', 'b', 'n1')).toBe(201);
    expect(sent).toEqual(['https://api.example.com/b']);
  });

  it('is answered by the responses of a mock in their order, the last one for all further requests', async () => {
    const responses = [{ status: 503 }, { body: { state: 'sent' } }];
    const { made } = recorder({ mocks: [{ node_id: 'n0', responses }] });
    const ask = () => made.webhook(request('POST', 'https://api.example.com/a'), 'n0');
    expect([await ask(), await ask(), await ask()]).toMatchObject([
      { status: 503, body: null },
      { status: 200, body: { state: 'sent' } },
      { status: 200, body: { state: 'sent' } },
    ]);
  });

  it.each([
    [{ node_id: 'a', respons: 5 }, '/metadata/mocks/0/respons'],
    [{ node_id: 'a', Status: 500 }, '/metadata/mocks/0/Status'],
    [{ tool: 'a', responses: [{ satus: 500 }] }, '/metadata/mocks/0/responses/0/satus'],
    [{ tool: 'a', status: 99 }, '/metadata/mocks/0/status'],
    [{ tool: 'a', status: '500' }, '/metadata/mocks/0/status'],
    [{ tool: 'a', variables: [] }, '/metadata/mocks/0/variables'],
    [{ tool: 'a', responses: [] }, '/metadata/mocks/0/responses'],
    [{ tool: 'a', status: 200, responses: [{}] }, '/metadata/mocks/0/responses'],
    [{ tool: 'a', url: 'https://a.example/' }, '/metadata/mocks/0/tool'],
    [{ tool: 5, node_id: 'a' }, '/metadata/mocks/0/tool'],
    [{ status: 200 }, '/metadata/mocks/0'],
    ['x', '/metadata/mocks/0'],
  ])('with the mock %j is refused', (mock, path) => {
    expect(mockProblems({ mocks: [mock] }).map((problem) => problem.path)).toContain(path);
  });

  it('accepts every member of a mock that there is', () => {
    const answer = { status: 200, body: { a: 1 }, variables: { a: 1 } };
    const mocks = [
      { node_id: 'a', url: 'https://a.example/*', method: 'post', ...answer },
      { tool: 'a', responses: [answer, {}] },
    ];
    expect(mockProblems({ mocks, allow_real_requests: true, other: { free: 'form' } })).toEqual([]);
    expect(mockProblems({ mocks: {} })).toHaveLength(1);
    expect(mockProblems({ mock: [], mocks })).toHaveLength(1);
    expect(mockProblems({ allow_real_requests: 'yes' })).toHaveLength(1);
  });

  it('leaves out invalid mocks of earlier versions', () => {
    const mocks = [null, 5, {}, { status: 200 }, { node_id: 7 }, { node_id: 'a', status: 9000 }];
    expect(outsideOf({ mocks }).mocks).toMatchObject([{ nodeId: 'a', responses: [{ status: 200 }] }]);
    expect(outsideOf({ mocks: 'x' })).toEqual({ mocks: [], allowReal: false });
    expect(outsideOf(null)).toEqual({ mocks: [], allowReal: false });
    expect(outsideOf({ allow_real_requests: 'true' }).allowReal).toBe(false);
  });
});

describe('a tool of a run', () => {
  const use = async (metadata: Record<string, unknown>, name = 'price') => {
    const { made, sent } = recorder(metadata);
    const conversation = { orgId: 'o', conversationId: 'r', source: 'test' as const };
    const runner = made.tools?.([], conversation);
    const result = await runner?.run(name, { item: 'x' }, new AbortController().signal, {});
    return { result, sent, calls: made.toolCalls };
  };

  it('is a dry run with a neutral success', async () => {
    const { calls, result, sent } = await use({});
    expect([result, sent]).toEqual([{ ok: true, data: {}, error: null, variables: {} }, []]);
    expect(calls).toEqual([
      {
        name: 'price',
        node_id: null,
        input: { item: 'x' },
        ok: true,
        result: {},
        at: '2030-01-01T00:00:00.000Z',
        mocked: true,
      },
    ]);
  });

  it('is answered by its mock, with variables, or with a failure', async () => {
    const good = await use({ mocks: [{ tool: 'price', body: { eur: 5 }, variables: { price: 5 } }] });
    expect(good.result).toEqual({
      ok: true,
      data: { eur: 5 },
      error: null,
      variables: { price: 5, from_response: { eur: 5 } },
    });
    const bad = await use({ mocks: [{ tool: 'price', status: 500 }] });
    expect(bad.result).toMatchObject({ ok: false, error: 'the mock answers with status 500' });
  });

  it('is actually used only where the scenario allows it', async () => {
    const { calls, result, sent } = await use({ allow_real_requests: true });
    expect([result?.data, sent, calls[0]?.mocked]).toEqual(['real', ['price'], false]);
  });
});
