import { beforeEach, describe, expect, it } from 'vitest';
import { ToolRuns } from '../../test/kit/control/tool-runs.ts';
import type { TargetServer } from '../../test/kit/control/tools.ts';

const tools = ToolRuns.ofFile();
const { test } = tools;
let target: TargetServer;
beforeEach(() => {
  ({ target } = tools);
});

describe('resources', () => {
  it('are connected, listed oldest first, and disconnected, without showing their credentials', async () => {
    const base_url = 'https://chat.example.com/api';
    const first = await tools.connect('chat-app', { base_url, token: 'first-secret' });
    test.clock.advance(1);
    const second = await tools.connect('chat-app', { base_url, token: 'second-secret' });
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
    const resource_id = await tools.connect('rest_api', {
      base_url: `${target.url}/v1`,
      headers: { Authorization: 'Bearer secret' },
    });
    const own = await tools.create({
      resource_id,
      body: { url: '/orders', headers: { authorization: 'mine' } },
    });
    const whole = await tools.create({ resource_id, body: { url: `${target.url}/v1/orders` } });
    const beside = await tools.create({ resource_id, body: { url: `${target.url}/v10` } });
    for (const id of [own, whole, beside]) await tools.run(id);
    expect(target.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v1/orders', 'Bearer secret'],
      ['/v1/orders', 'Bearer secret'],
      ['/v10', undefined],
    ]);
  });

  it('become inactive with the third consecutive 401, and their tools are answered with 404', async () => {
    const resource_id = await tools.connect('rest_api', {
      base_url: target.url,
      headers: { authorization: 'x' },
    });
    const id = await tools.create({ resource_id, body: { url: '/' } });
    const refused = { status: 401 };
    target.reply(refused, refused, { status: 500 }, refused, refused, refused);
    for (let count = 0; count < 6; count++) expect((await tools.run(id)).status).toBe(200);
    const { data } = (await test.call('GET', '/v1/integrations/rest_api/resources')).body;
    expect(data).toEqual({ resources: [{ id: resource_id, name: 'Main', status: 'inactive' }] });
    expect((await tools.run(id)).codes).toEqual(['RESOURCE_NOT_FOUND']);
    const update = await test.call('POST', `/v2/tools/${id}`, { body: { name: 'other' } });
    expect([update.status, update.codes]).toEqual([404, ['RESOURCE_NOT_FOUND']]);
    expect(
      (await test.call('POST', `/v2/tools/${id}`, { body: { resource_id: null, body: null } })).status,
    ).toBe(200);
  });

  it('are reported missing by tools that need one, and by tools whose resource was deleted', async () => {
    const id = await tools.create({ integration: 'crm-b', action: 'find_contacts' });
    expect((await tools.run(id, { inputs: { query: 'x' } })).codes).toEqual(['RESOURCE_NOT_FOUND']);
    const resource_id = await tools.connect('crm-b', { base_url: target.url, access_token: 'a' });
    const other = await tools.create({ integration: 'crm-b', action: 'find_contacts', resource_id });
    await test.call('DELETE', `/v1/integrations/crm-b/resources/${resource_id}`);
    expect((await tools.run(other, { inputs: { query: 'x' } })).codes).toEqual(['RESOURCE_NOT_FOUND']);
    expect((await test.call('GET', `/v2/tools/${other}`)).body.data).toMatchObject({ resource_id });
  });
});
