/** A call that a model hears and answers itself, over real SIP, TLS and SRTP (docs/realtime.md). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CallTimeline } from '#shared/api/call-quality.ts';
import { OrganizationSettingsAnswer } from '#shared/api/organization.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import type { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { labKey } from '../kit/speech/lab-server.ts';
import { OpenAiRealtimeServer } from '../kit/speech/openai-realtime-server.ts';

const number = '+14155550170';
const loud = 900;
/** Octets that the model has heard when a frame is lost. */
const longestTurn = 5 * 8000;
const silence = Buffer.alloc(160, 0xff);
/** A square wave in mu-law, about as loud as a voice. */
const voice = Buffer.from(Uint8Array.from({ length: 160 }, (_, i) => (i % 8 < 4 ? 0x90 : 0x10)));

let lab: OpenAiRealtimeServer;
let system: TestSystem;
let caller: Caller | null = null;

beforeAll(async () => {
  system = await startTrunkSystem();
  lab = await new OpenAiRealtimeServer(await trunkPair(system)).listen();
  const connection = { name: 'lab', protocol: 'openai', url: lab.url.href, model: 'talker', api_key: labKey };
  await system.api.read(OrganizationSettingsAnswer, 'PATCH', '/v1/org/settings', { realtime: [connection] });
  await system.api.attach(number);
  await system.api.answerWith(number, {
    realtime: { connection: 'lab', instructions: 'Sell flowers to {{from}}.' },
    transfer_list: { manager: '+14155550999' },
  });
  await system.api.applied(number);
});

afterEach(async () => {
  await caller?.close();
  caller = null;
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => lab?.close(),
  ),
);

/**
 * One turn of the caller. It is one frame: a longer one becomes two turns when a slow machine stops in the middle of it,
 * and the second of them interrupts the answer to the first. The phone goes on sending until the model has heard it, and
 * says it again when the frame came too late to be played.
 */
function say(media: SrtpPeer): Promise<void> {
  return media.play(turn());
}

function* turn(): Generator<Buffer> {
  const turns = lab.heard.length;
  while (lab.heard.length === turns) {
    const heard = lab.octets;
    yield voice;
    while (lab.heard.length === turns && lab.octets - heard < longestTurn) yield silence;
  }
}

test('the model speaks, is interrupted, hears, transfers and hangs up', async () => {
  lab.answers.push(
    { text: 'Welcome to the flower shop. We have roses, tulips and many other flowers today.' },
    { text: 'I ask my manager.', calls: [{ id: 'c1', name: 'transfer_call', input: { to: 'manager' } }] },
    { text: 'Goodbye.', calls: [{ id: 'c2', name: 'end_conversation', input: {} }] },
  );
  caller = await callAndTalk(system, number);
  const { media, phone, callId } = caller;
  await media.play([silence, silence, silence]);
  await media.when(() => media.samples(8000).filter((sample) => Math.abs(sample) > loud).length > 4000);
  await say(media);
  await eventually('the truncation', async () => lab.truncated[0]);
  const [cut] = lab.truncated;
  // What the caller has, and no more than what was on its way.
  expect(Number(cut?.ms)).toBeGreaterThanOrEqual(500);
  expect(Number(cut?.ms)).toBeLessThan(1580);
  await phone.expect('BYE');
  const { id } = await system.api.endedCall(callId);
  const call = await system.api.detail(id);
  const lines = call.transcripts.map(({ user, text }) => `${user}: ${text}`);
  const said = lines.filter((line) => line.startsWith('assistant'));
  expect(said[0]).toMatch(/^assistant: Welcome to the flower( shop\.)?/);
  expect(said[0]).not.toContain('today');
  expect(said.slice(1)).toEqual(['assistant: I ask my manager.', 'assistant: Goodbye.']);
  expect(lines).toContain('agent-action: Transferring the call to +14155550999.');
  expect(lab.outputs[0]).toMatchObject({ call: 'c1', output: { ok: false } });
  expect(lab.session.instructions).toMatch(/Sell flowers to /);
  expect(lab.violations).toEqual([]);
  const { turns } = (await system.api.read(CallTimeline, 'GET', `/v1/sip/calls/${id}/timeline`)).data;
  expect(turns[0]?.spans).toContainEqual(
    expect.objectContaining({ span: 'barge_in', outcome: 'interrupted' }),
  );
  const names = turns.find(({ input }) => input === 'speech')?.spans.map(({ span }) => span);
  expect(names).toEqual(expect.arrayContaining(['caller_speech', 'heard', 'agent_speech']));
  expect(await system.api.endedCall(callId)).toMatchObject({ outcome: 'completed', hangup_by: 'agent' });
});

