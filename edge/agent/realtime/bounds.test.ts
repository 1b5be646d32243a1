/** What a model server may be, say and leave unread: it may be anybody's. */
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { RecordingLog } from '../../../test/kit/edge/agent.ts';
import { ElevenLabsAgentsServer } from '../../../test/kit/speech/elevenlabs-agents-server.ts';
import { GeminiLiveServer } from '../../../test/kit/speech/gemini-live-server.ts';
import { labKey } from '../../../test/kit/speech/lab-server.ts';
import {
  OpenAiRealtimeServer,
  type ScriptedAnswer,
} from '../../../test/kit/speech/openai-realtime-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';
import { ModelLink, type ModelLinkEvents } from './model-link.ts';
import { openAiProtocol } from './openai-session.ts';
import { realtimeLimits } from './realtime-limits.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

const spec = { name: 'book', description: 'Books', inputSchema: { type: 'object' }, speech: null };
const completed = 'conversation.item.input_audio_transcription.completed';

/** The protocols: what their servers say. */
const protocols = [
  {
    protocol: 'openai' as const,
    server: () => new OpenAiRealtimeServer(),
    heard: (transcript: string): object => ({ type: completed, item_id: 'i', transcript }),
    words: (text: string): object => ({
      type: 'response.output_audio_transcript.delta',
      item_id: 'i',
      delta: text,
    }),
    ended: {
      type: 'response.output_audio_transcript.done',
      item_id: 'x'.repeat(300),
      transcript: 'not heard',
    },
  },
  {
    protocol: 'gemini' as const,
    server: () => new GeminiLiveServer(),
    heard: (text: string): object => ({
      serverContent: { inputTranscription: { text }, turnComplete: true },
    }),
    words: (text: string): object => ({ serverContent: { outputTranscription: { text } } }),
    ended: { toolCallCancellation: { ids: ['x'.repeat(300)] } },
  },
  {
    protocol: 'elevenlabs' as const,
    server: () => new ElevenLabsAgentsServer(),
    heard: (user_transcript: string): object => ({
      type: 'user_transcript',
      user_transcription_event: { user_transcript, event_id: 1 },
    }),
    words: (agent_response: string): object => ({
      type: 'agent_response',
      agent_response_event: { agent_response, event_id: 1 },
    }),
    ended: { type: 'agent_tool_response', agent_tool_response: { tool_call_id: 'x'.repeat(300) } },
  },
];

describe.each(protocols)('a server with the protocol $protocol', ({ protocol, server, ...says }) => {
  async function begun(answers: ScriptedAnswer[] = []) {
    const lab = await server().listen();
    open.push(lab);
    lab.answers.push(...answers);
    const runs: string[] = [];
    const run = async (name: string) => {
      runs.push(name);
      return { ok: true, data: 'done', error: null, variables: {} };
    };
    const scene = new RealtimeScene(protocol, lab, {
      tools: { list: () => [spec], run },
    });
    open.push({ close: () => scene.agent.close('the test is over') });
    await scene.begin();
    return { lab, scene, runs };
  }

  it('is heard to 20,000 characters a turn', async () => {
    const { lab, scene } = await begun();
    lab.emit(says.heard('w'.repeat(100_000)));
    await scene.until('the words', () => scene.lines.length > 0);
    expect(scene.lines.map(({ length }) => length)).toEqual(['user: '.length + 20_000]);
  });

  it('calls no tool by an id of more than 256 characters, and is answered afterwards', async () => {
    const ids = [...Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(257, 'x')), 'y'.repeat(256)];
    const { lab, scene, runs } = await begun([{ calls: ids.map((id) => ({ id, name: 'book', input: {} })) }]);
    lab.emit(says.ended);
    await scene.until('the answer', () => lab.outputs.length > 0);
    expect(lab.outputs.map(({ call }) => String(call).length)).toEqual([256]);
    expect(runs).toEqual(['book']);
    const problems = scene.log.warnings.map(({ fields }) => JSON.stringify(fields));
    expect(problems).toEqual([expect.stringContaining('an id or a name of more than 256 characters')]);
  });

  it('that sends a message of more than 256 KiB is lost, and the call ends with that cause', async () => {
    const { lab, scene } = await begun();
    await scene.until('the end', () => {
      if (lab.open > 0) lab.emit(says.words('w'.repeat(262_144)));
      scene.clock.advance(20);
      scene.playAll();
      return scene.host.failures.length > 0;
    });
    expect(scene.host.failures[0]?.message).toMatch(/\/\S* sent a message of more than 262144 octets$/);
  });

  it('is held back, and is not lost, when it sends more than is read', async () => {
    const { lab, scene } = await begun();
    for (let i = 1; i <= 6000; i++) lab.emit(says.words(''));
    lab.emit(says.heard('the last words'));
    await scene.until('the last words', () => {
      scene.clock.advance(20);
      return scene.lines.includes('user: the last words');
    });
    expect(lab.connections).toBe(1);
    expect(scene.log.infos).toContain('the model server is held back: it sends more than is read');
  });
});

it('a session whose server does not read what it is told is lost, with that cause', async () => {
  const lab = await new OpenAiRealtimeServer().listen();
  open.push(lab);
  const log = new RecordingLog();
  const lost = Promise.withResolvers<void>();
  const nothing = () => {};
  const events: ModelLinkEvents = {
    room: () => true,
    sound: nothing,
    soundOver: nothing,
    words: nothing,
    said: nothing,
    heard: nothing,
    interrupted: nothing,
    stopped: nothing,
    tool: () => false,
    toolCancelled: nothing,
    begun: nothing,
    lost: lost.resolve,
    givenUp: nothing,
  };
  const link = new ModelLink(
    {
      protocol: openAiProtocol,
      server: { url: lab.url, apiKey: labKey, model: 'talker' },
      allowed: () => parseNetworks(['127.0.0.1']),
      resolve: async () => ['127.0.0.1'],
      ca: undefined,
      clock: new FakeClock(),
      log,
      limits: realtimeLimits,
      options: () => ({
        instructions: '',
        tools: [],
        voice: null,
        language: 'en-US',
        temperature: null,
        interruptible: true,
        history: [],
        codec: null,
      }),
    },
    events,
  );
  open.push(link);
  await link.connect();
  // More than the system takes before the server has read any of it.
  link.session?.toolResult({ id: 'c', name: 'book', input: {} }, 'x'.repeat(16_000_000));
  link.session?.toolResult({ id: 'd', name: 'book', input: {} }, 'x');
  await lost.promise;
  expect(JSON.stringify(log.warnings)).toMatch(/does not read: \d+ octets of answers are unread/);
});
