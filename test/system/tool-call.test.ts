/** A pathway uses a tool on a live call: keys are the input, the result is spoken; the call survives without control. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ToolChanged, ToolLogs } from '#shared/api/tools.ts';
import { startTarget, type TargetServer } from '../kit/control/tools.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const orders = '+14155550131';
const silence = Buffer.alloc(160, 0xff);

let system: TestSystem;
let target: TargetServer;
let caller: Caller | null = null;
let toolId = '';

beforeAll(async () => {
  target = await startTarget();
  system = await TestSystem.start({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
  const { api } = system;
  toolId = await makeTool();
  const pathway = await api.pathway(
    'orders',
    [
      {
        id: 'ask',
        type: 'Default',
        data: { name: 'Ask', text: 'Your order number?', isStart: true, tools: [toolId] },
      },
      { id: 'tell', type: 'End Call', data: { name: 'Tell', text: 'Order {{order}} is {{status}}.' } },
      { id: 'sorry', type: 'End Call', data: { name: 'Sorry', text: 'Please call again.' } },
    ],
    [
      { id: 'e1', source: 'ask', target: 'tell', data: { label: 'Order number given' } },
      { id: 'e2', source: 'ask', target: 'sorry', data: { label: 'Failure' } },
    ],
  );
  await api.attach(orders);
  await api.answerWith(orders, { pathway_id: pathway });
  await api.applied(orders);
});

afterEach(async () => {
  await caller?.close();
  caller = null;
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => target?.close(),
  ),
);

async function makeTool(): Promise<string> {
  const { data } = await system.api.read(ToolChanged, 'POST', '/v2/tools', {
    name: 'look_up_order',
    description: 'Finds an order',
    integration: 'rest_api',
    action: 'request',
    input_schema: {
      type: 'object',
      properties: { order: { type: 'string', description: 'number of the order' } },
      required: ['order'],
    },
    body: { url: `${target.url}/orders/{{input.order}}`, method: 'GET', headers: { 'x-caller': '{{from}}' } },
    speech: 'One moment.',
    response_data: [{ name: 'status', data: '$.order.status' }],
  });
  return data.id;
}

/** Calls and presses an order number; keys during the question also count. */
async function order(keys: string): Promise<Caller> {
  caller = await callAndTalk(system, orders);
  await caller.media.play([silence, silence, silence, silence, silence]);
  for (const key of keys) await caller.media.press(key);
  await caller.phone.expect('BYE');
  return caller;
}

test('the tool gets the pressed keys, and its result is spoken', async () => {
  target.reply({ body: { order: { status: 'on its way' } } });
  const { callId } = await order('4711#');
  expect(target.received.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /orders/4711']);
  const { id } = await system.api.endedCall(callId);
  const call = await system.api.detail(id);
  const said = call.transcripts.filter(({ user }) => user === 'assistant').map(({ text }) => text);
  expect(said).toEqual(['Your order number?', 'One moment.', 'Order 4711 is on its way.']);
  expect(call.variables).toMatchObject({ order: '4711', status: 'on its way' });
  const logs = await system.api.read(ToolLogs, 'GET', `/v2/tools/${toolId}/logs`);
  expect(logs.data.logs).toMatchObject([
    { source: 'call', conversation_id: id, success: true, status_code: 200 },
  ]);
});

test('without control the call takes the failure edge', async () => {
  target.clear();
  await system.control.end('SIGKILL');
  const { callId } = await order('4712#');
  expect(target.received).toEqual([]);
  await system.startControl();
  const call = await system.api.detail((await system.api.endedCall(callId)).id);
  const lines = call.transcripts.map(({ text }) => text);
  expect(lines).toEqual(
    expect.arrayContaining([
      'One moment.',
      expect.stringMatching(/^the tool failed: the control plane cannot be reached: /),
      'Please call again.',
    ]),
  );
});
