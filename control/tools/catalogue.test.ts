import { beforeEach, describe, expect, it } from 'vitest';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { order, rest, ToolRuns } from '../../test/kit/control/tool-runs.ts';
import type { TargetServer } from '../../test/kit/control/tools.ts';

const tools = ToolRuns.ofFile();
const { test } = tools;
let target: TargetServer;
beforeEach(() => {
  ({ target } = tools);
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
    const resource_id = await tools.connect(integration, { base_url: `${target.url}/base/`, ...secret });
    const id = await tools.create({ integration, action, resource_id });
    target.reply({ body: { ok: true, id: 9 } });
    expect((await tools.run(id, { inputs })).body.data).toMatchObject({
      success: true,
      statusCode: 200,
      data: { ok: true, id: 9 },
    });
    expect(tools.received()).toEqual([{ ...expected, url: `/base${expected.url}` }]);
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
    const resource_id = await tools.connect('chat-app', { base_url: target.url, token: 'k' });
    const id = await tools.create({
      ...order,
      integration: 'chat-app',
      action: 'send_message',
      resource_id,
      body: '{"channel":"C1","text":"Order {{input.order}} of {{name}}","thread_ts":{{input.extra}}}',
    });
    await tools.run(id, { inputs: { order: '5' }, variables: { name: 'Ann' } });
    expect(tools.received()).toMatchObject([{ body: { channel: 'C1', text: 'Order 5 of Ann' } }]);
  });

  it('reports what a service rejects, or what an action lacks', async () => {
    const resource_id = await tools.connect('chat-app', { base_url: target.url, token: 'k' });
    const id = await tools.create({ integration: 'chat-app', action: 'send_message', resource_id });
    target.reply({ body: { ok: false, error: 'channel_not_found' } });
    expect((await tools.run(id, { inputs: { channel: 'C', text: 'x' } })).body.data).toMatchObject({
      success: false,
      statusCode: 200,
      error: 'the target rejected the request: channel_not_found',
    });
    expect((await tools.run(id, { inputs: { channel: 'C' } })).body.data).toMatchObject({
      success: false,
      statusCode: null,
      error: 'send_message cannot be done: /text required',
    });
  });

  it('runs code without network, and reports what it throws', async () => {
    const code =
      'const { a } = input; if (!a) throw new Error("no a"); return { twice: a * 2, city: variables.city };';
    const id = await tools.create({
      integration: 'custom-code',
      action: 'run_javascript',
      body: { code },
      response_data: [{ name: 'twice', data: '$.twice' }],
    });
    expect((await tools.run(id, { inputs: { a: 4 }, variables: { city: 'Bern' } })).body.data).toMatchObject({
      success: true,
      statusCode: null,
      data: { twice: 8, city: 'Bern' },
      variables: { twice: 8 },
    });
    expect((await tools.run(id)).body.data).toMatchObject({ success: false, error: 'Error: no a' });
  });

  it('sends SMS through the deployment’s service, or to its log', async () => {
    const tool = { integration: 'service-sms', action: 'send_sms' };
    const id = await tools.create(tool);
    expect((await tools.run(id, { inputs: { to: '(415) 555-0100', text: 'x' } })).body.data).toMatchObject({
      success: true,
      data: { to: '+4155550100', sent: false },
    });
    expect((await tools.run(id, { inputs: { to: 'nobody', text: 'x' } })).body.data).toMatchObject({
      success: false,
      error: 'send_sms cannot be done: /to must be a phone number',
    });
    const own = await startRoutes({ SMS_API_URL: `${target.url}/sms`, SMS_API_KEY: 'k', SMS_FROM: '+1999' });
    const created = await own.call('POST', '/v2/tools', { body: { ...rest, ...tool } });
    const url = `/v2/tools/${String(created.body.data?.id)}/run`;
    const sms = { inputs: { to: '+14155550100', text: 'Your table is ready' } };
    target.reply({ status: 202 }, { status: 422 });
    expect((await own.call('POST', url, { body: sms })).body.data).toMatchObject({
      success: true,
      data: { to: '+14155550100', sent: true },
    });
    expect(tools.received()).toEqual([
      {
        method: 'POST',
        url: '/sms',
        body: { from: '+1999', to: '+14155550100', text: 'Your table is ready' },
      },
    ]);
    expect((await own.call('POST', url, { body: sms })).body.data).toMatchObject({
      success: false,
      error: 'the SMS service rejected the message',
    });
    await own.close();
  });
});
