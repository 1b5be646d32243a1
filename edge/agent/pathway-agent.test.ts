import { describe, expect, it } from 'vitest';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { countingVoice, settle, takeFrames } from '../../test/kit/edge/agent.ts';
import { hear, menu, setUp } from '../../test/kit/edge/pathway-agent.ts';

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

describe('speech recognition', () => {
  const says = (...texts: string[]): SpeechToText => ({ transcribe: async () => texts.shift() ?? '' });

  it('follows the edge of the words and is interrupted by speech beyond the threshold', async () => {
    const { agent, host, begin } = setUp({ stt: says('my account please') });
    await begin();
    await takeFrames(agent, 2);
    hear(agent.write, 3000, 24);
    expect(agent.read(new Int16Array(160))).toBe(true);
    hear(agent.write, 3000, 1);
    expect(agent.read(new Int16Array(160))).toBe(false);
    hear(agent.write, 0, 35);
    await settle();
    expect(host.lines('user', 'assistant')).toEqual([
      'assistant: Press 1, 2 or 3.',
      'user: my account please',
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
