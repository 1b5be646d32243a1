/**
 * An agent in a shard has all that one in the main thread would have. The tables here have a row for each part of an
 * interface: a new one does not compile without a row, and a row fails whose part does not reach the main thread.
 */
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { Gate } from '#shared/models/gate.ts';
import type { SpeechOptions, TextToSpeech } from '#shared/models/speech.ts';
import { loopback, portPair } from '../../test/kit/edge/loopback.ts';
import { echoAgent, FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { FakeMedia } from '../../test/kit/fakes/fake-media.ts';
import type { AgentHost, CallFacts } from '../call/ports/agents.ts';
import { Channel } from './channel.ts';
import { RemoteSpeech, serveShard } from './services.ts';

const broken = (error: Error): never => {
  throw error;
};

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** With all that a call may know, so that nothing is lost on the way. */
const facts: Required<CallFacts> = {
  callId: 'call-1',
  orgId: 'org-1',
  trunkId: 'trunk-1',
  sipCallId: 'call-1@test',
  direction: 'outbound',
  from: '+1',
  to: '+2',
  variables: { customer: '42' },
  parentId: 'call-0',
  voicemail: { action: 'leave_message', message: 'Call us.' },
  codec: 'Opus',
};

const line: Required<TranscriptEntry> = {
  id: 'line-1',
  at: '2030-01-01T00:00:00.000Z',
  user: 'user',
  text: 'Yes.',
  node_id: 'n',
  node_name: 'Node',
  confidence: 0.9,
  language: 'de',
  fact: null,
};

/** What an agent says to its call, and what it is answered. */
const asked: { readonly [K in keyof Required<AgentHost>]: Parameters<Required<AgentHost>[K]> } = {
  hangup: ['said goodbye', { q850: 16, headers: { 'X-Why': 'done' } }],
  sendDtmf: ['12#'],
  keysPossible: [],
  transcript: [line],
  linesLeftOut: [3],
  mark: [{ turn: 3, what: 'words', at: 5 }],
  variables: [{ name: 'Ada' }],
  transfer: [{ target: '+3', method: 'bridge', consult: { announcement: 'A call.', acceptKey: '1' } }],
  recording: ['pause'],
  recorded: [],
  join: [],
  answeredBy: ['human'],
  fail: [new Error('no model')],
};

const options: SpeechOptions = { voice: 'ada', language: 'en-GB', sampleRate: 16_000 };
const never = new AbortController().signal;

/** Uses each part of text-to-speech; null: it stays in the main thread. */
const spoken: {
  readonly [K in keyof Required<TextToSpeech>]: ((tts: RemoteSpeech) => Promise<unknown>) | null;
} = {
  synthesize: (tts) => tts.synthesize('Hi', options),
  stream: (tts) => tts.stream('Hi', options, never).next(),
  premake: (tts) => tts.premake('Hi', options),
  // The edge does both, once.
  warm: null,
  close: null,
};

describe('an agent in a shard', () => {
  it('knows of its call what one in the main thread would', () => {
    const agents = new FakeAgents();
    const { shard } = loopback(new FakeMedia(), agents);
    shard.create(echoAgent, facts, hostThat([]));
    shard.consult({ announcement: 'Hi', acceptKey: null }, facts, hostThat([]), {
      voice: 'ada',
      language: 'de',
    });
    expect(agents.created.map(({ call }) => call)).toEqual([facts, facts]);
    expect(agents.created[0]?.settings).toEqual(echoAgent);
    expect(agents.manners).toEqual([{ voice: 'ada', language: 'de' }]);
  });

  it.each(Object.entries(asked))('can ask of its call: %s', async (name, values) => {
    const agents = new FakeAgents();
    const { shard } = loopback(new FakeMedia(), agents);
    const heard: [string, unknown[]][] = [];
    const agent = shard.create(echoAgent, facts, hostThat(heard));
    agent.start();
    const [seated] = agents.created;
    const method: unknown = seated && Reflect.get(seated.host, name);
    if (typeof method !== 'function') throw new Error(`the host of an agent in a shard has no ${name}`);
    const answer: unknown = await Reflect.apply(method, seated?.host, values);
    await settled();
    // An error crosses as its message.
    expect(heard).toContainEqual([name, name === 'fail' ? [new Error('no model')] : values]);
    expect(answer).toEqual(answers[name]);
  });

  it.each(Object.entries(spoken).flatMap(([name, use]) => (use ? [[name, use] as const] : [])))(
    'has of text-to-speech: %s',
    async (name, use) => {
      const [ours, theirs] = portPair();
      const heard: unknown[][] = [];
      const samples = Int16Array.of(1, 2);
      const note = (part: string, text: string, how: SpeechOptions) => void heard.push([part, text, how]);
      serveShard(new Channel(ours, broken), {
        tts: {
          synthesize: async (text, how) => {
            note('synthesize', text, how);
            return samples;
          },
          async *stream(text, how) {
            note('stream', text, how);
            yield samples;
          },
          premake: async (text, how) => note('premake', text, how),
        },
        gate: new Gate(1, new FakeClock()),
      });
      await use(new RemoteSpeech(new Channel(theirs, broken)));
      expect(heard).toEqual([[name, 'Hi', options]]);
    },
  );
});

/** What the host answers. */
const answers: Readonly<Record<string, unknown>> = {
  keysPossible: false,
  transfer: { ok: true },
  recording: true,
  recorded: true,
};

function hostThat(heard: [string, unknown[]][]): Required<AgentHost> {
  const note =
    (name: string) =>
    (...values: unknown[]) =>
      void heard.push([name, values]);
  return {
    hangup: note('hangup'),
    sendDtmf: async (digits) => note('sendDtmf')(digits),
    keysPossible: () => {
      note('keysPossible')();
      return false;
    },
    transcript: note('transcript'),
    linesLeftOut: note('linesLeftOut'),
    mark: ({ at, ...mark }) => note('mark')({ ...mark, at: Math.round(at) }),
    variables: note('variables'),
    transfer: async (order) => {
      note('transfer')(order);
      return { ok: true };
    },
    recording: (step) => {
      note('recording')(step);
      return true;
    },
    recorded: () => {
      note('recorded')();
      return true;
    },
    join: note('join'),
    answeredBy: note('answeredBy'),
    fail: note('fail'),
  };
}
