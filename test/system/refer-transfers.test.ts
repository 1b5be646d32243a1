/** Transfers that peers carry out: REFER in both directions, and Replaces (docs/transfers.md). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pickUp } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { colleague, loud, number, silence, TransferSystem } from '../kit/programs/transfers.ts';
import { Baresip } from '../peers/baresip.ts';

let at: TransferSystem;
beforeAll(async () => {
  at = await TransferSystem.start();
});
beforeEach(() => at.begin());
afterEach(() => at.end());
afterAll(() => at?.close());

describe('a transfer by REFER', () => {
  test('is followed by a phone, and ends the call when the target has answered', async () => {
    const phone = await Baresip.start();
    at.open.push(phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    const { id } = await at.live();
    expect(await at.transfer(id, { method: 'refer' })).toMatchObject({ status: 200 });
    const target = await at.trunk.call();
    expect(target.invite.header('from')).not.toContain(number);
    await at.answer(target);
    expect(await at.ended(id)).toMatchObject({ hangup_by: 'transfer', termination: 'transferred' });
    expect(await at.system.api.detail(id)).toMatchObject({ transferred_to: colleague });
    const wanted = ['REFER', 'NOTIFY', 'BYE'];
    await eventually('the transfer in the trace', async () => {
      const trace = (await at.system.api.trace(id)).map(({ start_line }) => start_line.split(' ')[0]);
      return wanted.every((method) => trace.includes(method)) || null;
    });
    await target.hangUp();
  });

  test('returns the call to its agent when the target does not answer', async () => {
    const phone = await Baresip.start();
    at.open.push(phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    const { id } = await at.live();
    await at.transfer(id, { method: 'refer' });
    const target = await at.trunk.call();
    target.answer('486 Busy Here');
    await eventually(
      'the failure in the transcript',
      async () =>
        (await at.notes(id)).some((text) => text.startsWith(`The transfer to ${colleague} failed`)) || null,
    );
    expect((await at.live()).id).toBe(id);
    await phone.command('hangup');
    await at.ended(id);
  });
});

test('a tel URI is named as it is in the REFER', async () => {
  const caller = await pickUp(at.system);
  at.open.push(caller);
  const ok = await caller.phone.invite(number, caller.media.sdp());
  caller.media.connect(ok.body);
  caller.phone.ack(ok);
  const { id } = await at.live();
  expect(await at.transfer(id, { method: 'refer', transfer_number: 'tel:+1-415-555-0199' })).toMatchObject({
    status: 200,
  });
  expect((await caller.phone.expect('REFER')).header('refer-to')).toBe('<tel:+14155550199>');
  await caller.hangup();
  await at.ended(id);
});

describe('a REFER of a phone', () => {
  async function phoneInCall(): Promise<{ phone: Baresip; id: string }> {
    const phone = await Baresip.start();
    at.open.push(phone);
    await phone.command('dial', `sip:${number}@127.0.0.1:${at.system.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    return { phone, id: (await at.live()).id };
  }

  test('is followed: the agent continues with the target', async () => {
    const { phone, id } = await phoneInCall();
    await phone.command('transfer', `sip:${colleague}@127.0.0.1:${at.trunk.port}`);
    const target = await at.trunk.call();
    expect(target.invite.header('from')).toContain(number);
    target.answer('180 Ringing');
    await at.answer(target);
    expect(await at.ended(id)).toMatchObject({ hangup_by: 'transfer', termination: 'transferred' });
    await at.far.play([silence, silence, silence, silence, silence]);
    await at.far.press('1');
    await at.far.when(() => at.far.samples(160).some((sample) => Math.abs(sample) > loud));
    await target.expect('BYE');
    const leg = (await at.system.api.calls()).find((call) => call.parent_id === id);
    expect(await at.ended(leg?.id ?? '')).toMatchObject({ direction: 'outbound' });
    const transcript = (await at.system.api.detail(leg?.id ?? '')).transcripts.map(({ text }) => text);
    expect(transcript).toContain('Until tomorrow then.');
  });

  test('to a host outside the configuration of its call is rejected', async () => {
    const { phone, id } = await phoneInCall();
    await phone.command('transfer', 'sip:0900123@127.0.0.2:5061');
    expect(await phone.event('TRANSFER_FAILED')).toMatchObject({ param: '403 Forbidden' });
    // The phone then hangs up.
    expect(await at.ended(id)).toMatchObject({ hangup_by: 'peer', termination: 'caller_hangup' });
    expect((await at.system.api.calls()).filter((call) => call.parent_id === id)).toEqual([]);
  });
});

test('an INVITE with Replaces takes over a call with its agent', async () => {
  const tagOf = (header: string | undefined) => /;tag=([^;>]+)/.exec(header ?? '')?.[1];
  const first = await pickUp(at.system);
  at.open.push(first);
  const ok = await first.phone.invite(number, first.media.sdp());
  first.media.connect(ok.body);
  first.phone.ack(ok);
  const { id } = await at.live();

  const second = await pickUp(at.system);
  at.open.push(second);
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
  expect(await at.ended(id)).toMatchObject({ hangup_by: 'agent', call_id: first.callId });
});
