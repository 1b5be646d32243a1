import { describe, expect, it } from 'vitest';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { countingVoice, settle, takeFrames } from '../../test/kit/edge/agent.ts';
import { edge, hear, menu, node, setUp } from '../../test/kit/edge/pathway-agent.ts';

describe('starting', () => {
  it('says the first sentence in place of the start node', async () => {
    const { agent, host, begin } = setUp({
      settings: { first_sentence: 'Hello {{sip_header_x-plan}} caller.' },
    });
    await begin();
    expect(host.lines('assistant')).toEqual(['assistant: Hello gold caller.']);
    agent.close('over');
  });

  it('lets the caller speak first, for five seconds at most', async () => {
    const { agent, host, begin, pass } = setUp({ settings: { wait_for_greeting: true } });
    await begin();
    await pass(4999);
    expect(await takeFrames(agent, 3)).toBe(0);
    await pass(1);
    expect(await takeFrames(agent, 3)).toBe(3);
    expect(host.lines('assistant')).toHaveLength(1);
    agent.close('over');
  });

  it('speaks when the greeting ends', async () => {
    const { agent, begin } = setUp({ settings: { wait_for_greeting: true } });
    await begin();
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 40);
    await settle();
    expect(await takeFrames(agent, 3)).toBe(3);
    agent.close('over');
  });

  it('does not talk over a greeting that takes longer than the wait, and says its first sentence afterwards', async () => {
    const settings = { wait_for_greeting: true, first_sentence: 'Hi.' };
    const { agent, host, begin, pass } = setUp({ settings });
    await begin();
    hear(agent.write, 3000, 20);
    await pass(6000);
    expect(await takeFrames(agent, 3)).toBe(0);
    hear(agent.write, 0, 40);
    await settle();
    expect(await takeFrames(agent, 5)).toBe('Hi.'.length);
    expect(host.lines('assistant')).toEqual(['assistant: Hi.']);
    agent.close('over');
  });

  it('decodes nothing when no voice is needed', () => {
    expect(setUp().agent.write).toBeUndefined();
  });

  it('rejects the call without its pathway', async () => {
    const { agent } = setUp({ settings: { pathway_version: 9 } });
    await expect(agent.prepare()).rejects.toThrow("version 9 is not in the edge's configuration");
  });

  it("rejects another organization's call to this pathway", async () => {
    const { agent } = setUp({ config: { ...menu, org_id: 'other' } });
    await expect(agent.prepare()).rejects.toThrow('is not in the edge');
  });

  it('rejects the call when the start node is unknown', async () => {
    const { agent } = setUp({ settings: { start_node_id: 'nowhere' } });
    await expect(agent.prepare()).rejects.toThrow('Invalid start_node_id');
  });

  it('rejects the call when speech synthesis fails', async () => {
    const broken = { ...countingVoice, synthesize: () => Promise.reject(new Error('no voice')) };
    const { agent } = setUp({ tts: broken });
    await expect(agent.prepare()).rejects.toThrow('no voice');
  });
});

describe('a voice that fails mid-call', () => {
  it('writes the text to the transcript and continues', async () => {
    const failing: TextToSpeech = {
      ...countingVoice,
      synthesize: (text, options) =>
        text === 'Account?'
          ? Promise.reject(new Error('overloaded'))
          : countingVoice.synthesize(text, options),
    };
    const { agent, host, log, press, begin } = setUp({ tts: failing });
    await begin();
    await press('1');
    await press('5#');
    expect(host.lines('agent-action')).toContain(
      'agent-action: Could not be spoken (text-to-speech failed): Account?',
    );
    expect(log.warnings.map(({ message }) => message)).toEqual(['text-to-speech failed']);
    expect(host.lines('assistant').at(-1)).toBe('assistant: Thanks 5.');
    expect(host.failures).toEqual([]);
    agent.close('over');
  });
});

const longText = 'We are open from nine to five on every day of the week but Sunday.';
const long = {
  ...menu,
  nodes: [
    node('menu', 'Default', { isStart: true, text: longText }),
    node('bye', 'End Call', { text: 'Goodbye.' }),
  ],
  edges: [edge('menu', 'bye', 'anything else')],
};

