/** Every message of the protocol arrives as it was sent, and a wrong one is noticed by the side that gets it. */
import { describe, expect, it } from 'vitest';
import { fits } from '#shared/shapes.ts';
import { portPair } from '../../test/kit/edge/loopback.ts';
import { echoAgent } from '../../test/kit/fakes/fake-agents.ts';
import { CallRefused } from '../call/refused.ts';
import { Channel, type Notice, type Port, type Request } from './channel.ts';
import { toMain, toShard } from './messages.ts';

const call = {
  callId: 'call-1',
  orgId: 'org-1',
  trunkId: null,
  sipCallId: 'a@b',
  direction: 'inbound',
  from: '+1',
  to: '+2',
  variables: {},
};
const session = { codec: 'PCMU', keys: 'telephone-event', held: false };
const state = {
  legs: 1,
  ports_in_use: 1,
  worker_deaths: 0,
  worker_hangs: 0,
  packets_here: 9,
  legs_without_keys: 0,
  packets_beyond_rate: 0,
  skipped_frames: 0,
  counters: { requests: 2 },
  gauges: { inside: 1 },
};

/** By name: a body, and an answer if there is one. */
const examples: Readonly<Record<string, readonly [object, object?]>> = {
  configure: [{ version: 1, organizations: [], pathways: [], allowed_private_targets: [] }],
  create_leg: [{ leg: 1, call_id: 'call-1', codecs: ['PCMU', 'PCMA'], browser: false, beside: null }, {}],
  answer: [
    { leg: 1, offer: 'v=0' },
    { sdp: 'v=0', ...session },
  ],
  offer: [{ leg: 1, anew: true }, { sdp: 'v=0' }],
  accept: [{ leg: 1, answer: 'v=0' }, session],
  attach: [{ leg: 1, what: 'agent', agent: 2 }],
  withdraw: [{ leg: 1 }],
  hold: [{ leg: 1, on: true }],
  press_keys: [{ leg: 1, digits: '1w2' }, {}],
  pressed: [{ leg: 1, digit: '5', duration_ms: 100 }],
  silence: [{ leg: 1 }, { ms: 12.5 }],
  tell: [{ leg: 1, side: 'near', words: new Int16Array(160) }],
  report: [{ leg: 1 }, { report: { packets_sent: 1 } }],
  close_leg: [{ leg: 1 }],
  record: [
    {
      leg: 1,
      header: { call_id: 'call-1' },
      data_key: new Uint8Array(32),
      announcement: null,
      pause_key: '*',
    },
  ],
  pause_recording: [{ leg: 1, paused: true, with_others: false }],
  bridge: [{ bridge: 3, one: 1, other: 2, transcode: true }, { mode: 'transcoded' }],
  close_bridge: [{ bridge: 3 }],
  enter_room: [{ room: 4, leg: 1, tones: true }],
  agent_enters_room: [{ room: 4, agent: 2 }],
  agent_leaves_room: [{ room: 4, agent: 2 }],
  mute_in_room: [{ room: 4, leg: 1, on: true }],
  leave_room: [{ room: 4, leg: 1 }],
  supervise: [
    { supervision: 5, leg: 1, supervisor: 2, agent: 'far', tone: true },
    { supervision: 6, leg: 2, supervisor: 1, agent: 'near', tone: false },
  ],
  supervise_how: [
    { supervision: 5, mode: 'listen' },
    { supervision: 5, mode: 'take_over' },
  ],
  end_supervision: [{ supervision: 5 }],
  create_agent: [{ agent: 2, settings: echoAgent, call }],
  create_consult: [{ agent: 2, order: { announcement: null, acceptKey: '1' }, call, manner: null }],
  prepare: [{ agent: 2 }, {}],
  instruct: [{ agent: 2, text: 'Offer a refund.' }],
  start_agent: [{ agent: 2 }],
  keys_possible: [{ agent: 2, possible: false }],
  recorded: [{ agent: 2, recorded: true }],
  close_agent: [{ agent: 2, reason: 'over' }, {}],
  state: [{}, state],
  stop: [{}, {}],
  ready: [{ codecs: ['PCMU'], ports: 100 }],
  unusable: [{ why: 'no worker' }],
  sampled: [{ leg: 1, sample: { at: 5000, durationMs: 5000, received: 250, levelReceived: null } }],
  leg_failed: [{ leg: 1, why: 'gone', browser: true }],
  recording_paused: [{ leg: 1, paused: true }],
  recording_stopped: [{ leg: 1, reason: 'edge_disk_full', detail: 'full' }],
  recording_finished: [{ recording: 'recording-1' }],
  bridge_failed: [{ bridge: 3, why: 'no codec', sip_status: 488 }],
  key_known: [{ call_id: 'call-1', key: 'k' }],
  heard_in_room: [{ room: 4, leg: 1, speaks: true }],
  room_failed: [{ room: 4, why: 'a bug' }],
  room_agent_failed: [{ room: 4, why: 'a bug' }],
  hangup: [{ agent: 2, reason: 'said goodbye', extras: null }],
  agent_keys: [{ agent: 2, digits: '#' }, {}],
  said: [{ agent: 2, entries: [{ id: 'l', text: 'Hello.' }], left_out: 1, variables: { name: 'Ada' } }, {}],
  mark: [{ agent: 2, turn: 0, what: 'sound', at: 1234.5 }],
  transfer: [
    { agent: 2, order: { target: '+3', method: 'bridge', consult: null } },
    { outcome: { ok: true } },
  ],
  recording: [{ agent: 2, step: 'pause' }],
  join: [{ agent: 2 }],
  answered_by: [{ agent: 2, who: 'human' }],
  agent_failed: [{ agent: 2, why: 'no model' }],
  speak: [
    { text: 'Hello.', voice: null, language: 'en-US', sample_rate: 8000 },
    { samples: new Int16Array([1, -2, 3]) },
  ],
  begin_speech: [
    { speech: 4, text: 'Hello.', voice: 'ada', language: 'en-US', sample_rate: 16_000 },
    { samples: new Int16Array([1, -2, 3]) },
  ],
  next_piece: [{ speech: 4 }, { samples: null }],
  stop_speech: [{ speech: 4 }],
  premake: [{ text: 'Goodbye.', voice: null, language: 'en-US', sample_rate: 8000 }],
  enter_gate: [{ place: 1, wait_ms: 100 }, { entered: true }],
  leave_gate: [{ place: 1 }],
};

