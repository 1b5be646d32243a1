import { beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Flite } from '#shared/models/flite.ts';
import { loudVoices } from '../../test/kit/ears/loud-voices.ts';
import { RecordingHost, RecordingLog, settle, takeFrames } from '../../test/kit/edge/agent.ts';
import { framesOf, inTurn, silence, tones } from '../../test/kit/fakes/sounds.ts';
import type { AgentHost, AgentLeg, VoicemailOrder } from '../call/ports/agents.ts';
import type { DtmfEvent } from '../call/ports/media.ts';
import { answeringLimits } from './answering/limits.ts';
import type { VoiceDetectors } from './ears/voice-detector.ts';
import { watchVoicemail } from './voicemail-watch.ts';

let person: Int16Array;
let mailbox: Int16Array;
beforeAll(async () => {
  const flite = new Flite();
  const say = (text: string) => flite.synthesize(text, { voice: null, language: 'en-US', sampleRate: 8000 });
  person = inTurn(silence(200), await say('Hello?'), silence(2000));
  const greeting = await say(
    'You have reached the voice mail of John Smith. Please leave your message after the tone.',
  );
  mailbox = inTurn(silence(200), greeting, greeting, greeting, silence(500));
  await flite.close();
});
const beep = tones([1000], 400);
const screening = 'Please state your name and the reason for your call.';

/** An agent that plays a hum and records its input. */
class Humming implements AgentLeg {
  readonly sampleRate;
  readonly host: AgentHost;
  heard = 0;
  started = 0;
  readonly keys: string[] = [];
  readonly closedFor: string[] = [];

  constructor(host: AgentHost, sampleRate: 8000 | 16000) {
    this.host = host;
    this.sampleRate = sampleRate;
  }
  async prepare(): Promise<void> {}
  start(): void {
    this.started++;
  }
  read(frame: Int16Array): boolean {
    frame.fill(7);
    return true;
  }
  write(): void {
    this.heard++;
  }
  dtmf(event: DtmfEvent): void {
    this.keys.push(event.digit);
  }
  close(reason: string): void {
    this.closedFor.push(reason);
  }
}

function setUp(
  order: VoicemailOrder,
  {
    sampleRate = 8000 as 8000 | 16000,
    speaks = true,
    voices = null as VoiceDetectors | null,
    answers = true,
  } = {},
) {
  const clock = new FakeClock();
  const host = new RecordingHost();
  const log = new RecordingLog();
  const made: Humming[] = [];
  const spoken: string[] = [];
  const counted: string[] = [];
  const make = (gate: AgentHost) => {
    const agent = new Humming(gate, sampleRate);
    made.push(agent);
    return agent;
  };
  const agent = watchVoicemail(order, make, host, {
    clock,
    log,
    newId: () => 'id',
    limits: answeringLimits,
    voices: voices ?? loudVoices,
    answered: (who) => counted.push(who),
    synthesize: async (message, rate) => {
      if (!speaks) throw new Error('no voice');
      spoken.push(message);
      return new Int16Array((message.length * rate) / 50).fill(9);
    },
  });
  const [inner] = made;
  if (!inner) throw new Error('no agent was made');
  // Without it, voices are judged by loudness: nothing is loaded yet.
  const prepared = voices ? agent.prepare() : Promise.resolve();
  if (!voices) agent.start();
  const ready = voices && answers ? prepared.then(() => agent.start()) : prepared;
  /** The callee sends a sound; time advances with it. */
  const hear = async (sound: Int16Array) => {
    for (const frame of framesOf(sound)) {
      agent.write?.(
        sampleRate === 8000 ? frame : Int16Array.from({ length: 320 }, (_, i) => frame[i >> 1] ?? 0),
      );
      clock.advance(20);
    }
    await settle();
  };
  return { agent, inner, clock, host, log, spoken, counted, hear, ready };
}

const frame = () => new Int16Array(160);

describe('when a person answers', () => {
  it('reports it, and the agent continues', async () => {
    const { agent, inner, clock, host, hear } = setUp({ action: 'hangup', message: null });
    await hear(person);
    expect(host.answerers).toEqual(['human']);
    await hear(mailbox);
    expect(host.answerers).toEqual(['human']);
    expect([inner.started, inner.closedFor, host.hangups]).toEqual([1, [], []]);
    expect(inner.heard).toBe(framesOf(person).length + framesOf(mailbox).length);
    expect(agent.read(frame())).toBe(true);
    agent.dtmf?.({ digit: '5', durationMs: 100 });
    expect(inner.keys).toEqual(['5']);
    inner.host.hangup('done');
    expect(host.hangups).toEqual(['done']);
    expect(clock.pending).toBe(0);
  });

  it('reports unknown after 20 s of silence', async () => {
    const { host, counted, hear } = setUp({ action: 'hangup', message: null });
    await hear(silence(20_000));
    expect([host.answerers, counted]).toEqual([['unknown'], ['unknown']]);
    expect(host.hangups).toEqual([]);
  });
});