test('a call is rejected when the server does not accept the session', async () => {
  lab.faults.refuse = 401;
  await expect(callAndTalk(system, number)).rejects.toThrow('480');
  lab.faults.refuse = null;
});

test.each([
  ['8 PCMA/8000', 'audio/pcma'],
  ['96 opus/48000/2', 'audio/pcm'],
])('the model of a caller with %s has %s', async (codec, type) => {
  const formats = `${codec.split(' ')[0]} 101`;
  caller = await callAndTalk(system, number, { formats, rtpmaps: [codec, '101 telephone-event/8000'] });
  expect(lab.session).toMatchObject({ audio: { input: { format: { type } } } });
  await caller.hangup();
});

test('an agent speaks to a caller with Opus to the end of its text', async () => {
  const pathwayId = await system.api.pathway(
    'Wide',
    [{ id: 'bye', type: 'End Call', data: { isStart: true, text: 'Goodbye.' } }],
    [],
  );
  await system.api.answerWith(number, { pathway_id: pathwayId });
  await system.api.applied(number);
  const rtpmaps = ['96 opus/48000/2', '101 telephone-event/8000'];
  caller = await callAndTalk(system, number, { formats: '96 101', rtpmaps });
  const { phone, callId } = caller;
  await phone.expect('BYE');
  const { id } = await system.api.endedCall(callId);
  const { transcripts } = await system.api.detail(id);
  expect(transcripts.map(({ text }) => text)).toContain('Goodbye.');
});

test('a model holds a node of a pathway, which goes on with what it hands back', async () => {
  const pathwayId = await system.api.pathway(
    'Flowers',
    [
      {
        id: 'sell',
        type: 'Realtime',
        data: {
          isStart: true,
          connection: 'lab',
          prompt: 'Sell flowers.',
          extractVars: [['roses', 'integer', 'how many']],
        },
      },
      { id: 'sold', type: 'End Call', data: { text: '{{roses}} roses. Goodbye.' } },
    ],
    [{ source: 'sell', target: 'sold', data: { label: 'has bought' } }],
  );
  await system.api.answerWith(number, { pathway_id: pathwayId });
  await system.api.applied(number);
  const input = { exit: 'has bought', variables: { roses: 3 } };
  lab.answers.push(
    { text: 'Which flowers would you like?' },
    { text: 'Three roses.', calls: [{ id: 'c1', name: 'hand_back', input }] },
  );
  caller = await callAndTalk(system, number);
  const { media, phone, callId } = caller;
  await media.play([silence, silence, silence]);
  await media.when(() => media.samples(8000).filter((sample) => Math.abs(sample) > loud).length > 1000);
  await say(media);
  await phone.expect('BYE');
  const { id } = await system.api.endedCall(callId);
  const call = await system.api.detail(id);
  const said = call.transcripts.filter(({ user }) => user === 'assistant').map(({ text }) => text);
  expect(said.slice(-2)).toEqual(['Three roses.', '3 roses. Goodbye.']);
  expect(call.variables).toMatchObject({ roses: 3 });
  expect(lab.violations).toEqual([]);
});
