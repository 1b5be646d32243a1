/** Test runs over a real call: control, edge, engine and media as programs; the edge calls itself over TLS and SRTP. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LoadAnswer, LoadStarted } from '#shared/api/agent-testing/loads.ts';
import { NoiseAnswer } from '#shared/api/agent-testing/noises.ts';
import { CallView } from '#shared/api/calls.ts';
import { InboundNumber } from '#shared/api/inbound.ts';
import { Phone } from '../../scripts/call/phone.ts';
import { noiseFile } from '../kit/control/noises.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { shareOf } from '../kit/fakes/tones.ts';
import { longTest } from '../kit/long-test.ts';
import { AgentTestRuns, noCallIsUp } from '../kit/programs/agent-test-runs.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const demoNumber = '+14155550100';
const orderNumber = '+14155550170';
const menuNumber = '+14155550171';

const inboundPath = (number: string) => `/v1/inbound/${encodeURIComponent(number)}`;

let system: TestSystem;
let runs: AgentTestRuns;
let pathwayId: string;

beforeAll(async () => {
  system = await TestSystem.start({ SIP_PUBLIC_HOST: '' });
  runs = new AgentTestRuns(system);
  pathwayId = (await system.api.read(InboundNumber, 'GET', inboundPath(demoNumber))).pathway_id ?? '';
});
afterAll(() => system?.stop());

const scenario = (body: Record<string, unknown>) => runs.scenario({ pathway_id: pathwayId, ...body });
const start = (scenarioId: string, number = demoNumber) => runs.start(scenarioId, number);
const ended = (id: string) => runs.ended(id);

/** An order line: a key, a webhook that writes, and a goodbye. */
async function orderLine(): Promise<string> {
  const id = await system.api.pathway(
    'order line',
    [
      {
        id: 'ask',
        type: 'Default',
        data: {
          name: 'Ask',
          isStart: true,
          text: 'Welcome {{customer}}. Press 1 for orders, or press 2 for returns, or stay on the line for a person who helps you with everything else that you may want of us today.',
        },
      },
      {
        id: 'order',
        type: 'Webhook',
        data: {
          name: 'Order',
          text: 'One moment.',
          url: 'https://shop.example.com/orders',
          method: 'POST',
          body: '{"customer":"{{customer}}"}',
          responseData: [{ name: 'order_state', data: '$.state', context: '' }],
        },
      },
      {
        id: 'tell',
        type: 'End Call',
        data: { name: 'Tell', text: 'Your order is {{order_state}}. Goodbye.' },
      },
      { id: 'hand', type: 'Transfer Call', data: { name: 'Hand', transferNumber: '+14155550999' } },
    ],
    [
      { id: 'e1', source: 'ask', target: 'order', data: { label: 'User pressed 1' } },
      { id: 'e2', source: 'ask', target: 'hand', data: { label: 'User pressed 2' } },
      { id: 'e3', source: 'order', target: 'tell', data: { label: 'Success' } },
    ],
  );
  await system.api.attach(orderNumber, ['192.0.2.77']);
  await system.api.answerWith(orderNumber, { pathway_id: id });
  await system.api.applied(orderNumber);
  return id;
}

