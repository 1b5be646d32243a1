/** A real phone calls over TLS with SRTP: it hears the agent, and the agent receives its key presses. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { frequencyOf, share } from '../kit/fakes/audio.ts';
import { longTest } from '../kit/long-test.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { Baresip, type BaresipOptions } from './baresip.ts';
import { soundSpan } from './sound.ts';

const greeting =
  'Thank you for calling the harbour office. Press one for the opening hours, or two for the pilot.';
const hours = 'We are open from nine to five.';
const office = '+14155550120';

let system: TestSystem;
let phone: Baresip | null = null;

beforeAll(async () => {
  system = await TestSystem.start();
  const { api } = system;
  const pathway = await api.pathway(
    'office',
    [
      { id: 'greeting', type: 'Default', data: { name: 'Greeting', text: greeting, isStart: true } },
      { id: 'hours', type: 'End Call', data: { name: 'Hours', text: hours } },
      { id: 'pilot', type: 'End Call', data: { name: 'Pilot', text: 'The pilot is on his way.' } },
    ],
    [
      { id: 'e1', source: 'greeting', target: 'hours', data: { label: 'User pressed 1' } },
      { id: 'e2', source: 'greeting', target: 'pilot', data: { label: 'User pressed 2' } },
    ],
  );
  await api.attach(office);
  await api.answerWith(office, { pathway_id: pathway });
  await api.applied(office);
});

afterEach(async () => {
  await phone?.close();
  phone = null;
});

afterAll(() => system?.stop());

async function call(number: string, options: BaresipOptions = {}): Promise<Baresip> {
  phone = await Baresip.start(options);
  // The account adds `;transport=tls`.
  await phone.command('dial', `sip:${number}@127.0.0.1:${system.sipPort}`);
  await phone.event('CALL_ESTABLISHED');
  return phone;
}

/** The log entry of the only running call. */
async function callId(): Promise<string> {
  return eventually('the call in the log', async () => {
    const live = (await system.api.calls()).find(({ ended_at }) => ended_at === null);
    return live?.id;
  });
}

async function spoken(text: string): Promise<number> {
  const speech = new Flite();
  try {
    const samples = await speech.synthesize(text, { voice: null, language: 'en-US', sampleRate: 8000 });
    return soundSpan(samples, 8000).seconds;
  } finally {
    await speech.close();
  }
}

async function transcript(id: string, entries: number): Promise<string[]> {
  return eventually(`${entries} lines in the transcript of ${id}`, async () => {
    const { transcripts } = await system.api.detail(id);
    return transcripts.length >= entries ? transcripts.map(({ text }) => text) : null;
  });
}

test.each([
  ['PCMU', 'PCMU'],
  ['PCMA', 'PCMA'],
  ['opus/48000/2', 'Opus'],
])('the greeting is heard in full over %s', async (codecs, name) => {
  const seconds = await spoken(greeting);
  const baresip = await call(office, { codecs });
  const id = await callId();
  await transcript(id, 1);
  // Hanging up ends the recording, so wait for the end of the greeting.
  await eventually('the greeting to end', async () => {
    const { samples, sampleRate } = await baresip.heard();
    return samples.length / sampleRate > seconds + 1 ? true : null;
  });
  await baresip.command('hangup');
  const ended = await system.api.endedCall(id);
  const { samples, sampleRate } = await baresip.heard();
  const span = soundSpan(samples, sampleRate);
  expect(span.seconds).toBeGreaterThan(seconds - 0.15);
  expect(span.seconds).toBeLessThan(seconds + 0.15);
  // Speech spreads over many frequencies; a tone or a buzz does not.
  expect(share(span.samples, frequencyOf(span.samples, sampleRate), sampleRate)).toBeLessThan(0.2);
  expect(ended).toMatchObject({
    outcome: 'completed',
    hangup_by: 'peer',
    codec: name,
    media: { verdict: 'two_way' },
  });
});

test('the tone number plays its frequency within 1 %', async () => {
  const baresip = await call(system.tone.number);
  const id = await callId();
  await eventually('three seconds of tone', async () => {
    const { samples, sampleRate } = await baresip.heard();
    return samples.length / sampleRate > 3 ? true : null;
  });
  await baresip.command('hangup');
  await system.api.endedCall(id);
  const { samples, sampleRate } = await baresip.heard();
  const { samples: sound, seconds } = soundSpan(samples, sampleRate);
  const hz = frequencyOf(sound, sampleRate);
  expect(seconds).toBeGreaterThan(2);
  expect(Math.abs(hz / system.tone.hz - 1)).toBeLessThan(0.01);
  expect(share(sound.subarray(800, 8800), system.tone.hz, sampleRate)).toBeGreaterThan(0.9);
});

test('a key takes its branch, interrupts the greeting, and the call ends when the agent has finished', async () => {
  const baresip = await call(office);
  const id = await callId();
  await transcript(id, 1);
  await baresip.press('1');
  await baresip.event('CALL_CLOSED');
  const ended = await system.api.endedCall(id);
  expect(ended).toMatchObject({ outcome: 'completed', hangup_by: 'agent' });
  const lines = await transcript(id, 3);
  expect(lines.at(-1)).toBe(hours);
  const detail = await system.api.detail(id);
  expect(detail.pathway_logs.map(({ node_id }) => node_id)).toContain('hours');
  expect(detail.pathway_logs.map(({ node_id }) => node_id)).not.toContain('pilot');
  const heard = await baresip.heard();
  const said = await spoken(hours);
  const whole = await spoken(greeting);
  expect(soundSpan(heard.samples, heard.sampleRate).seconds).toBeLessThan(whole + said);
});

longTest('keys in quick succession are all received, in order', async () => {
  const account = '+14155550121';
  const { api } = system;
  const ask = { name: 'Ask', text: 'Your number, then hash.', isStart: true };
  const pathway = await api.pathway(
    'account',
    [
      {
        id: 'ask',
        type: 'Default',
        data: { ...ask, extractVars: [['account', 'string', 'account number']] },
      },
      { id: 'thanks', type: 'End Call', data: { name: 'Thanks', text: 'Thank you.' } },
    ],
    [{ id: 'e1', source: 'ask', target: 'thanks', data: { label: 'Number given' } }],
  );
  await api.attach(account);
  await api.answerWith(account, { pathway_id: pathway });
  await api.applied(account);
  const baresip = await call(account);
  const id = await callId();
  await transcript(id, 1);
  await baresip.press('1234567890#');
  await baresip.event('CALL_CLOSED', 30_000);
  await api.endedCall(id);
  expect((await api.detail(id)).variables).toMatchObject({ account: '1234567890' });
});

test('a phone that authenticates by password is answered', async () => {
  const guarded = '+14155550122';
  const password = 'a-long-password';
  const { api } = system;
  await api.ok('POST', '/v1/sip/attach', {
    phone_number: guarded,
    directions: [{ type: 'inbound', auth_mode: 'digest', digest_auth: { username: 'acme', password } }],
  });
  await api.answerWith(guarded, { prompt: 'Say hello.' });
  await api.applied(guarded);
  const baresip = await call(guarded, { credentials: { username: 'acme', password } });
  const id = await callId();
  await baresip.command('hangup');
  expect(await api.endedCall(id)).toMatchObject({ to: guarded, outcome: 'completed' });
});
