/** Calls to numbers over SRTP, from an endpoint that shares no code with the edge: line checks, keys, tools. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ToolChanged, ToolLogs } from '#shared/api/tools.ts';
import { echoNumber } from '../../control/bootstrap.ts';
import { startTarget, type TargetServer } from '../kit/control/tools.ts';
import { hears, hearsTone } from '../kit/fakes/hearing.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const silence = Buffer.alloc(160, 0xff);
let system: TestSystem;
let caller: Caller | null = null;

beforeAll(async () => {
  system = await TestSystem.start({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
});

afterEach(async () => {
  await caller?.close();
  caller = null;
});

afterAll(() => system?.stop());

describe('the numbers of line checks', () => {
  /** Every frame of a tone is louder than this. */
  const quiet = 500;

  test('the tone number plays its tone, without packet loss', async () => {
    const caller = await callAndTalk(system, system.tone.number);
    await caller.media.heard(100);
    await hearsTone(caller.media, system.tone.hz);
    await caller.hangup();
    expect(caller.media.stats).toMatchObject({ lost: 0, undecryptable: 0 });
    await caller.close();
    expect(await system.api.endedCall(caller.callId)).toMatchObject({ media: { verdict: 'send_only' } });
  });

  test('the echo number returns the received audio', async () => {
    const caller = await callAndTalk(system, echoNumber);
    const { media: phone } = caller;
    const frames = await hears(phone, phone, 600);
    // Silence after the last frame of the tone: all frames have arrived.
    await phone.when(() => phone.samples(160).every((sample) => Math.abs(sample) < quiet));
    await caller.hangup();
    await caller.close();
    const { media } = await system.api.endedCall(caller.callId);
    expect(media).toMatchObject({ verdict: 'two_way', packets_lost: 0, packets_received: frames });
  });
});

/** Key presses as RTP events select the branch of a pathway, also with packet loss. */
describe('a menu', () => {
  const menu = '+14155550130';

  /** Its greeting is followed by a second question, which a key that counted twice would answer. */
  const twice = '+14155550131';

  beforeAll(async () => {
    const { api } = system;
    const pathway = await api.pathway(
      'menu',
      [
        { id: 'menu', type: 'Default', data: { name: 'Menu', text: 'One or two?', isStart: true } },
        { id: 'one', type: 'End Call', data: { name: 'One', text: 'One.' } },
        { id: 'two', type: 'End Call', data: { name: 'Two', text: 'Two.' } },
      ],
      [
        { id: 'e1', source: 'menu', target: 'one', data: { label: 'User pressed 1' } },
        { id: 'e2', source: 'menu', target: 'two', data: { label: 'User pressed 2' } },
      ],
    );
    const second = await api.pathway(
      'twice',
      [
        { id: 'first', type: 'Default', data: { name: 'First', text: 'One?', isStart: true } },
        { id: 'second', type: 'Default', data: { name: 'Second', text: 'And now?' } },
        { id: 'two', type: 'End Call', data: { name: 'Two', text: 'Two.' } },
        { id: 'twice', type: 'End Call', data: { name: 'Twice', text: 'Twice.' } },
      ],
      [
        { id: 'e1', source: 'first', target: 'second', data: { label: 'User pressed 1' } },
        { id: 'e2', source: 'second', target: 'two', data: { label: 'User pressed 2' } },
        { id: 'e3', source: 'second', target: 'twice', data: { label: 'User pressed 1' } },
      ],
    );
    await api.attach(twice);
    await api.answerWith(twice, { pathway_id: second });
    await api.attach(menu);
    await api.answerWith(menu, { pathway_id: pathway });
    await api.applied(menu);
    await api.applied(twice);
  });

  async function dial(number = menu): Promise<Caller> {
    caller = await callAndTalk(system, number);
    await caller.media.play([silence, silence, silence, silence, silence]);
    await eventually('the greeting in the transcript', async () => {
      const call = await system.api.loggedCall(
        caller?.callId ?? '',
        ({ answered_at }) => answered_at !== null,
      );
      return (await system.api.detail(call.id)).transcripts[0];
    });
    return caller;
  }

  /** Visited nodes of an ended call. */
  async function way(of: Caller): Promise<string[]> {
    await of.phone.expect('BYE');
    const call = await system.api.endedCall(of.callId);
    expect(call).toMatchObject({ outcome: 'completed', hangup_by: 'agent' });
    const { pathway_logs } = await system.api.detail(call.id);
    return [...new Set(pathway_logs.flatMap(({ node_id }) => node_id ?? []))];
  }

  test.each([
    ['1', 'one'],
    ['2', 'two'],
  ])('key %s leads to the node %s', async (key, node) => {
    const dialled = await dial();
    await dialled.media.press(key);
    expect(await way(dialled)).toEqual(['menu', node]);
  });

  test('a key press with only one received end packet counts once', async () => {
    const dialled = await dial();
    await dialled.media.press('2', 200, (index) => index !== 11);
    expect(await way(dialled)).toEqual(['menu', 'two']);
  });

  test('a key press without any received end packet counts once', async () => {
    const dialled = await dial();
    await dialled.media.press('1', 200, (index) => index >= 10);
    const audio = dialled.media.play(Array.from({ length: 50 }, () => silence));
    expect(await way(dialled)).toEqual(['menu', 'one']);
    await audio;
  });

  test('a key that comes as RTP event and as SIP INFO counts once', async () => {
    const dialled = await dial(twice);
    const info = (digit: string) =>
      dialled.phone.request('INFO', `Signal=${digit}\r\nDuration=100\r\n`, [], 'application/dtmf-relay');
    const [answer] = await Promise.all([info('1'), dialled.media.press('1')]);
    expect(answer.status).toBe(200);
    expect((await info('2')).status).toBe(200);
    expect(await way(dialled)).toEqual(['first', 'second', 'two']);
  });

  test('a caller without telephone-event hears that keys are impossible, and transcript and record say so', async () => {
    caller = await callAndTalk(system, menu, { formats: '0', rtpmaps: ['0 PCMU/8000'] });
    const dialled = caller;
    await dialled.media.play([silence, silence, silence, silence, silence]);
    const { id } = await system.api.loggedCall(dialled.callId, ({ answered_at }) => answered_at !== null);
    const transcripts = await eventually('the caller to be asked for a spoken answer', async () => {
      const lines = (await system.api.detail(id)).transcripts.map(({ user, text }) => `${user}: ${text}`);
      return lines.includes('assistant: One or two?') ? lines : null;
    });
    expect(transcripts.slice(0, 4)).toEqual([
      "agent-action: DTMF is unavailable on this call: the peer's SDP has no telephone-event (RFC 4733), and its Allow does not list INFO.",
      'agent-action: No speech recognition is configured and keys are impossible: the caller cannot answer.',
      'assistant: I cannot hear key presses on this line.',
      'assistant: One or two?',
    ]);
    await dialled.hangup();
    const call = await system.api.endedCall(dialled.callId);
    expect(call.media).toMatchObject({ keys: 'none' });
  });
});

/** Keys are the input, the result is spoken; the call survives without control. */
describe('a pathway that uses a tool', () => {
  const orders = '+14155550132';

  let target: TargetServer;
  let toolId = '';

  beforeAll(async () => {
    target = await startTarget();
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

  afterAll(() => target?.close());

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
      body: {
        url: `${target.url}/orders/{{input.order}}`,
        method: 'GET',
        headers: { 'x-caller': '{{from}}' },
      },
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
    await system.ready();
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
});