test('calls the demo number, presses a key, and hears the node of that key', async () => {
  const id = await start(
    await scenario({
      name: 'Sales by key',
      tester_persona_prompt: 'You want to talk to sales.',
      assertions: [
        { type: 'TRAVERSAL_MATCH', config: { reference_path: ['greeting', 'sales'], mode: 'exact' } },
        { type: 'STRING_CHECK', config: { value: 'You have reached sales' } },
      ],
    }),
  );
  const done = await ended(id);
  expect(done).toMatchObject({
    status: 'PASSED',
    transport: 'sip',
    error_message: null,
    turn_count: 1,
    nodes_visited: ['greeting', 'sales'],
    reasoning: expect.stringContaining('The agent ended the conversation'),
  });
  expect(done.chat_history).toEqual([
    {
      role: 'assistant',
      content: 'Welcome to Trunkline. Press 1 for sales, or press 2 for support.',
      turn: 0,
      node_id: 'greeting',
    },
    { role: 'user', content: 'Pressed 1', turn: 1, node_id: null },
    {
      role: 'assistant',
      content: 'You have reached sales. Thank you for calling, goodbye.',
      turn: 1,
      node_id: 'sales',
    },
  ]);
  const { voice } = done;
  expect(voice).not.toHaveProperty('weather');
  expect(voice).toMatchObject({
    codec: 'PCMU',
    dtmf_sent: ['1'],
    media: { verdict: 'two_way' },
    caller_media: { verdict: 'two_way' },
    turns: [
      { turn: 0, barge_in: false, transcript_source: 'agent_log' },
      { turn: 1, barge_in: false, transcript_source: 'agent_log' },
    ],
  });
  for (const { response_latency_ms, speech_ms } of voice?.turns ?? []) {
    expect(response_latency_ms).toBeGreaterThan(0);
    expect(speech_ms).toBeGreaterThan(1500);
  }
  expect(voice?.first_audio_ms).toBe(voice?.turns[0]?.response_latency_ms);
  expect(voice?.latency_ms.max).toBe(voice?.turns[1]?.response_latency_ms);
  expect(voice?.caller_media?.mos).toBeGreaterThanOrEqual(1);
  const callId = voice?.call_id ?? '';
  expect(await system.api.endedCall(callId)).toMatchObject({ direction: 'inbound', hangup_by: 'agent' });
  expect(await system.api.endedCall(voice?.caller_call_id ?? '')).toMatchObject({
    direction: 'outbound',
    hangup_by: 'peer',
    call_id: voice?.sip_call_id,
  });
  // The verdict quotes the agent's answer, which begins after the caller's key.
  const [, answer] = voice?.turns ?? [];
  expect(answer?.caller_at_ms).toBeGreaterThan(0);
  expect(answer?.agent_at_ms).toBeGreaterThan(answer?.caller_at_ms ?? 0);
  expect(done.marks).toMatchObject([{ line: 2, at_ms: answer?.agent_at_ms, status: 'PASSED' }]);
  // At least up to the mark.
  expect((await runs.recording(id)).right.length).toBeGreaterThan(8 * (answer?.agent_at_ms ?? 0));
  const log = await system.api.read(CallView, 'GET', `/v1/calls/${callId}`);
  expect(log.metadata).toEqual({ test_run_id: id });
  const messages = await system.api.trace(voice?.sip_call_id ?? '');
  const invites = messages.filter(({ start_line }) => start_line.startsWith('INVITE '));
  expect(invites.length).toBeGreaterThan(0);
  for (const { raw, transport } of invites) {
    expect(transport).toBe('tls');
    expect(raw).toContain('\r\nX-Trunkline-Test: REDACTED\r\n');
    expect(raw).toContain('a=crypto:');
  }
});

/** The menu of docs/pathways-on-calls.md. @returns its pathway */
async function documentedMenu(): Promise<string> {
  const text = readFileSync('docs/pathways-on-calls.md', 'utf8');
  const graph = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '');
  const id = await system.api.pathway('documented menu', graph.nodes, graph.edges);
  await system.api.attach(menuNumber, []);
  await system.api.answerWith(menuNumber, { pathway_id: id });
  await system.api.applied(menuNumber);
  return id;
}

test('an agent that hears keys only is told a number by keys, in the documented menu and in a replay', async () => {
  const pathway_id = await documentedMenu();
  const assertions = [
    { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'account', expected_value: '4711' } },
    { type: 'STRING_CHECK', config: { value: 'We looked up account 4711' } },
  ];
  const caller = {
    name: 'Balance',
    tester_persona_prompt: 'You want to know your balance.\n- account number: 4711',
  };
  const replay = {
    name: 'Balance once more',
    scenario_type: 'REPLAY',
    input_messages: ['Pressed 1', 'Pressed 4711#'].map((content) => ({ role: 'user', content })),
  };
  const begun = [];
  for (const one of [caller, replay])
    begun.push(await start(await scenario({ pathway_id, assertions, ...one }), menuNumber));
  const [called, replayed] = await Promise.all(begun.map(ended));
  for (const run of [called, replayed])
    expect(run).toMatchObject({
      status: 'PASSED',
      error_message: null,
      nodes_visited: ['menu', 'account', 'balance'],
    });
  expect([called?.voice?.dtmf_sent, replayed?.voice?.dtmf_sent]).toEqual([
    ['1', '4711'],
    ['1', '4711#'],
  ]);
});

