/** Answering detection of outbound calls: a peer over TLS and SRTP that greets like a person or a mailbox. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { Flite } from '#shared/models/flite.ts';
import { encodeMulaw } from '../kit/fakes/audio.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { framesOf, inTurn, silence, tones } from '../kit/fakes/sounds.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';

const from = '+14155550145';
/** A sample of speech is louder than this; the codec's own noise is not. */
const loud = 1000;

let system: TestSystem;
let trunk: TestTrunk;
let pair: TestKeyPair;
let media: SrtpPeer;
let pathway: string;
let person: Int16Array;
let talkative: Int16Array;
let mailbox: Int16Array;
const beep = tones([1000], 400);

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
  pair = await trunkPair(system);
  trunk = await TestTrunk.listen(pair);
  await attachTrunk(system, from, trunk.port);
  pathway = await system.api.pathway(
    'question',
    [
      { id: 'ask', type: 'Default', data: { name: 'Ask', text: 'Will you come?', isStart: true } },
      { id: 'yes', type: 'End Call', data: { name: 'Yes', text: 'See you.' } },
    ],
    [{ id: 'e1', source: 'ask', target: 'yes', data: { label: 'User pressed 1' } }],
  );
  const flite = new Flite();
  const say = (text: string) => flite.synthesize(text, { voice: 'rms', language: 'en-US', sampleRate: 8000 });
  person = inTurn(silence(200), await say('Hello?'), silence(2500));
  const hello = await say(
    'Good afternoon, thank you for calling Miller and sons, you are speaking with Jonathan, how can I help you?',
  );
  talkative = inTurn(silence(200), hello, silence(3500));
  const greeting = await say(
    'You have reached the voice mail of John Smith. Please leave your message after the tone.',
  );
  mailbox = inTurn(silence(200), greeting, greeting, greeting, silence(500));
  await flite.close();
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
  ),
);

beforeEach(async () => {
  media = await SrtpPeer.open();
});

afterEach(() => media.close());

async function place(to: string, more: Record<string, unknown>): Promise<{ id: string; call: TrunkCall }> {
  const order = { phone_number: to, from, pathway_id: pathway, ...more };
  const { call_id: id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  const call = await trunk.call();
  media.connect(call.invite.body);
  call.answer('200 OK', media.sdp());
  await call.expect('ACK');
  return { id, call };
}

const play = (sound: Int16Array) => media.play(framesOf(sound).map((frame) => encodeMulaw(frame)));

/** Sends silence until the edge hangs up, so that the media time-out does not end the call. */
async function untilHungUp(call: TrunkCall): Promise<void> {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 200) {
    if (call.received.some(({ method }) => method === 'BYE')) return;
    await play(silence(200));
  }
  throw new Error('the edge did not hang up within 60 s');
}

/** ms of speech that the callee has received from sample `begin` on. */
function speechMs(begin: number): number {
  const frames = framesOf(media.samples().subarray(begin));
  return frames.filter((frame) => frame.some((sample) => Math.abs(sample) > loud)).length * 20;
}

const answeredBy = (id: string, who: string) =>
  eventually(`the call to be answered by ${who}`, async () => {
    const detail = await system.api.detail(id);
    return detail.answered_by === who ? detail : null;
  });

/** Sends a sound again and again until `done` settles: a detector counts what it hears, and no packets are no silence. */
async function playUntil<T>(sound: Int16Array, done: Promise<T>): Promise<T> {
  let waits = true;
  const over = () => {
    waits = false;
  };
  done.then(over, over);
  while (waits) await play(sound);
  return done;
}

test.each([
  ['a person', '+14155550181', () => person],
  ['a person with a long hello', '+14155550185', () => talkative],
])('%s is not taken for a mailbox, and the agent continues', async (_, to, hello) => {
  const { id, call } = await place(to, { voicemail: { action: 'hangup' } });
  // A person says hello again when nobody seems to be there: a slow machine may not hear the first second.
  await playUntil(hello(), answeredBy(id, 'human'));
  await media.press('1');
  await untilHungUp(call);
  await system.api.endedCall(id);
  const { transcripts } = await system.api.detail(id);
  const said = transcripts.filter(({ user }) => user === 'assistant').map(({ text }) => text);
  // It asks again after a hello that came while it spoke.
  expect(new Set(said.slice(0, -1))).toEqual(new Set(['Will you come?']));
  expect(said.at(-1)).toBe('See you.');
});

test('the agent leaves a message after the beep, with the variables filled in', async () => {
  const { id, call } = await place('+14155550182', {
    voicemail: { action: 'leave_message', message: 'Hello {{name}}, please call us back tomorrow.' },
    request_data: { name: 'John' },
  });
  await play(mailbox);
  await answeredBy(id, 'voicemail');
  // The agent is silent by now, and must stay silent until the end of the beep.
  const quietFrom = media.samples().length;
  await play(inTurn(silence(300), beep));
  expect(speechMs(quietFrom)).toBe(0);
  const beeped = media.samples().length;
  await untilHungUp(call);
  expect(speechMs(beeped)).toBeGreaterThan(1000);
  expect(await system.api.endedCall(id)).toMatchObject({ outcome: 'completed', hangup_by: 'agent' });
  const { transcripts } = await system.api.detail(id);
  expect(transcripts.at(-1)).toMatchObject({
    user: 'assistant',
    text: 'Hello John, please call us back tomorrow.',
  });
});

test('the call hangs up on a mailbox by default', async () => {
  const { id, call } = await place('+14155550183', {});
  await play(mailbox);
  await untilHungUp(call);
  await system.api.endedCall(id);
  expect(await answeredBy(id, 'voicemail')).toMatchObject({ call_ended_by: 'ASSISTANT' });
});

test('an agent that waits for the greeting is silent until its end', async () => {
  const { id, call } = await place('+14155550184', {
    wait_for_greeting: true,
    first_sentence: 'Good morning.',
    voicemail: { action: 'ignore' },
  });
  const spoken = person.subarray(0, person.length - 2500 * 8);
  await play(spoken);
  expect(speechMs(0)).toBe(0);
  await play(person.subarray(spoken.length));
  await media.when(() => speechMs(0) > 200);
  const { transcripts } = await system.api.detail(id);
  expect(transcripts.find(({ user }) => user === 'assistant')?.text).toBe('Good morning.');
  await call.hangUp();
  await system.api.endedCall(id);
});
