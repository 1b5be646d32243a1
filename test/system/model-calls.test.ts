/** Calls that models answer, over real HTTP, TLS and SRTP (docs/models.md, docs/realtime.md). */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CallTimeline } from '#shared/api/call-quality.ts';
import { OrganizationSettingsAnswer } from '#shared/api/organization.ts';
import { ModelServer } from '../kit/fakes/model-server.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import type { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { TraceCollector } from '../kit/fakes/trace-collector.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { labKey } from '../kit/speech/lab-server.ts';
import { OpenAiRealtimeServer } from '../kit/speech/openai-realtime-server.ts';

const silence = Buffer.alloc(160, 0xff);
let server: ModelServer;
let collector: TraceCollector;
let system: TestSystem;
let caller: Caller | null = null;

beforeAll(async () => {
  server = await ModelServer.start();
  collector = await TraceCollector.start();
  system = await startTrunkSystem({
    LLM_BASE_URL: server.url,
    LLM_MODEL: 'm-1',
    LLM_API_KEY: 'sk-1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
});

afterEach(async () => {
  await caller?.close();
  caller = null;
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => server?.close(),
    () => collector?.close(),
  ),
);

describe('a language model', () => {
  const number = '+14155550160';
  const loud = 1000;

  beforeAll(async () => {
    await system.api.attach(number);
    await system.api.answerWith(number, {
      prompt: 'Sell flowers to {{from}}.',
      temperature: 0.3,
      transfer_list: { manager: '+14155550999' },
    });
    await system.api.applied(number);
  });

  async function lines(of: Caller): Promise<string[]> {
    const { id } = await system.api.loggedCall(of.callId, ({ answered_at }) => answered_at !== null);
    const { transcripts } = await system.api.detail(id);
    return transcripts.map(({ user, text }) => `${user}: ${text}`);
  }

  test('plays the first sentence while the model generates the second, and handles keys', async () => {
    const rest = Promise.withResolvers<void>();
    server.record(
      { text: ['Welcome to the flower shop. ', rest.promise, 'How many roses?'] },
      {
        when: ['Pressed 12'],
        text: ['I ask my manager.'],
        calls: [{ name: 'transfer_call', input: { to: 'manager' } }],
      },
      {
        when: ['the transfer failed'],
        text: ['Twelve roses it is. Goodbye.'],
        calls: [{ name: 'end_conversation', input: {} }],
      },
    );
    caller = await callAndTalk(system, number);
    const { media, phone } = caller;
    await media.play([silence, silence, silence]);
    await media.when(() => media.samples(8000).some((sample) => Math.abs(sample) > loud));
    const [asked] = server.requests;
    expect(asked).toMatchObject({ model: 'm-1', temperature: 0.3, authorization: 'Bearer sk-1' });
    expect(asked?.messages[0]?.content).toContain('Sell flowers to "');
    expect((await lines(caller)).join('\n')).not.toContain('How many roses?');
    rest.resolve();
    await eventually('the second sentence', async () =>
      (await lines(caller as Caller)).find((line) => line === 'assistant: How many roses?'),
    );
    for (const key of ['1', '2', '#']) await media.press(key);
    await phone.expect('BYE');
    expect(await system.api.endedCall(caller.callId)).toMatchObject({
      outcome: 'completed',
      hangup_by: 'agent',
    });
    const said = (await lines(caller)).filter((line) => !line.startsWith('agent-action: Interrupted'));
    expect(said).toEqual([
      'agent-action: No speech recognition is configured: this call is driven by key presses.',
      'assistant: Welcome to the flower shop.',
      'assistant: How many roses?',
      'user: Pressed 12',
      'assistant: I ask my manager.',
      'agent-action: transfer to "manager"',
      'agent-action: Transferring the call to +14155550999.',
      'agent-action: The transfer to +14155550999 failed: The number has no outbound configuration.',
      'agent-action: transfer: The number has no outbound configuration.',
      'assistant: Twelve roses it is.',
      'assistant: Goodbye.',
      'agent-action: the agent ended the conversation',
    ]);

    const { id } = await system.api.loggedCall(caller.callId, () => true);
    const traceId = id.replaceAll('-', '');
    const call = await eventually('the span of the call', async () =>
      collector.of(traceId).find(({ name }) => name === 'call'),
    );
    expect(call).toMatchObject({
      service: 'trunkline-edge',
      parentSpanId: '',
      attributes: { 'trunkline.call_id': id, 'trunkline.direction': 'inbound', 'trunkline.answered': true },
    });
    // The two threads of the call send their spans apart.
    const below = await eventually('the spans of its servers and of its transfer', async () => {
      const names = collector
        .of(traceId)
        .filter(({ parentSpanId }) => parentSpanId === call.spanId)
        .map(({ name }) => name);
      const requests = names.filter((name) => name === 'model request');
      return requests.length >= 3 && new Set(names).size >= 3 ? names : null;
    });
    expect(new Set(below)).toEqual(new Set(['model request', 'text-to-speech', 'transfer']));
    const ofControl = collector.spans.filter(({ service }) => service === 'trunkline-control');
    expect(ofControl.map(({ name }) => name)).toContain('GET /v1/calls/:call_id');
    expect(collector.texts.join()).not.toMatch(/14155550160|roses|sk-1|Sell flowers/);
  });

  test('is rejected when the model returns no first sentence', async () => {
    server.record({ status: 401, body: '{"error":"bad key sk-1"}' });
    await expect(callAndTalk(system, number)).rejects.toThrow('480');
  });
});

/** It hears and answers itself. */
describe('a realtime model', () => {
  const number = '+14155550170';
  const loud = 900;
  /** Octets that the model has heard when a frame is lost. */
  const longestTurn = 5 * 8000;
  /** A square wave in mu-law, about as loud as a voice. */
  const voice = Buffer.from(Uint8Array.from({ length: 160 }, (_, i) => (i % 8 < 4 ? 0x90 : 0x10)));

  let lab: OpenAiRealtimeServer;

  beforeAll(async () => {
    lab = await new OpenAiRealtimeServer(await trunkPair(system)).listen();
    const connection = {
      name: 'lab',
      protocol: 'openai',
      url: lab.url.href,
      model: 'talker',
      api_key: labKey,
    };
    await system.api.read(OrganizationSettingsAnswer, 'PATCH', '/v1/org/settings', {
      realtime: [connection],
    });
    await system.api.attach(number);
    await system.api.answerWith(number, {
      realtime: { connection: 'lab', instructions: 'Sell flowers to {{from}}.' },
      transfer_list: { manager: '+14155550999' },
    });
    await system.api.applied(number);
  });

  afterAll(() => lab?.close());

  /**
   * One turn of the caller. It is one frame: a longer one becomes two turns when a slow machine stops in the middle of it,
   * and the second of them interrupts the answer to the first. The phone goes on sending until the model has heard it, and
   * says it again when the frame came too late to be played.
   */
  function say(media: SrtpPeer): Promise<void> {
    return media.play(turn());
  }

  function* turn(): Generator<Buffer> {
    const turns = lab.heard.length;
    while (lab.heard.length === turns) {
      const heard = lab.octets;
      yield voice;
      while (lab.heard.length === turns && lab.octets - heard < longestTurn) yield silence;
    }
  }

  test('the model speaks, is interrupted, hears, transfers and hangs up', async () => {
    lab.answers.push(
      { text: 'Welcome to the flower shop. We have roses, tulips and many other flowers today.' },
      { text: 'I ask my manager.', calls: [{ id: 'c1', name: 'transfer_call', input: { to: 'manager' } }] },
      { text: 'Goodbye.', calls: [{ id: 'c2', name: 'end_conversation', input: {} }] },
    );
    caller = await callAndTalk(system, number);
    const { media, phone, callId } = caller;
    await media.play([silence, silence, silence]);
    await media.when(() => media.samples(8000).filter((sample) => Math.abs(sample) > loud).length > 4000);
    await say(media);
    await eventually('the truncation', async () => lab.truncated[0]);
    const [cut] = lab.truncated;
    // What the caller has, and no more than what was on its way.
    expect(Number(cut?.ms)).toBeGreaterThanOrEqual(500);
    expect(Number(cut?.ms)).toBeLessThan(1580);
    await phone.expect('BYE');
    const { id } = await system.api.endedCall(callId);
    const call = await system.api.detail(id);
    const lines = call.transcripts.map(({ user, text }) => `${user}: ${text}`);
    const said = lines.filter((line) => line.startsWith('assistant'));
    expect(said[0]).toMatch(/^assistant: Welcome to the flower( shop\.)?/);
    expect(said[0]).not.toContain('today');
    expect(said.slice(1)).toEqual(['assistant: I ask my manager.', 'assistant: Goodbye.']);
    expect(lines).toContain('agent-action: Transferring the call to +14155550999.');
    expect(lab.outputs[0]).toMatchObject({ call: 'c1', output: { ok: false } });
    expect(lab.session.instructions).toMatch(/Sell flowers to /);
    expect(lab.violations).toEqual([]);
    const { turns } = (await system.api.read(CallTimeline, 'GET', `/v1/sip/calls/${id}/timeline`)).data;
    expect(turns[0]?.spans).toContainEqual(
      expect.objectContaining({ span: 'barge_in', outcome: 'interrupted' }),
    );
    const names = turns.find(({ input }) => input === 'speech')?.spans.map(({ span }) => span);
    expect(names).toEqual(expect.arrayContaining(['caller_speech', 'heard', 'agent_speech']));
    expect(await system.api.endedCall(callId)).toMatchObject({ outcome: 'completed', hangup_by: 'agent' });
  });

  test('a call is rejected when the server does not accept the session', async () => {
    lab.faults.refuse = 401;
    await expect(callAndTalk(system, number)).rejects.toThrow('480');
    lab.faults.refuse = null;
  });

  test.each([
    ['8 PCMA/8000', 'audio/pcma'],
    ['96 opus/48000/2', 'audio/pcm'],
  ])('the model of a caller with %s has %s', async (codec, type) => {
    const formats = `${codec.split(' ')[0]} 101`;
    caller = await callAndTalk(system, number, { formats, rtpmaps: [codec, '101 telephone-event/8000'] });
    expect(lab.session).toMatchObject({ audio: { input: { format: { type } } } });
    await caller.hangup();
  });

  test('an agent speaks to a caller with Opus to the end of its text', async () => {
    const pathwayId = await system.api.pathway(
      'Wide',
      [{ id: 'bye', type: 'End Call', data: { isStart: true, text: 'Goodbye.' } }],
      [],
    );
    await system.api.answerWith(number, { pathway_id: pathwayId });
    await system.api.applied(number);
    const rtpmaps = ['96 opus/48000/2', '101 telephone-event/8000'];
    caller = await callAndTalk(system, number, { formats: '96 101', rtpmaps });
    const { phone, callId } = caller;
    await phone.expect('BYE');
    const { id } = await system.api.endedCall(callId);
    const { transcripts } = await system.api.detail(id);
    expect(transcripts.map(({ text }) => text)).toContain('Goodbye.');
  });

  test('a model holds a node of a pathway, which goes on with what it hands back', async () => {
    const pathwayId = await system.api.pathway(
      'Flowers',
      [
        {
          id: 'sell',
          type: 'Realtime',
          data: {
            isStart: true,
            connection: 'lab',
            prompt: 'Sell flowers.',
            extractVars: [['roses', 'integer', 'how many']],
          },
        },
        { id: 'sold', type: 'End Call', data: { text: '{{roses}} roses. Goodbye.' } },
      ],
      [{ source: 'sell', target: 'sold', data: { label: 'has bought' } }],
    );
    await system.api.answerWith(number, { pathway_id: pathwayId });
    await system.api.applied(number);
    const input = { exit: 'has bought', variables: { roses: 3 } };
    lab.answers.push(
      { text: 'Which flowers would you like?' },
      { text: 'Three roses.', calls: [{ id: 'c1', name: 'hand_back', input }] },
    );
    caller = await callAndTalk(system, number);
    const { media, phone, callId } = caller;
    await media.play([silence, silence, silence]);
    await media.when(() => media.samples(8000).filter((sample) => Math.abs(sample) > loud).length > 1000);
    await say(media);
    await phone.expect('BYE');
    const { id } = await system.api.endedCall(callId);
    const call = await system.api.detail(id);
    const said = call.transcripts.filter(({ user }) => user === 'assistant').map(({ text }) => text);
    expect(said.slice(-2)).toEqual(['Three roses.', '3 roses. Goodbye.']);
    expect(call.variables).toMatchObject({ roses: 3 });
    expect(lab.violations).toEqual([]);
  });
});
