import { afterEach, beforeEach, expect, it } from 'vitest';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { startTarget, type TargetServer } from '../../test/kit/control/tools.ts';

const test = emptiedForEach(() => startRoutes({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }));
let target: TargetServer;
let toolId = '';
let pathwayId = '';
beforeEach(async () => {
  target = await startTarget();
  const tool = {
    name: 'weather',
    description: 'Tells the weather',
    integration: 'rest_api',
    action: 'request',
    input_schema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
    body: { url: `${target.url}/{{input.town}}`, method: 'GET' },
    speech: 'Let me look.',
    response_data: [{ name: 'sky', data: '$.sky' }],
  };
  toolId = String((await test.call('POST', '/v2/tools', { body: tool })).body.data?.id);
  pathwayId = String(
    (await test.call('POST', '/v1/pathway/create', { body: { name: 'W' } })).body.pathway_id,
  );
  const nodes = [
    { id: 'a', type: 'Default', data: { name: 'A', isStart: true, tools: [toolId], text: 'It is {{sky}}.' } },
  ];
  await test.call('POST', `/v1/pathway/${pathwayId}`, { body: { nodes, edges: [] } });
});
afterEach(() => target.close());

/** The tools of the pathway in the edges' configuration. */
async function published(): Promise<unknown> {
  const { pathways } = await test.control.services.edgeConfig.snapshot();
  return pathways.find((pathway) => pathway.pathway_id === pathwayId)?.tools;
}

it('a chat along a pathway runs the tools of its nodes', async () => {
  target.reply({ body: { sky: 'blue' } });
  const body = { pathway_id: pathwayId, request_data: { town: 'Bern' } };
  const chat = await test.call('POST', '/v1/pathway/chat/create', { body });
  expect(chat.body.data).toMatchObject({
    message: 'Let me look.\nIt is blue.',
    variables: { sky: 'blue', town: 'Bern' },
  });
  expect(target.received.map(({ url }) => url)).toEqual(['/Bern']);
  expect((await test.call('GET', `/v2/tools/${toolId}/logs`)).body.data).toMatchObject({
    logs: [{ source: 'chat', conversation_id: chat.body.data?.chat_id, success: true }],
  });
});

it('edges get the tools that pathways reference, and every change of one', async () => {
  const told = {
    tool_id: toolId,
    name: 'weather',
    description: 'Tells the weather',
    input_schema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
    speech: 'Let me look.',
    timeout_ms: 12_000,
  };
  expect(await published()).toEqual([told]);
  await test.call('POST', `/v2/tools/${toolId}`, { body: { max_retries: 2, cooldown: 3, timeout: 1000 } });
  expect(await published()).toEqual([{ ...told, timeout_ms: 11_000 }]);
  await test.call('DELETE', `/v2/tools/${toolId}`);
  expect(await published()).toBeUndefined();
});

it('another organization’s tool cannot be used by the pathway', async () => {
  const nodes = [
    { id: 'a', type: 'Default', data: { name: 'A', isStart: true, tools: [toolId], text: 'Hi' } },
  ];
  const key = test.foreignKey;
  const created = await test.call('POST', '/v1/pathway/create', { body: { name: 'X' }, key });
  pathwayId = String(created.body.pathway_id);
  await test.call('POST', `/v1/pathway/${pathwayId}`, { body: { nodes, edges: [] }, key });
  expect(await published()).toBeUndefined();
  const body = { pathway_id: pathwayId, request_data: { town: 'Bern' } };
  const chat = await test.call('POST', '/v1/pathway/chat/create', { body, key });
  expect(chat.body.data).toMatchObject({ message: 'Hi' });
  expect(target.received).toEqual([]);
});
