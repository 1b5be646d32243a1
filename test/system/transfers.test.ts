/** Transfers in the whole system: two peers are joined, REFER is sent and followed (docs/transfers.md). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { tone } from '../kit/fakes/audio.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { hears } from '../kit/fakes/hearing.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { type Caller, callAndTalk, pickUp } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { Baresip } from '../peers/baresip.ts';
import { hasTone } from '../peers/sound.ts';

const number = '+14155550150';
const colleague = '+14155550151';
const silence = Buffer.alloc(160, 0xff);
const loud = 1000;

let system: TestSystem;
let pair: TestKeyPair;
let trunk: TestTrunk;
let pathway: string;
/** Media of the target. */
let far: SrtpPeer;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
  pair = await trunkPair(system);
  trunk = await TestTrunk.listen(pair);
  await attachTrunk(system, number, trunk.port, 'enable_all');
  pathway = await system.api.pathway(
    'desk',
    [
      { id: 'ask', type: 'Default', data: { name: 'Ask', text: 'How can I help?', isStart: true } },
      { id: 'bye', type: 'End Call', data: { name: 'Bye', text: 'Until tomorrow then.' } },
    ],
    [{ id: 'e1', source: 'ask', target: 'bye', data: { label: 'User pressed 1' } }],
  );
  await system.api.answerWith(number, { pathway_id: pathway });
  await system.api.applied(number);
});

beforeEach(async () => {
  far = await SrtpPeer.open();
});

afterEach(async () => {
  far.close();
  for (const peer of open.splice(0)) await peer.close();
  // A killed phone sends no BYE.
  for (const { id, ended_at } of await system.api.calls()) {
    if (ended_at === null) await system.api.ok('POST', `/v1/calls/${id}/stop`, {});
  }
  await eventually(
    'all calls to be over',
    async () => (await system.api.calls()).every(({ ended_at }) => ended_at !== null) || null,
  );
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
  ),
);

/** The running call from `from`, with its id. */
function live(wished: (call: CallLogEntry) => boolean = () => true): Promise<CallLogEntry> {
  return eventually('the call in the log', async () =>
    (await system.api.calls()).find(
      (call) => call.ended_at === null && call.answered_at !== null && wished(call),
    ),
  );
}

const ended = (id: string) => system.api.endedCall(id);

async function caller(): Promise<Caller> {
  const made = await callAndTalk(system, number);
  open.push(made);
  await made.media.play([silence, silence, silence, silence, silence]);
  return made;
}

function transfer(id: string, more: Record<string, unknown> = {}) {
  const order = { call_id: id, transfer_number: colleague, ...more };
  return system.api.request('POST', '/v1/calls/active/transfer', order);
}

/** The target answers the call. */
async function answer(call: TrunkCall): Promise<void> {
  far.connect(call.invite.body);
  call.answer('200 OK', far.sdp());
  await call.expect('ACK');
}

const notes = async (id: string) =>
  (await system.api.detail(id)).transcripts
    .filter(({ user }) => user === 'agent-action')
    .map(({ text }) => text);

/** Whether 0.2 s of the phone's recording is that tone. */
async function phoneHears(phone: Baresip, hz: number): Promise<void> {
  await eventually(`a tone of ${hz} Hz in the recording`, async () => {
    const { samples, sampleRate } = await phone.heard();
    return hasTone(samples, sampleRate, hz) || null;
  });
}