test('reaches a number that does not list the edge as a source, and answers its webhooks with mocks', async () => {
  const pathway_id = await orderLine();
  const scenarioId = await scenario({
    pathway_id,
    name: 'An order while the agent speaks',
    tester_persona_prompt: 'You want to know about your orders.',
    request_data: { customer: 'Ada' },
    metadata: {
      call: { interrupt_turns: [1], interrupt_after_ms: 600, caller_number: '+14155550142' },
      mocks: [{ url: 'https://shop.example.com/*', body: { state: 'on its way' } }],
    },
    assertions: [
      { type: 'WEBHOOK_TRIGGERED', config: { node_id: 'order', body_match: { customer: 'Ada' } } },
      { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'order_state', expected_value: 'on its way' } },
      { type: 'STRING_CHECK', config: { value: 'Your order is on its way' } },
      // The words after the key were never heard.
      { type: 'STRING_CHECK', config: { value: 'of us today', negate: true } },
    ],
  });
  const done = await ended(await start(scenarioId, orderNumber));
  expect(done).toMatchObject({ status: 'PASSED', error_message: null });
  expect(done.chat_history.map(({ content }) => content)).toEqual([
    expect.stringMatching(/^Welcome/),
    'Pressed 1',
    'One moment.',
    'Your order is on its way. Goodbye.',
  ]);
  const [greeting, answer] = done.voice?.turns ?? [];
  expect(greeting?.speech_ms).toBeLessThan(5000);
  expect(answer).toMatchObject({ turn: 1, barge_in: true });
  expect(answer?.silent_after_ms).toBeLessThan(2500);
  expect(await system.api.endedCall(done.voice?.call_id ?? '')).toMatchObject({ from: '+14155550142' });
});

test('a transfer ends the run and calls nobody; the weather of the call is proven by what arrived', async () => {
  const pathway_id = (await system.api.read(InboundNumber, 'GET', inboundPath(orderNumber))).pathway_id;
  const scenarioId = await scenario({
    pathway_id,
    name: 'A return',
    tester_persona_prompt: 'You want to know about your returns.',
    assertions: [{ type: 'NODE_REACHED', config: { node_id: 'hand' } }],
  });
  const file = { name: 'A tone', wav: noiseFile({ hertz: 700 }) };
  const noise = await system.api.read(NoiseAnswer, 'POST', '/v1/agent-testing/noises', file);
  const weather = {
    codec: 'PCMA',
    loss_percent: 10,
    loss_burst: 2,
    jitter_ms: 30,
    noise: { kind: 'given', noise_id: noise.id, snr_db: 10 },
    echo: { delay_ms: 100, level_db: -30 },
  };
  const id = await runs.start(scenarioId, orderNumber, { weather });
  const done = await ended(id);
  expect(done).toMatchObject({
    status: 'PASSED',
    reasoning: expect.stringContaining('transfer to +14155550999'),
    voice: { codec: 'PCMA', weather: { asked: weather } },
  });
  const { dropped = 0, packets = 0, quiet_dbov } = done.voice?.weather?.done ?? {};
  expect(dropped).toBeGreaterThan(0);
  expect(dropped).toBeLessThan(packets / 4);
  // What was lost before the first packet and after the last one that arrived is not known there.
  expect(done.voice?.media?.packets_lost).toBeGreaterThan(dropped / 2);
  expect(done.voice?.media?.packets_lost).toBeLessThanOrEqual(dropped);
  // The caller only presses a key: without noise it is silent.
  expect(quiet_dbov).toBeGreaterThan(-60);
  expect(shareOf((await runs.recording(id)).left, 700)).toBeGreaterThan(0.5);
  expect((await system.api.calls()).filter(({ to }) => to === '+14155550999')).toEqual([]);
});

longTest(
  'a load has its calls at once, level after level, and its figures come from these calls',
  async () => {
    const scenarioId = await scenario({
      name: 'Sales, all together',
      tester_persona_prompt: 'You want to talk to sales.',
      assertions: [{ type: 'STRING_CHECK', config: { value: 'You have reached sales' } }],
    });
    const order = {
      scenario_ids: [scenarioId],
      phone_number: demoNumber,
      ramp: { from: 1, to: 3, step: 2 },
      runs_per_level: 3,
      seed: 1,
    };
    const path = '/v1/agent-testing/loads';
    const { load_id } = await system.api.read(LoadStarted, 'POST', path, order);
    const load = await eventually(
      'the end of the load',
      async () => {
        const now = await system.api.read(LoadAnswer, 'GET', `${path}/${load_id}`);
        return now.status === 'RUNNING' ? null : now;
      },
      300_000,
    );
    expect(load).toMatchObject({ status: 'COMPLETED', reason: null });
    expect(load.knee?.sentence).toEqual(expect.any(String));
    const figures = load.levels.map((level) => level.figures);
    expect(figures).toMatchObject([
      { calls: 3, answered: 3, passed: 3, errored: 0, concurrency_reached: 1, latency_ms: { answers: 3 } },
      { calls: 3, answered: 3, passed: 3, errored: 0, latency_ms: { answers: 3 } },
    ]);
    // They are queued together; on a busy machine one may end before another begins.
    expect(figures[1]?.concurrency_reached).toBeGreaterThan(0);
    expect(figures[1]?.concurrency_reached).toBeLessThanOrEqual(3);
    for (const one of figures) {
      expect(one?.set_up_ms.p50).toBeGreaterThanOrEqual(0);
      expect(one?.latency_ms.p50).toBeGreaterThan(0);
      expect(one?.mos.min).toBeGreaterThan(1);
    }
    await noCallIsUp(system);
  },
);

