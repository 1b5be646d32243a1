/** Key presses in a call with a pathway agent, and calls on which they are impossible. */
import { describe, expect, it } from 'vitest';
import type { SpeechToText } from '#shared/models/speech.ts';
import { call, settle, takeFrames } from '../../test/kit/edge/agent.ts';
import { edge, hear, menu, node, setUp } from '../../test/kit/edge/pathway-agent.ts';
import type { TransferOutcome } from '../call/ports/transfer.ts';

describe('a call driven by key presses', () => {
  it('starts its first words in the first frame and plays all of them once', async () => {
    const { agent, host, begin } = setUp();
    await begin();
    expect(await takeFrames(agent, 40)).toBe('Press 1, 2 or 3.'.length);
    expect(host.lines('assistant')).toEqual(['assistant: Press 1, 2 or 3.']);
    expect(host.entries[0]?.text).toBe(
      'No speech recognition is configured: this call is driven by key presses.',
    );
    agent.close('over');
  });

  it('follows the edge of the key, fills a variable up to #, speaks it and hangs up after the last word', async () => {
    const { agent, clock, host, press, begin, pass } = setUp();
    await begin();
    await takeFrames(agent, 30);
    await press('1');
    expect(await takeFrames(agent, 30)).toBe('Account?'.length);
    await press('1234#');
    expect(host.learned).toEqual({ account: 1234 });
    expect(await takeFrames(agent, 11)).toBe(11);
    await pass(10_000);
    expect(host.hangups).toEqual([]);
    expect(await takeFrames(agent, 30)).toBe('Thanks 1234.'.length - 11);
    expect(host.hangups).toEqual([]);
    await pass(199);
    expect(host.hangups).toEqual([]);
    await pass(1);
    expect(host.hangups).toEqual(['the pathway reached its End Call node']);
    expect(host.lines('user', 'assistant')).toEqual([
      'assistant: Press 1, 2 or 3.',
      'user: Pressed 1',
      'assistant: Account?',
      'user: Pressed 1234',
      'assistant: Thanks 1234.',
    ]);
    expect(host.entries.find(({ text }) => text === 'Account?')).toMatchObject({
      node_id: 'account',
      node_name: 'account',
    });
    agent.close('over');
    expect(clock.pending).toBe(0);
  });

  it('completes an entry without # after three seconds', async () => {
    const { agent, host, press, begin, pass } = setUp();
    await begin();
    await press('1');
    await press('77');
    await pass(2999);
    expect(host.learned).toEqual({});
    await pass(1);
    expect(host.learned).toEqual({ account: 77 });
    agent.close('over');
  });

  it('stops speaking within the frame in which a key is pressed', async () => {
    const { agent, host, press, begin } = setUp();
    await begin();
    expect(await takeFrames(agent, 5)).toBe(5);
    agent.dtmf?.({ digit: '9', durationMs: 100 });
    expect(agent.read(new Int16Array(160))).toBe(false);
    await press('');
    expect(host.lines('agent-action')).toContain('agent-action: Interrupted by a key press');
    // Who presses a key knows what was to come: the line stays, with what was heard beside it.
    const said = host.entries.find(({ user }) => user === 'assistant');
    const again = host.entries.filter(({ id }) => id === said?.id).at(-1);
    expect(again).toEqual({
      ...said,
      fact: { kind: 'cut_off', said: said?.text, heard: expect.any(String) },
    });
    expect(said?.text).not.toBe(again?.fact?.kind === 'cut_off' && again.fact.heard);
    agent.close('over');
  });

  it('finishes its sentence when interruptions are blocked, and still accepts the key', async () => {
    const { agent, host, press, begin } = setUp({ settings: { block_interruptions: true } });
    await begin();
    await takeFrames(agent, 5);
    await press('1');
    expect(await takeFrames(agent, 60)).toBe('Press 1, 2 or 3.'.length - 5 + 'Account?'.length);
    expect(host.lines('user')).toEqual(['user: Pressed 1']);
    agent.close('over');
  });

  it('ignores keys when configured to', async () => {
    const { agent, host, press, begin } = setUp({ settings: { ignore_button_press: true } });
    await begin();
    await press('1');
    expect(await takeFrames(agent, 40)).toBe('Press 1, 2 or 3.'.length);
    expect(host.lines('user')).toEqual([]);
    agent.close('over');
  });

  it('buffers keys that are pressed ahead', async () => {
    const { agent, host, press, begin } = setUp();
    await begin();
    await press('155#');
    expect(host.lines('user')).toEqual(['user: Pressed 1', 'user: Pressed 55']);
    expect(host.learned).toEqual({ account: 55 });
    agent.close('over');
  });

  it('repeats itself twice after silence, measured from its last word, then ends the call', async () => {
    const { agent, host, begin, pass } = setUp();
    await begin();
    await pass(60_000);
    expect(host.lines('assistant')).toHaveLength(1);
    for (let round = 0; round < 3; round++) {
      await takeFrames(agent, 30);
      await pass(9999);
      expect(host.lines('assistant')).toHaveLength(round + 1);
      await pass(1);
    }
    await pass(200);
    expect(host.lines('assistant')).toHaveLength(3);
    expect(host.hangups).toEqual(['nothing was heard or pressed, no answer after 2 repeats']);
    agent.close('over');
  });

  const desk = { request_data: { desk: '+1 (415) 555-0199' } };

  it('transfers the call after the words of the node, and is silent afterwards', async () => {
    const { agent, host, press, begin, pass } = setUp({ settings: desk });
    await begin();
    await press('2');
    await takeFrames(agent, 'One moment.'.length);
    expect(host.transfers).toEqual([]);
    await takeFrames(agent, 2);
    expect(host.transfers).toEqual([
      {
        target: '+14155550199',
        method: 'refer',
        consult: { announcement: `A call of ${call.from}. Press 1.`, acceptKey: '1' },
      },
    ]);
    await pass(60_000);
    expect(await takeFrames(agent, 20)).toBe(0);
    expect([host.hangups, host.failures]).toEqual([[], []]);
    agent.close('over');
  });

  it('takes the failure edge of a transfer, and discards keys pressed in the meantime', async () => {
    const { agent, host, press, begin } = setUp({ settings: desk });
    const outcome = Promise.withResolvers<TransferOutcome>();
    host.outcome = outcome.promise;
    await begin();
    await takeFrames(agent, 16);
    await press('2');
    await takeFrames(agent, 40);
    await press('9');
    outcome.resolve({ ok: false, code: 'target_failed', sipCode: 486, reason: 'The target is busy.' });
    await takeFrames(agent, 40);
    expect(host.lines('assistant')).toEqual([
      'assistant: Press 1, 2 or 3.',
      'assistant: One moment.',
      'assistant: Sorry.',
    ]);
    expect(host.lines('agent-action')).toContain('agent-action: transfer: The target is busy.');
    expect(host.lines('user')).toEqual(['user: Pressed 2']);
    agent.close('over');
  });

  it('requests no transfer without a target', async () => {
    const { agent, host, press, begin } = setUp();
    await begin();
    await press('2');
    await takeFrames(agent, 40);
    expect(host.transfers).toEqual([]);
    expect(host.lines('agent-action')).toContain('agent-action: transfer: The transfer target "" is empty.');
    agent.close('over');
  });

  it('sends the keys of a Press Button node', async () => {
    const { agent, host, press, begin } = setUp();
    await begin();
    await press('3');
    expect(host.keysSent).toEqual(['42#']);
    agent.close('over');
  });
});