describe('speech recognition', () => {
  const says = (...texts: string[]): SpeechToText => ({ transcribe: async () => texts.shift() ?? '' });

  it('says in the transcript that it failed, once until words are heard again', async () => {
    const answers = [null, null, 'unclear', null];
    const stt: SpeechToText = {
      transcribe: async () => {
        const answer = answers.shift();
        if (!answer) throw new Error('stt.example answered 401');
        return answer;
      },
    };
    const { agent, host, begin } = setUp({ stt });
    await begin();
    const deaf = () => host.lines('agent-action').filter((line) => line.includes('could not be transcribed'));
    const counts: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await takeFrames(agent, 100);
      hear(agent.write, 3000, 25);
      hear(agent.write, 0, 60);
      await settle();
      counts.push(deaf().length);
    }
    expect(counts).toEqual([1, 1, 1, 2]);
    expect(deaf()[0]).toBe(
      "agent-action: The caller's words could not be transcribed: the transcription server failed.",
    );
    agent.close('over');
  });

  it('is interrupted by speech beyond the threshold, follows the edge of the words, and reports what was heard', async () => {
    const { agent, host, begin } = setUp({ stt: says('my account please') });
    await begin();
    await takeFrames(agent, 9);
    hear(agent.write, 3000, 25);
    expect(host.lines('agent-action').at(-1)).toBe('agent-action: Interrupted by the caller');
    expect(agent.read(new Int16Array(160))).toBe(false);
    hear(agent.write, 0, 35);
    await settle();
    expect(host.lines('user', 'assistant')).toEqual([
      'assistant: Press 1,',
      'user: my account please',
      'assistant: Account?',
    ]);
    const cutOff = host.entries.findLast(({ text }) => text === 'Press 1,');
    expect(cutOff?.fact).toEqual({ kind: 'cut_off', said: 'Press 1, 2 or 3.', heard: 'Press 1,' });
    agent.close('over');
  });

  it('goes on from the same sample when the caller only says "mhm"', async () => {
    const { agent, host, begin } = setUp({ stt: says('Mhm.'), config: long });
    await begin();
    expect(await takeFrames(agent, 7)).toBe(7);
    hear(agent.write, 3000, 4);
    expect(await takeFrames(agent, 5)).toBe(0);
    hear(agent.write, 3000, 16);
    hear(agent.write, 0, 13);
    const frame = new Int16Array(160);
    expect(agent.read(frame)).toBe(true);
    expect([frame[0], frame[79], frame[80], frame[159]]).toEqual([13, 1000, 1000, 1000]);
    hear(agent.write, 0, 35);
    expect(await takeFrames(agent, 200)).toBe(longText.length - 8);
    expect(host.lines('user', 'assistant', 'agent-action')).toEqual([`assistant: ${longText}`]);
    agent.close('over');
  });

  it('obeys a short word when it is known, although the speech has gone on', async () => {
    const { agent, host, begin } = setUp({ stt: says('Stop!'), config: long });
    await begin();
    await takeFrames(agent, 7);
    hear(agent.write, 3000, 16);
    hear(agent.write, 0, 12);
    await settle();
    expect(await takeFrames(agent, 2)).toBe(0);
    expect(host.lines('assistant', 'agent-action').slice(0, 2)).toEqual([
      'assistant: We are',
      'agent-action: Interrupted by the caller',
    ]);
    agent.close('over');
  });

  it('is only softer after two vain interruptions within ten seconds', async () => {
    const { agent, begin, pass } = setUp({ stt: says('Mhm.', 'Mhm.', 'Mhm.', 'Mhm.'), config: long });
    await begin();
    const levelAfterVoice = async () => {
      hear(agent.write, 3000, 5);
      await takeFrames(agent, 2);
      const frame = new Int16Array(160);
      const sounds = agent.read(frame);
      hear(agent.write, 0, 40);
      await takeFrames(agent, 2);
      return sounds ? frame[100] : null;
    };
    await takeFrames(agent, 2);
    expect([await levelAfterVoice(), await levelAfterVoice(), await levelAfterVoice()]).toEqual([
      null,
      null,
      250,
    ]);
    const after = new Int16Array(160);
    agent.read(after);
    expect(after[100]).toBe(1000);
    await pass(10_001);
    expect(await levelAfterVoice()).toBe(null);
    agent.close('over');
  });

  it('says again the word in which it was held for more than a second', async () => {
    const { agent, begin, pass } = setUp({ stt: says('Mhm.'), config: long });
    await begin();
    // "We are open from": held in the midst of "from".
    await takeFrames(agent, 14);
    hear(agent.write, 3000, 4);
    await pass(1200);
    hear(agent.write, 0, 48);
    await settle();
    expect(await takeFrames(agent, 200)).toBe(longText.length - 12);
    agent.close('over');
  });

  it('asks for the words in the pause, and waits longer when more is to come', async () => {
    const { agent, host, begin } = setUp({ stt: says('My account and', 'My account and my bill.') });
    await begin();
    await takeFrames(agent, 30);
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 20);
    await settle();
    hear(agent.write, 0, 20);
    await settle();
    expect(host.lines('user')).toEqual([]);
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 13);
    await settle();
    expect(host.lines('user')).toEqual([]);
    hear(agent.write, 0, 3);
    await settle();
    expect(host.lines('user')).toEqual([]);
    hear(agent.write, 0, 5);
    await settle();
    expect(host.lines('user')).toEqual(['user: My account and my bill.']);
    agent.close('over');
  });

  it('prepares its answer in the pause, and leaves no trace of it when the caller goes on', async () => {
    const asked: string[] = [];
    const stt = says('Sorry, wait.', 'Sorry, wait. My account please.');
    const { agent, host, begin } = setUp({
      stt,
      understanding: {
        ...ruleEngine,
        chooseEdge: (question) => {
          asked.push(question.text);
          return ruleEngine.chooseEdge(question);
        },
      },
    });
    await begin();
    await takeFrames(agent, 30);
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 13);
    await settle();
    hear(agent.write, 0, 1);
    await settle();
    expect(asked).toEqual(['Sorry, wait.']);
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 13);
    await settle();
    hear(agent.write, 0, 1);
    await settle();
    expect(host.lines('user')).toEqual([]);
    hear(agent.write, 0, 10);
    await settle();
    expect(asked).toEqual(['Sorry, wait.', 'Sorry, wait. My account please.']);
    expect(host.lines('user', 'assistant', 'agent-action').slice(1)).toEqual([
      'user: Sorry, wait. My account please.',
      expect.stringContaining('agent-action: '),
      'assistant: Account?',
    ]);
    agent.close('over');
  });

  it('does not take the greeting as an answer', async () => {
    const { agent, host, begin } = setUp({ stt: says('my account'), settings: { wait_for_greeting: true } });
    await begin();
    hear(agent.write, 3000, 20);
    hear(agent.write, 0, 40);
    await settle();
    expect(host.lines('user', 'assistant').sort()).toEqual([
      'assistant: Press 1, 2 or 3.',
      'user: my account',
    ]);
    agent.close('over');
  });
});