test('a load that is cancelled leaves no call', async () => {
  const scenarioId = await scenario({ name: 'Cancelled load', tester_persona_prompt: 'You want sales.' });
  const path = '/v1/agent-testing/loads';
  const order = { scenario_ids: [scenarioId], phone_number: demoNumber, concurrency: 2 };
  const { load_id } = await system.api.read(LoadStarted, 'POST', path, order);
  const callId = await talking();
  await system.api.ok('POST', `${path}/${load_id}/cancel`);
  expect(await system.api.read(LoadAnswer, 'GET', `${path}/${load_id}`)).toMatchObject({
    status: 'CANCELLED',
    reason: 'It was cancelled.',
  });
  expect(await system.api.endedCall(callId)).toMatchObject({ hangup_by: 'peer' });
  await noCallIsUp(system);
});

test('only numbers with the tested version can be called', async () => {
  const scenarioId = await scenario({ name: 'Elsewhere' });
  const refused = async (body: object) => {
    const path = `/v1/agent-testing/scenarios/${scenarioId}/run`;
    const { status, errors } = await system.api.request('POST', path, { transport: 'sip', ...body });
    return { status, ...errors[0] };
  };
  for (const phone_number of [system.tone.number, orderNumber, '+14155550188']) {
    expect(await refused({ phone_number })).toMatchObject({ status: 400, code: 'NUMBER_NOT_TESTABLE' });
  }
  expect(await refused({})).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' });
});

test('a key that the edge did not create is rejected from any address', async () => {
  const phone = await Phone.connect({ host: '127.0.0.1', port: system.sipPort, ca: system.ca });
  const media = await SrtpPeer.open();
  try {
    const headers = ['X-Trunkline-Test: abcdefghijklmnopqrstuvwxyz'];
    expect((await phone.invite(demoNumber, media.sdp(), headers)).status).toBe(403);
  } finally {
    media.close();
    await phone.close();
  }
});

test('a canceled run leaves no call', async () => {
  const id = await start(await scenario({ name: 'Cancelled', tester_persona_prompt: 'You want sales.' }));
  const callId = await talking();
  await system.api.ok('POST', `/v1/agent-testing/runs/${id}/cancel`);
  expect(await runs.read(id)).toMatchObject({ status: 'CANCELLED', voice: null });
  expect(await system.api.endedCall(callId)).toMatchObject({ hangup_by: 'peer' });
  await noCallIsUp(system);
});

test('a run survives kill -9 of control, its first call does not', async () => {
  const id = await start(await scenario({ name: 'Control dies', tester_persona_prompt: 'You want sales.' }));
  const callId = await talking();
  await system.control.end('SIGKILL');
  await system.startControl();
  const done = await ended(id);
  expect(done).toMatchObject({ transport: 'sip', error_message: null });
  expect(done.voice?.call_id).not.toBe(callId);
  expect(await system.api.endedCall(callId)).toMatchObject({ outcome: 'completed' });
  await noCallIsUp(system);
});

longTest('a run survives kill -9 of the edge', async () => {
  const id = await start(await scenario({ name: 'Edge dies', tester_persona_prompt: 'You want sales.' }));
  const callId = await talking();
  await system.crashEdge();
  await system.startEdge();
  const done = await ended(id);
  expect(done).toMatchObject({ transport: 'sip', error_message: null });
  expect(done.voice?.call_id).not.toBe(callId);
  expect(await system.api.endedCall(callId)).toMatchObject({ outcome: 'completed' });
  await noCallIsUp(system);
});

/** Resolves when the caller of a test call talks to the agent. @returns the id of its call */
function talking(): Promise<string> {
  return eventually('an answered test call', async () => {
    const calls = await system.api.calls();
    const up = calls.find((call) => call.direction === 'inbound' && call.answered_at && !call.ended_at);
    return up?.id ?? null;
  });
}
