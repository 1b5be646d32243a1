import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { countingVoice, RecordingHost, settle, takeFrames } from '../../test/kit/edge/agent.ts';
import type { ConsultOrder } from '../call/ports/transfer.ts';
import { ConsultAgent } from './consult-agent.ts';
import { consultLimits } from './limits.ts';

async function setUp(order: ConsultOrder, tts: TextToSpeech = countingVoice) {
  const clock = new FakeClock();
  const host = new RecordingHost();
  const agent = new ConsultAgent(order, host, {
    tts,
    voice: 'kal',
    language: 'de-DE',
    clock,
    newId: () => 'id',
    limits: consultLimits,
  });
  await agent.prepare();
  agent.start();
  const press = (digit: string) => agent.dtmf({ digit, durationMs: 100 });
  return { agent, clock, host, press };
}

const announcement = 'A call for you.';
const asking: ConsultOrder = { announcement, acceptKey: '1' };

describe('without a key', () => {
  it('joins at once when there is nothing to say', async () => {
    const { host, clock } = await setUp({ announcement: null, acceptKey: null });
    expect(host.joins).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('joins when the announcement has been played', async () => {
    const { agent, clock, host } = await setUp({ announcement, acceptKey: null });
    expect(await takeFrames(agent, announcement.length + 5)).toBe(announcement.length);
    clock.advance(consultLimits.tailMs - 1);
    expect(host.joins).toBe(0);
    clock.advance(1);
    expect(host.joins).toBe(1);
    expect(host.lines('assistant')).toEqual([`assistant: ${announcement}`]);
  });
});

describe('with a key', () => {
  it('joins when it is pressed, even during the announcement, and then is silent', async () => {
    const { agent, host, press } = await setUp(asking);
    expect(await takeFrames(agent, 5)).toBe(5);
    press('1');
    press('1');
    expect(host.joins).toBe(1);
    expect(await takeFrames(agent, 20)).toBe(0);
    expect(host.lines('user')).toEqual(['user: Pressed 1']);
  });

  it('repeats the announcement after 15 s without a key, and hangs up after another 15 s', async () => {
    const { agent, clock, host } = await setUp(asking);
    await takeFrames(agent, 20);
    clock.advance(14_999);
    expect(await takeFrames(agent, 1)).toBe(0);
    clock.advance(1);
    expect(await takeFrames(agent, 20)).toBe(announcement.length);
    clock.advance(15_000);
    expect(host.hangups).toEqual(['the target did not accept the call: no key was pressed']);
    expect([host.joins, clock.pending]).toEqual([0, 0]);
  });

  it('restarts the announcement after a wrong key, and hangs up at the second one', async () => {
    const { agent, clock, host, press } = await setUp(asking);
    await takeFrames(agent, 10);
    press('2');
    expect(await takeFrames(agent, 20)).toBe(announcement.length);
    press('#');
    expect(host.hangups).toEqual(['the target did not accept the call: the key # was pressed, not 1']);
    press('1');
    expect([host.joins, clock.pending]).toEqual([0, 0]);
  });

  it('waits for it in silence when there is no announcement', async () => {
    const { agent, host, press } = await setUp({ announcement: null, acceptKey: '*' });
    expect(await takeFrames(agent, 3)).toBe(0);
    press('*');
    expect(host.joins).toBe(1);
  });
});

it('speaks with the voice and language of the transferred call', async () => {
  const spoken: unknown[] = [];
  const synthesize: TextToSpeech['synthesize'] = (text, options) => {
    spoken.push([text, options]);
    return countingVoice.synthesize(text, options);
  };
  await setUp(asking, { ...countingVoice, synthesize });
  expect(spoken).toEqual([[announcement, { voice: 'kal', language: 'de-DE', sampleRate: 8000 }]]);
});

it('leaves no timer and does not join when the call is over', async () => {
  const { agent, clock, host, press } = await setUp(asking);
  await takeFrames(agent, 20);
  agent.close();
  press('1');
  clock.advance(60_000);
  await settle();
  expect([host.joins, host.hangups.length, clock.pending]).toEqual([0, 0, 0]);
});

it('is not ready without a voice for its announcement', async () => {
  const tts = { ...countingVoice, synthesize: () => Promise.reject(new Error('no voice')) };
  await expect(setUp(asking, tts)).rejects.toThrow('no voice');
});