describe('the voice detector', () => {
  /** It takes each loud sound for a voice. */
  const counted = (tellsNoise: boolean, fails = false) => {
    /** Detectors that are open, and those that have heard something. */
    const open = { now: 0, heard: 0 };
    const voices: VoiceDetectors = {
      ...loudVoices,
      tellsNoise,
      load: async () => {
        if (fails) throw new Error('not installed');
      },
      create: (...args) => {
        open.now++;
        const detector = loudVoices.create(...args);
        let frames = 0;
        const write = (one: Int16Array) => {
          if (frames++ === 0) open.heard++;
          detector.write(one);
        };
        return { write, close: () => void open.now-- };
      },
    };
    return { open, voices };
  };

  it('judges voices until it is known who answered, or the call ends', async () => {
    const { open, voices } = counted(true);
    const call = setUp({ action: 'hangup', message: null }, { voices });
    await call.ready;
    await call.hear(person);
    expect([call.host.answerers, open]).toEqual([['human'], { now: 0, heard: 1 }]);
    const other = setUp({ action: 'leave_message', message: 'Call us.' }, { voices });
    await other.ready;
    await other.hear(silence(100));
    expect(open).toEqual({ now: 1, heard: 2 });
    other.agent.close('over');
    expect(open).toEqual({ now: 0, heard: 2 });
  });

  it.each([
    ['cannot tell noise', counted(false)],
    ['cannot be loaded', counted(true, true)],
  ])('that %s leaves it to the loudness', async (_why, { open, voices }) => {
    const call = setUp({ action: 'hangup', message: null }, { voices });
    await call.ready;
    await call.hear(person);
    expect([call.host.answerers, open]).toEqual([['human'], { now: 0, heard: 0 }]);
  });

  it('is loaded while the phone rings, until the call is answered or given up', async () => {
    const { open, voices } = counted(true);
    const order = { action: 'hangup', message: null } as const;
    const canceled = setUp(order, { voices, answers: false });
    await canceled.ready;
    expect(open).toEqual({ now: 1, heard: 0 });
    canceled.agent.close('canceled');
    expect(open).toEqual({ now: 0, heard: 0 });
    const answered = setUp(order, { voices });
    await answered.ready;
    expect(open).toEqual({ now: 1, heard: 0 });
    answered.agent.close('over');
    expect(open).toEqual({ now: 0, heard: 0 });
  });
});

describe('when a screening assistant answers', () => {
  const words = (host: AgentHost, user: 'user' | 'assistant', text = screening) =>
    host.transcript({ id: text, at: '', user, text, node_id: null, node_name: null });

  it('is told by its words, and the agent answers it', async () => {
    const { agent, inner, host, counted, hear } = setUp({ action: 'hangup', message: null });
    words(inner.host, 'user');
    await hear(mailbox);
    expect([host.answerers, counted]).toEqual([['screening'], ['screening']]);
    expect([inner.closedFor, host.hangups]).toEqual([[], []]);
    expect(agent.read(frame())).toBe(true);
    expect(host.lines('agent-action')).toEqual([
      'agent-action: A call-screening assistant answered the call',
    ]);
  });

  it('replaces a person as the result', async () => {
    const { inner, host, hear } = setUp({ action: 'hangup', message: null });
    await hear(person);
    words(inner.host, 'user');
    await hear(silence(40));
    expect(host.answerers).toEqual(['human', 'screening']);
  });

  it('is not what our agent says, what a mailbox said, or what comes after a minute', async () => {
    const agentSays = setUp({ action: 'hangup', message: null });
    words(agentSays.inner.host, 'assistant');
    await agentSays.hear(person);
    expect(agentSays.host.answerers).toEqual(['human']);
    const voicemail = setUp({ action: 'ignore', message: null });
    await voicemail.hear(mailbox);
    words(voicemail.inner.host, 'user');
    await voicemail.hear(silence(40));
    expect(voicemail.host.answerers).toEqual(['voicemail']);
    const late = setUp({ action: 'hangup', message: null });
    await late.hear(person);
    late.clock.advance(60_000);
    words(late.inner.host, 'user');
    await late.hear(silence(40));
    expect(late.host.answerers).toEqual(['human']);
  });
});