function pair() {
  const [one, other] = portPair();
  const broken: string[] = [];
  const note = (error: Error) => void broken.push(error.message);
  return { here: new Channel(one, note), there: new Channel(other, note), broken };
}

const table: readonly (Notice<unknown> | Request<unknown, unknown>)[] = [
  ...Object.values<Notice<unknown>>({ ...toShard }),
  ...Object.values<Notice<unknown>>({ ...toMain }),
];

/** Bodies with one property missing, with one too many, and with one of the wrong type. */
function wrongBodies(body: object): object[] {
  const names = Object.keys(body);
  return [
    ...names.map((left) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== left))),
    ...names.map((name) => ({ ...body, [name]: Symbol.iterator in body ? null : () => {} })),
  ];
}

describe('the protocol of shards', () => {
  it('has an example of each message', () => {
    expect(table.map(({ name }) => name).sort()).toEqual(Object.keys(examples).sort());
  });

  describe.each(table.map((message) => [message.name, message] as const))('%s', (name, message) => {
    const [body, answer] = examples[name] ?? [{}];

    it('arrives as it was sent, in the order in which it was sent', async () => {
      const { here, there, broken } = pair();
      const got: unknown[] = [];
      if ('answer' in message && answer) {
        there.onAsk(message, (asked) => {
          got.push(asked);
          return answer;
        });
        expect(await here.ask(message, body)).toEqual(answer);
        here.askFor(message, body, {});
      } else {
        there.onTell(message, (told) => got.push(told));
        here.tell(message, body);
        here.tell(message, body);
      }
      expect(got).toEqual([body, body]);
      expect(broken).toEqual([]);
    });

    it('is checked by the side that gets it', () => {
      // What was checked where it entered the program is not checked again.
      const isOpen = fits(message.body, { anything: 1 });
      const wrong = isOpen ? ['no object'] : wrongBodies(body).filter((one) => !fits(message.body, one));
      expect(isOpen ? 1 : wrong.length).toBeGreaterThanOrEqual(Object.keys(body).length === 0 ? 0 : 1);
      for (const bad of wrong) {
        const { here, there, broken } = pair();
        const got: unknown[] = [];
        if ('answer' in message) there.onAsk(message, (asked) => ({ got: got.push(asked) }));
        else there.onTell(message, (told) => got.push(told));
        const plain =
          typeof bad === 'object'
            ? Object.fromEntries(Object.entries(bad).filter(([, v]) => typeof v !== 'function'))
            : bad;
        if ('answer' in message) here.ask(message, plain).catch(() => {});
        else here.tell(message, plain);
        expect(got).toEqual([]);
        expect(broken).toEqual([expect.stringContaining(`a wrong message "${name}"`)]);
      }
    });

    it('has an answer that is checked by the side that asked', async () => {
      if (!('answer' in message) || fits(message.answer, { wrong: 1 })) return;
      const { here, there, broken } = pair();
      there.onAsk(message, () => ({ wrong: 1 }));
      await expect(here.ask(message, body)).rejects.toThrow(`a wrong answer to "${name}"`);
      expect(broken).toEqual([expect.stringContaining(`a wrong message "${name}"`)]);
    });
  });

  it('carries a refusal with everything that the peer and the record need', async () => {
    const { here, there } = pair();
    const refusal = new CallRefused(488, 'No codec', 'Offer PCMU', { kind: 'no_codec', text: 'None fits.' });
    there.onAsk(toShard.offer, () => Promise.reject(refusal));
    const error: unknown = await here
      .ask(toShard.offer, { leg: 1, anew: false })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CallRefused);
    expect(error).toMatchObject({
      sipStatus: 488,
      message: 'No codec',
      warning: 'Offer PCMU',
      mediaFault: { kind: 'no_codec', text: 'None fits.' },
    });
  });

  it('carries other errors, thrown at once or later, with the stack of the other side', async () => {
    const { here, there } = pair();
    const failure = new RangeError('invalid key');
    there.onAsk(toShard.pressKeys, () => {
      throw failure;
    });
    const error: unknown = await here
      .ask(toShard.pressKeys, { leg: 1, digits: 'x' })
      .catch((why: unknown) => why);
    expect(error).toMatchObject({ message: 'invalid key', stack: failure.stack });
    expect(error).not.toBeInstanceOf(CallRefused);
  });

  it('rejects what was asked when the channel closes, and what is asked later', async () => {
    const { here, there } = pair();
    there.onAsk(toShard.offer, () => new Promise(() => {}));
    const asked = here.ask(toShard.offer, { leg: 1, anew: false });
    here.close(new Error('the shard ended'));
    await expect(asked).rejects.toThrow('the shard ended');
    await expect(here.ask(toShard.offer, { leg: 1, anew: false })).rejects.toThrow('the shard ended');
    expect(await here.askFor(toShard.silence, { leg: 1 }, { ms: 0 })).toEqual({ ms: 0 });
  });

  it('ends when an unknown message, an answer that nobody asked for, or no message at all arrives', () => {
    const [one, other] = portPair();
    const broken: string[] = [];
    new Channel(other, (error) => broken.push(error.message));
    for (const message of [
      { kind: 'tell', name: 'nonsense', read: 0, body: {} },
      { kind: 'answer', id: 7, read: 0, body: {} },
      'nothing',
    ])
      one.post(message);
    expect(broken).toEqual([
      'an unknown message "nonsense"',
      'an answer to nothing that was asked',
      expect.stringContaining('must be object'),
    ]);
  });

  it('lets 50,000 messages wait for a side that does not read, and then is closed', async () => {
    const broken: string[] = [];
    let posted = 0;
    let say: (message: unknown) => void = () => {};
    const port: Port = { post: () => void posted++, listen: (receive) => (say = receive) };
    const here = new Channel(port, (error) => broken.push(error.message));
    const asked = here.ask(toShard.offer, { leg: 1, anew: false });
    for (let told = 1; told < 50_000; told++) here.tell(toShard.closeLeg, { leg: 1 });
    // Any message says how many were read.
    here.onTell(toMain.agentFailed, () => {});
    say({ kind: 'tell', name: 'agent_failed', read: 20, body: { agent: 1, why: 'none' } });
    for (let told = 0; told < 20; told++) here.tell(toShard.closeLeg, { leg: 1 });
    expect({ posted, broken }).toEqual({ posted: 50_020, broken: [] });
    here.tell(toShard.closeLeg, { leg: 1 });
    here.tell(toShard.closeLeg, { leg: 1 });
    expect({ posted, broken }).toEqual({
      posted: 50_020,
      broken: ['the other side has not read the last 50000 messages'],
    });
    await expect(asked).rejects.toThrow('not read');
  });

  it('lets 10,000 requests wait for an answer, and no more', async () => {
    const { here, there } = pair();
    there.onAsk(toShard.offer, () => new Promise(() => {}));
    const waiting = Array.from({ length: 10_000 }, () =>
      here.ask(toShard.offer, { leg: 1, anew: false }).catch(() => {}),
    );
    await expect(here.ask(toShard.offer, { leg: 1, anew: false })).rejects.toThrow('10000 requests wait');
    here.close(new Error('over'));
    await Promise.all(waiting);
  });
});
