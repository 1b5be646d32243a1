/** Key presses as RTP events over SRTP select the branch of a pathway, also with packet loss. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const menu = '+14155550130';
const silence = Buffer.alloc(160, 0xff);

/** Its greeting is followed by a second question, which a key that counted twice would answer. */
const twice = '+14155550131';
let system: TestSystem;
let caller: Caller | null = null;

beforeAll(async () => {
  system = await TestSystem.start();
  const { api } = system;
  const pathway = await api.pathway(
    'menu',
    [
      { id: 'menu', type: 'Default', data: { name: 'Menu', text: 'One or two?', isStart: true } },
      { id: 'one', type: 'End Call', data: { name: 'One', text: 'One.' } },
      { id: 'two', type: 'End Call', data: { name: 'Two', text: 'Two.' } },
    ],
    [
      { id: 'e1', source: 'menu', target: 'one', data: { label: 'User pressed 1' } },
      { id: 'e2', source: 'menu', target: 'two', data: { label: 'User pressed 2' } },
    ],
  );
  const second = await api.pathway(
    'twice',
    [
      { id: 'first', type: 'Default', data: { name: 'First', text: 'One?', isStart: true } },
      { id: 'second', type: 'Default', data: { name: 'Second', text: 'And now?' } },
      { id: 'two', type: 'End Call', data: { name: 'Two', text: 'Two.' } },
      { id: 'twice', type: 'End Call', data: { name: 'Twice', text: 'Twice.' } },
    ],
    [
      { id: 'e1', source: 'first', target: 'second', data: { label: 'User pressed 1' } },
      { id: 'e2', source: 'second', target: 'two', data: { label: 'User pressed 2' } },
      { id: 'e3', source: 'second', target: 'twice', data: { label: 'User pressed 1' } },
    ],
  );
  await api.attach(twice);
  await api.answerWith(twice, { pathway_id: second });
  await api.attach(menu);
  await api.answerWith(menu, { pathway_id: pathway });
  await api.applied(menu);
  await api.applied(twice);
});

afterEach(async () => {
  await caller?.close();
  caller = null;
});

afterAll(() => system?.stop());

async function dial(number = menu): Promise<Caller> {
  caller = await callAndTalk(system, number);
  await caller.media.play([silence, silence, silence, silence, silence]);
  await eventually('the greeting in the transcript', async () => {
    const call = await system.api.loggedCall(caller?.callId ?? '', ({ answered_at }) => answered_at !== null);
    return (await system.api.detail(call.id)).transcripts[0];
  });
  return caller;
}

/** Visited nodes of an ended call. */
async function way(of: Caller): Promise<string[]> {
  await of.phone.expect('BYE');
  const call = await system.api.endedCall(of.callId);
  expect(call).toMatchObject({ outcome: 'completed', hangup_by: 'agent' });
  const { pathway_logs } = await system.api.detail(call.id);
  return [...new Set(pathway_logs.flatMap(({ node_id }) => node_id ?? []))];
}

test.each([
  ['1', 'one'],
  ['2', 'two'],
])('key %s leads to the node %s', async (key, node) => {
  const dialled = await dial();
  await dialled.media.press(key);
  expect(await way(dialled)).toEqual(['menu', node]);
});

test('a key press with only one received end packet counts once', async () => {
  const dialled = await dial();
  await dialled.media.press('2', 200, (index) => index !== 11);
  expect(await way(dialled)).toEqual(['menu', 'two']);
});

test('a key press without any received end packet counts once', async () => {
  const dialled = await dial();
  await dialled.media.press('1', 200, (index) => index >= 10);
  const audio = dialled.media.play(Array.from({ length: 50 }, () => silence));
  expect(await way(dialled)).toEqual(['menu', 'one']);
  await audio;
});

test('a key that comes as RTP event and as SIP INFO counts once', async () => {
  const dialled = await dial(twice);
  const info = (digit: string) =>
    dialled.phone.request('INFO', `Signal=${digit}\r\nDuration=100\r\n`, [], 'application/dtmf-relay');
  const [answer] = await Promise.all([info('1'), dialled.media.press('1')]);
  expect(answer.status).toBe(200);
  expect((await info('2')).status).toBe(200);
  expect(await way(dialled)).toEqual(['first', 'second', 'two']);
});

test('a caller without telephone-event hears that keys are impossible, and transcript and record say so', async () => {
  caller = await callAndTalk(system, menu, { formats: '0', rtpmaps: ['0 PCMU/8000'] });
  const dialled = caller;
  await dialled.media.play([silence, silence, silence, silence, silence]);
  const { id } = await system.api.loggedCall(dialled.callId, ({ answered_at }) => answered_at !== null);
  const transcripts = await eventually('the caller to be asked for a spoken answer', async () => {
    const lines = (await system.api.detail(id)).transcripts.map(({ user, text }) => `${user}: ${text}`);
    return lines.includes('assistant: One or two?') ? lines : null;
  });
  expect(transcripts.slice(0, 4)).toEqual([
    "agent-action: DTMF is unavailable on this call: the peer's SDP has no telephone-event (RFC 4733), and its Allow does not list INFO.",
    'agent-action: No speech recognition is configured and keys are impossible: the caller cannot answer.',
    'assistant: I cannot hear key presses on this line.',
    'assistant: One or two?',
  ]);
  await dialled.hangup();
  const call = await system.api.endedCall(dialled.callId);
  expect(call.media).toMatchObject({ keys: 'none' });
});