describe('a call on which keys are impossible', () => {
  const says = (...texts: string[]): SpeechToText => ({ transcribe: async () => texts.shift() ?? '' });
  const heard = 'I cannot hear key presses on this line. Please say your answer instead.';

  it('says so once before asking for keys, and continues with words', async () => {
    const { agent, host, begin } = setUp({ stt: says('one', '1234'), keys: false });
    await begin();
    await takeFrames(agent, 100);
    expect(host.lines('assistant')).toEqual([`assistant: ${heard}`, 'assistant: Press 1, 2 or 3.']);
    hear(agent.write, 3000, 25);
    hear(agent.write, 0, 35);
    await settle();
    await takeFrames(agent, 30);
    hear(agent.write, 3000, 25);
    hear(agent.write, 0, 35);
    await settle();
    expect(host.learned).toEqual({ account: 1234 });
    expect(host.lines('user', 'assistant')).toEqual([
      `assistant: ${heard}`,
      'assistant: Press 1, 2 or 3.',
      'user: one',
      'assistant: Account?',
      'user: 1234',
      'assistant: Thanks 1234.',
    ]);
    agent.close('over');
  });

  it('does not say so before words that ask for no keys, and only once before a repeated menu', async () => {
    const config = {
      ...menu,
      nodes: [node('hello', 'Default', { isStart: true, text: 'Who is calling?' }), ...menu.nodes.slice(1)],
      edges: [edge('hello', 'menu', 'any answer'), ...menu.edges],
    };
    config.nodes.push(node('menu', 'Default', { text: 'Press 1, 2 or 3.' }));
    const { agent, host, begin, pass } = setUp({ stt: says('Ann'), keys: false, config });
    await begin();
    await takeFrames(agent, 100);
    expect(host.lines('assistant')).toEqual(['assistant: Who is calling?']);
    hear(agent.write, 3000, 25);
    hear(agent.write, 0, 35);
    await settle();
    await takeFrames(agent, 150);
    await pass(10_000);
    await takeFrames(agent, 150);
    expect(host.lines('assistant').slice(1)).toEqual([
      `assistant: ${heard}`,
      'assistant: Press 1, 2 or 3.',
      'assistant: Press 1, 2 or 3.',
    ]);
    agent.close('over');
  });

  it('does not wait forever when words are not recognized either', async () => {
    const { agent, clock, host, begin, pass } = setUp({ keys: false });
    await begin();
    expect(host.entries[0]?.text).toBe(
      'No speech recognition is configured and keys are impossible: the caller cannot answer.',
    );
    for (let waits = 0; waits < 3; waits++) {
      await takeFrames(agent, 100);
      await pass(10_000);
    }
    await pass(200);
    expect(host.lines('assistant').filter((line) => line.includes('key presses'))).toEqual([
      'assistant: I cannot hear key presses on this line.',
    ]);
    expect(host.hangups).toHaveLength(1);
    agent.close('over');
    expect(clock.pending).toBe(0);
  });

  it('does not say so when the agent uses no keys', async () => {
    const config = {
      ...menu,
      edges: menu.edges.map((way) => ({ ...way, data: { label: `go to ${way.target}` } })),
    };
    const { agent, host, begin } = setUp({ stt: says(), keys: false, config });
    await begin();
    await takeFrames(agent, 100);
    expect(host.lines('assistant')).toEqual(['assistant: Press 1, 2 or 3.']);
    agent.close('over');
  });

  it('has a note in its transcript when the agent tried to send keys', async () => {
    const { agent, host, begin } = setUp({ stt: says('three'), keys: false });
    await begin();
    await takeFrames(agent, 100);
    hear(agent.write, 3000, 25);
    hear(agent.write, 0, 35);
    await settle();
    await takeFrames(agent, 30);
    expect(host.lines('agent-action')).toContain(
      'agent-action: The keys 42# could not be sent: the peer does not support telephone-event',
    );
    agent.close('over');
  });
});