describe('a bridging transfer', () => {
  test('passes audio and keys between caller and target until one hangs up', async () => {
    const { media, phone } = await caller();
    const { id } = await live();
    expect(await transfer(id)).toMatchObject({ status: 200 });
    const target = await trunk.call();
    expect(target.invite.startLine).toContain(`sip:${colleague}@127.0.0.1:${trunk.port}`);
    expect(target.invite.header('from')).toContain(number);
    target.answer('180 Ringing');
    await answer(target);
    await eventually(
      'the transfer in the record',
      async () => (await notes(id)).includes(`Transferred the call to ${colleague}.`) || null,
    );
    await hears(far, media, 600);
    await hears(media, far, 900);
    await media.press('5');
    await far.when(() => far.events.some(({ digit, endPackets }) => digit === '5' && endPackets > 0));
    await far.press('7');
    await media.when(() => media.events.some(({ digit, endPackets }) => digit === '7' && endPackets > 0));
    const leg = (await live(({ direction }) => direction === 'outbound')) as CallLogEntry;
    expect(leg).toMatchObject({ parent_id: id, to: colleague, from: number });

    await target.hangUp();
    await phone.expect('BYE');
    expect(await ended(id)).toMatchObject({
      outcome: 'completed',
      hangup_by: 'transfer',
      termination: 'bridge_ended',
      media: { verdict: 'two_way' },
    });
    expect(await ended(leg.id)).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
    expect(await system.api.detail(id)).toMatchObject({ transferred_to: colleague });
  });

  test('to a busy target returns the call to its agent', async () => {
    const { media, phone } = await caller();
    const { id } = await live();
    await transfer(id);
    const target = await trunk.call();
    target.answer('486 Busy Here');
    await eventually(
      'the failure in the transcript',
      async () =>
        (await notes(id)).includes(
          `The transfer to ${colleague} failed: ${colleague} is busy (486 Busy Here).`,
        ) || null,
    );
    await media.press('1');
    await phone.expect('BYE');
    expect(await ended(id)).toMatchObject({ hangup_by: 'agent' });
  });

  test('is canceled with the call', async () => {
    const made = await caller();
    const { id } = await live();
    await transfer(id);
    const target = await trunk.call();
    target.answer('180 Ringing');
    await made.hangup();
    await target.expect('CANCEL');
    expect(await ended(id)).toMatchObject({ hangup_by: 'peer', termination: 'caller_hangup' });
    expect(await transfer(id)).toMatchObject({ status: 409 });
  });

  test('reaches a SIP URI at another host, but no private one that is not allowed', async () => {
    const foreign = await TestTrunk.listen(pair);
    open.push(foreign);
    const made = await caller();
    const { id } = await live();
    expect(await transfer(id, { transfer_number: 'sip:root@10.0.0.1' })).toMatchObject({ status: 400 });
    await transfer(id, { transfer_number: `sip:ann@127.0.0.1:${foreign.port}` });
    const target = await foreign.call();
    expect(target.invite.startLine).toContain(`sip:ann@127.0.0.1:${foreign.port}`);
    await answer(target);
    await hears(far, made.media, 700);
    await made.hangup();
    await target.expect('BYE');
  });

  test('with announcement joins a target that presses the key', async () => {
    const made = await caller();
    const { id } = await live();
    await transfer(id, { announcement: 'A customer asks for you. Press one.', accept_key: '1' });
    const target = await trunk.call();
    await answer(target);
    await far.when(() => far.samples(160).some((sample) => Math.abs(sample) > loud));
    expect(await notes(id)).not.toContain(`Transferred the call to ${colleague}.`);
    await far.play([silence, silence, silence, silence, silence]);
    await far.press('1');
    await eventually(
      'the transfer in the record',
      async () => (await notes(id)).includes(`Transferred the call to ${colleague}.`) || null,
    );
    await hears(far, made.media, 600);
    await made.hangup();
    await target.expect('BYE');
  });

  test('with announcement returns the call to its agent when the target hangs up', async () => {
    const made = await caller();
    const { id } = await live();
    await transfer(id, { announcement: 'A customer asks for you. Press one.', accept_key: '1' });
    const target = await trunk.call();
    await answer(target);
    await target.hangUp();
    await eventually(
      'the failure in the transcript',
      async () =>
        (await notes(id)).includes(`The transfer to ${colleague} failed: The callee hung up.`) || null,
    );
    expect((await live()).id).toBe(id);
    await made.hangup();
  });

  test('joins two phones', async () => {
    const callee = await Baresip.start({ speech: tone(1100, 8000 * 60), certificate: pair, answers: true });
    const phone = await Baresip.start({ speech: tone(700, 8000 * 60) });
    open.push(callee, phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    const { id } = await live();
    await transfer(id, { transfer_number: `sip:+14155550199@127.0.0.1:${callee.tlsPort}` });
    await callee.event('CALL_ESTABLISHED');
    await phoneHears(callee, 700);
    await phoneHears(phone, 1100);
    await phone.press('4');
    await callee.event('CALL_DTMF_START');
    await phone.command('hangup');
    await callee.event('CALL_CLOSED');
    expect(await ended(id)).toMatchObject({ hangup_by: 'peer', media: { verdict: 'two_way' } });
  });
});

describe('two phones without a common codec', () => {
  let callee: Baresip;
  let phone: Baresip;

  async function transferred(other: string, transcode: boolean): Promise<string> {
    callee = await Baresip.start({
      codecs: 'PCMA',
      speech: tone(1100, 8000 * 60),
      certificate: pair,
      answers: true,
    });
    phone = await Baresip.start({ codecs: 'PCMU', speech: tone(700, 8000 * 60) });
    open.push(callee, phone);
    await attachTrunk(system, other, callee.tlsPort);
    const codecs = { phone_number: other, direction: 'outbound', codec_config: { transcode } };
    await system.api.ok('PATCH', '/v1/sip/config', codecs);
    await system.api.answerWith(other, { pathway_id: pathway });
    await system.api.applied(other);
    await phone.command('dial', `sip:${other}@127.0.0.1:${system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    const { id } = await live();
    await transfer(id, { transfer_number: '+14155550199' });
    return id;
  }

  test('are joined if the configuration may transcode', async () => {
    const id = await transferred('+14155550153', true);
    await callee.event('CALL_ESTABLISHED');
    await phoneHears(callee, 700);
    await phoneHears(phone, 1100);
    const leg = await live(({ direction }) => direction === 'outbound');
    await phone.command('hangup');
    expect(await ended(id)).toMatchObject({ codec: 'PCMU', media: { verdict: 'two_way' } });
    expect(await ended(leg.id)).toMatchObject({ codec: 'PCMA', media: { verdict: 'two_way' } });
  });

  test('are not joined if it may not, and the call continues', async () => {
    const id = await transferred('+14155550154', false);
    await eventually(
      'the failure in the transcript',
      async () =>
        (await notes(id)).some((text) => text.startsWith('The transfer to +14155550199 failed')) || null,
    );
    const leg = (await system.api.calls()).find((call) => call.parent_id === id);
    expect(leg).toMatchObject({ outcome: 'failed', sip_code: 488 });
    expect((await live()).id).toBe(id);
    await phone.command('hangup');
    await ended(id);
  });
});

describe('a transfer by REFER', () => {
  test('is followed by a phone, and ends the call when the target has answered', async () => {
    const phone = await Baresip.start();
    open.push(phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    const { id } = await live();
    expect(await transfer(id, { method: 'refer' })).toMatchObject({ status: 200 });
    const target = await trunk.call();
    expect(target.invite.header('from')).not.toContain(number);
    await answer(target);
    expect(await ended(id)).toMatchObject({ hangup_by: 'transfer', termination: 'transferred' });
    expect(await system.api.detail(id)).toMatchObject({ transferred_to: colleague });
    const wanted = ['REFER', 'NOTIFY', 'BYE'];
    await eventually('the transfer in the trace', async () => {
      const trace = (await system.api.trace(id)).map(({ start_line }) => start_line.split(' ')[0]);
      return wanted.every((method) => trace.includes(method)) || null;
    });
    await target.hangUp();
  });

  test('returns the call to its agent when the target does not answer', async () => {
    const phone = await Baresip.start();
    open.push(phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    const { id } = await live();
    await transfer(id, { method: 'refer' });
    const target = await trunk.call();
    target.answer('486 Busy Here');
    await eventually(
      'the failure in the transcript',
      async () =>
        (await notes(id)).some((text) => text.startsWith(`The transfer to ${colleague} failed`)) || null,
    );
    expect((await live()).id).toBe(id);
    await phone.command('hangup');
    await ended(id);
  });
});

describe('a REFER of a phone', () => {
  async function phoneInCall(): Promise<{ phone: Baresip; id: string }> {
    const phone = await Baresip.start();
    open.push(phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    return { phone, id: (await live()).id };
  }

  test('is followed: the agent continues with the target', async () => {
    const { phone, id } = await phoneInCall();
    await phone.command('transfer', `sip:${colleague}@127.0.0.1:${trunk.port}`);
    const target = await trunk.call();
    expect(target.invite.header('from')).toContain(number);
    target.answer('180 Ringing');
    await answer(target);
    expect(await ended(id)).toMatchObject({ hangup_by: 'transfer', termination: 'transferred' });
    await far.play([silence, silence, silence, silence, silence]);
    await far.press('1');
    await far.when(() => far.samples(160).some((sample) => Math.abs(sample) > loud));
    await target.expect('BYE');
    const leg = (await system.api.calls()).find((call) => call.parent_id === id);
    expect(leg).toMatchObject({ direction: 'outbound' });
    const transcript = (await system.api.detail(leg?.id ?? '')).transcripts.map(({ text }) => text);
    expect(transcript).toContain('Until tomorrow then.');
  });

  test('to a host outside the configuration of its call is rejected', async () => {
    const { phone, id } = await phoneInCall();
    await phone.command('transfer', 'sip:0900123@127.0.0.2:5061');
    expect(await phone.event('TRANSFER_FAILED')).toMatchObject({ param: '403 Forbidden' });
    // The phone then hangs up.
    expect(await ended(id)).toMatchObject({ hangup_by: 'peer', termination: 'caller_hangup' });
    expect((await system.api.calls()).filter((call) => call.parent_id === id)).toEqual([]);
  });
});

test('the fallback number gets a call whose agent cannot start', async () => {
  const other = '+14155550152';
  await attachTrunk(system, other, trunk.port, 'enable_all');
  await system.api.answerWith(other, { stream_url: 'wss://127.0.0.1:9/', fallback_number: colleague });
  await system.api.applied(other);
  const made = await pickUp(system);
  open.push(made);
  const response = made.phone.invite(other, made.media.sdp());
  const target = await trunk.call();
  target.answer('180 Ringing');
  await answer(target);
  const ok = await response;
  expect(ok.status).toBe(200);
  made.media.connect(ok.body);
  made.phone.ack(ok);
  const { id } = await live(({ direction }) => direction === 'inbound');
  await eventually(
    'the legs to be joined',
    async () => (await notes(id)).includes(`Transferred the call to ${colleague}.`) || null,
  );
  await hears(far, made.media, 800);
  await made.hangup();
  await target.expect('BYE');
});

test('an INVITE with Replaces takes over a call with its agent', async () => {
  const tagOf = (header: string | undefined) => /;tag=([^;>]+)/.exec(header ?? '')?.[1];
  const first = await pickUp(system);
  open.push(first);
  const ok = await first.phone.invite(number, first.media.sdp());
  first.media.connect(ok.body);
  first.phone.ack(ok);
  const { id } = await live();

  const second = await pickUp(system);
  open.push(second);
  const replaces = `${first.callId};to-tag=${tagOf(ok.header('to'))};from-tag=${tagOf(ok.header('from'))}`;
  const taken = await second.phone.invite(number, second.media.sdp(), [
    `Replaces: ${replaces}`,
    'Require: replaces',
  ]);
  expect(taken.status).toBe(200);
  second.media.connect(taken.body);
  second.phone.ack(taken);
  await first.phone.expect('BYE');
  await second.media.play([silence, silence, silence, silence, silence]);
  await second.media.press('1');
  await second.media.when(() => second.media.samples(160).some((sample) => Math.abs(sample) > loud));
  await second.phone.expect('BYE');
  expect(await ended(id)).toMatchObject({ hangup_by: 'agent', call_id: first.callId });
});