describe('when voicemail answers', () => {
  it('hangs up', async () => {
    const { inner, host, hear } = setUp({ action: 'hangup', message: null });
    await hear(mailbox);
    expect(host.answerers).toEqual(['voicemail']);
    expect(host.hangups).toEqual(['voicemail answered the call']);
    expect(inner.closedFor).toHaveLength(1);
    expect(host.lines('agent-action')).toEqual(['agent-action: Voicemail answered the call']);
  });

  it('lets the agent continue when configured to ignore it', async () => {
    const { agent, inner, host, hear } = setUp({ action: 'ignore', message: null });
    await hear(inTurn(mailbox, beep, silence(4000)));
    expect(host.answerers).toEqual(['voicemail']);
    expect([inner.closedFor, host.hangups]).toEqual([[], []]);
    expect(agent.read(frame())).toBe(true);
  });

  const leave = { action: 'leave_message', message: 'Call us back.' } as const;

  const greets = (
    { inner, host }: ReturnType<typeof setUp>,
    text = 'Please leave a message after the beep.',
  ) => {
    const lines = host.lines('user').length;
    inner.host.transcript({ id: `${lines}`, at: '', user: 'user', text, node_id: null, node_name: null });
  };

  it.each([
    ['a person', () => person, ['human', 'voicemail']],
    ['nobody yet', () => silence(1000), ['voicemail']],
  ])('is told by its words, when its sound was that of %s', async (_whose, sound, results) => {
    const call = setUp({ action: 'hangup', message: null });
    await call.hear(sound());
    greets(call);
    await call.hear(silence(40));
    expect([call.host.answerers, call.counted]).toEqual([results, results]);
    expect(call.host.hangups).toEqual(['voicemail answered the call']);
    expect(call.clock.pending).toBe(0);
  });

  it('that its words tell gets the message once it is silent or has beeped', async () => {
    const call = setUp(leave);
    await call.hear(person);
    greets(call);
    await call.hear(inTurn(beep, silence(100)));
    expect(call.host.lines('assistant')).toEqual(['assistant: Call us back.']);
    const silent = setUp(leave);
    await silent.hear(person);
    greets(silent);
    await silent.hear(silence(500));
    expect(silent.host.lines('assistant')).toEqual([]);
    await silent.hear(silence(1000));
    expect(silent.host.lines('assistant')).toEqual(['assistant: Call us back.']);
  });

  it('is not told by words that come after half a minute, or that our agent says', async () => {
    const call = setUp(leave);
    await call.hear(person);
    call.inner.host.transcript({
      id: 'ours',
      at: '',
      user: 'assistant',
      text: 'Please leave a message after the beep.',
      node_id: null,
      node_name: null,
    });
    await call.hear(silence(30_000));
    greets(call);
    await call.hear(silence(4000));
    expect([call.host.answerers, call.host.hangups]).toEqual([['human'], []]);
    expect(call.clock.pending).toBe(0);
  });

  it.each([8000, 16_000] as const)('leaves the message after the beep, at %i Hz', async (sampleRate) => {
    const { agent, inner, clock, host, spoken, hear } = setUp(leave, { sampleRate });
    expect(spoken).toEqual(['Call us back.']);
    await hear(mailbox);
    expect(host.answerers).toEqual(['voicemail']);
    expect(inner.closedFor).toHaveLength(1);
    expect(await takeFrames(agent, 5)).toBe(0);
    await hear(beep);
    expect(await takeFrames(agent, 5)).toBe(0);
    await hear(silence(100));
    expect(host.lines('assistant')).toEqual(['assistant: Call us back.']);
    expect(await takeFrames(agent, 30)).toBe('Call us back.'.length);
    clock.advance(499);
    expect(host.hangups).toEqual([]);
    clock.advance(1);
    expect(host.hangups).toEqual(['voicemail message left']);
    expect(clock.pending).toBe(0);
  });

  it('ignores everything the agent says from then on', async () => {
    const { agent, inner, host, hear } = setUp(leave);
    await hear(mailbox);
    inner.host.hangup('late');
    inner.host.fail(new Error('late'));
    inner.host.variables({ late: true });
    expect(await inner.host.transfer({ target: '1', method: 'bridge', consult: null })).toMatchObject({
      ok: false,
      code: 'not_active',
    });
    agent.dtmf?.({ digit: '5', durationMs: 100 });
    expect([host.hangups, host.failures, host.learned, host.transfers, inner.keys]).toEqual([
      [],
      [],
      {},
      [],
      [],
    ]);
  });

  it('hangs up after the beep when the message cannot be synthesized', async () => {
    const { host, log, hear } = setUp(leave, { speaks: false });
    await hear(inTurn(mailbox, beep, silence(100)));
    expect(host.hangups).toEqual(['voicemail answered the call, and the message could not be synthesized']);
    expect(log.warnings.map(({ message }) => message)).toEqual([
      'voicemail message could not be synthesized',
    ]);
  });

  it('leaves no timer when the call ends first', async () => {
    const { agent, clock, host, hear } = setUp(leave);
    await hear(inTurn(mailbox, beep, silence(100)));
    await takeFrames(agent, 30);
    agent.close('over');
    agent.close('over');
    expect(clock.pending).toBe(0);
    clock.advance(10_000);
    expect(host.hangups).toEqual([]);
  });
});
