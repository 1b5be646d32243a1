import { beforeEach, describe, expect, it } from 'vitest';
import { order, ToolRuns } from '../../test/kit/control/tool-runs.ts';
import type { TargetServer } from '../../test/kit/control/tools.ts';

const tools = ToolRuns.ofFile();
const { test } = tools;
let target: TargetServer;
beforeEach(() => {
  ({ target } = tools);
});

describe('an edge', () => {
  const ask = (body: unknown, key: string | null = test.edgeToken) =>
    test.call('POST', '/v1/edge/tool-runs', { body, key });

  it('runs tools for its calls, with results that a conversation reuses', async () => {
    const body = { url: `${target.url}/{{input.order}}` };
    const tool = { ...order, body, cache: true, response_data: [{ name: 'n', data: '$.n' }] };
    const tool_id = await tools.create(tool);
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
    const tool_id = await tools.create({ ...order, body: { url: target.url } });
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