describe('the end', () => {
  it('leaves no timer and no speech, at whatever point it is closed', async () => {
    const { agent, clock, host, press, begin } = setUp();
    await begin();
    await press('1');
    agent.close('over');
    agent.close('over');
    await settle();
    const entries = host.entries.length;
    await press('1#');
    expect(await takeFrames(agent, 5)).toBe(0);
    expect([clock.pending, host.entries.length, host.failures, host.hangups]).toEqual([0, entries, [], []]);
  });
});

describe('pronunciation', () => {
  const spokenBy = (texts: string[]): TextToSpeech => ({
    ...countingVoice,
    synthesize: (text, options) => {
      texts.push(text);
      return countingVoice.synthesize(text, options);
    },
  });
  const config = {
    ...menu,
    nodes: [
      { globalConfig: { pronunciations: [{ text: 'SQL', say: 'sequel' }] } },
      node('menu', 'Default', { isStart: true, text: 'SQL 4711 of ACME.', sayDigits: true }),
      node('bye', 'End Call', { text: 'SQL 4711.' }),
    ],
    edges: [edge('menu', 'bye', 'press 1')],
  };

  it('is of the voice alone: the transcript has the text as it is written', async () => {
    const texts: string[] = [];
    const pronunciations = [
      { text: 'acme', say: 'ack me' },
      { text: 'SQL', say: 'unused' },
    ];
    const { agent, host, begin, press } = setUp({ tts: spokenBy(texts), config, pronunciations });
    await begin();
    await press('1');
    expect(texts).toEqual(['sequel 4 7 1 1 of ack me.', 'sequel 4711.']);
    expect(host.lines('assistant')).toEqual(['assistant: SQL 4711 of ACME.', 'assistant: SQL 4711.']);
    agent.close('over');
  });
});

describe('the audio of a caller', () => {
  it.each([
    ['PCMU', 8000],
    ['G.729', 8000],
    ['Opus', 16_000],
    ['G.722', 16_000],
  ] as const)('with %s has %d Hz in both directions', async (codec, rate) => {
    const heard: number[] = [];
    const stt: SpeechToText = {
      transcribe: async (_samples, { sampleRate }) => {
        heard.push(sampleRate);
        return 'my account';
      },
    };
    const { agent, host, begin } = setUp({ codec, stt });
    expect(agent.sampleRate).toBe(rate);
    await begin();
    expect(await takeFrames(agent, 100)).toBe('Press 1, 2 or 3.'.length);
    const frame = new Int16Array(rate / 50).map((_, i) => (i % 8 < 4 ? 3000 : -3000));
    for (let i = 0; i < 25; i++) agent.write?.(frame);
    for (let i = 0; i < 60; i++) agent.write?.(new Int16Array(rate / 50));
    await settle();
    expect(heard).toEqual([rate]);
    expect(host.lines('user')).toEqual(['user: my account']);
    agent.close('over');
  });
});
