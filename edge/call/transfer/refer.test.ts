import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import { blind, colleague, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { OutboundLimits } from '../limits.ts';

let bench: TransferBench;
const order = { ...blind(), method: 'refer' as const };
const warm = { ...order, consult: { announcement: 'Mrs. Lee', acceptKey: null } };

beforeEach(() => {
  bench = new TransferBench();
});

describe('a transfer by REFER', () => {
  it('names the target with the mapped headers, and the agent is silent meanwhile', async () => {
    bench.routes.refer = (to) => ({
      uri: `sip:${to}@pbx.example.com:5061`,
      headers: [{ type: 'custom', key: 'customer', value: 'X-Customer & Co' }],
    });
    const { peer, agent, media } = await bench.callUp();
    await bench.transfer(agent, order);
    expect(peer.sent.at(-1)).toBe('REFER sip:+14155550199@pbx.example.com:5061?X-Customer%20%26%20Co=42');
    expect(media.endpoint).toBe(bench.agents.ringback);
    expect(bench.dialer.legs).toEqual([]);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('ends the call as transferred when the target has answered', async () => {
    const { peer, agent } = await bench.callUp();
    const result = await bench.transfer(agent, order);
    peer.refers[0]?.accepted();
    peer.refers[0]?.progress(180, 'Ringing');
    expect(result.outcome).toBeNull();
    peer.refers[0]?.done(200, 'OK');
    await settle();
    expect(result.outcome).toEqual({ ok: true });
    expect(peer.sent.at(-1)).toBe('BYE (The peer was transferred.)');
    expect(bench.record('id-1')).toMatchObject({
      termination: 'transferred',
      hangup_by: 'transfer',
      transferred_to: colleague,
    });
    bench.expectNothingLeft();
  });

  it('obeys the call limits: prefixes, concurrent calls, calls per minute', async () => {
    let callLimits: CallLimits = { blocked_prefixes: ['+1415'] };
    const limits = new OutboundLimits({
      clock: new FakeClock(Date.UTC(2030, 0, 1)),
      log: new QuietLog(),
      organization: () => callLimits,
      number: () => undefined,
      refused: () => {},
    });
    bench = new TransferBench({}, 4, limits);
    const { peer, agent } = await bench.callUp();
    const blocked = await bench.transfer(agent, order);
    expect(blocked.outcome).toMatchObject({ ok: false, code: 'target_not_allowed' });
    expect(peer.refers).toEqual([]);
    callLimits = { concurrent: 1, per_minute: 1 };
    await bench.transfer(agent, order);
    expect(peer.refers).toHaveLength(1);
    peer.refers[0]?.failed(486, 'Busy Here');
    await settle();
    // The concurrent slot is free again, the one in the minute is not.
    expect((await bench.transfer(agent, order)).outcome).toMatchObject({
      ok: false,
      reason: expect.stringContaining('within 60 s'),
    });
    bench.calls.stop('id-1');
  });

  it('counts as done when the peer hangs up after accepting it', async () => {
    const { peer, agent } = await bench.callUp();
    const result = await bench.transfer(agent, order);
    peer.refers[0]?.accepted();
    peer.peer.bye();
    await settle();
    expect(result.outcome).toEqual({ ok: true });
    expect(peer.sent).not.toContainEqual(expect.stringMatching('BYE'));
    expect(bench.record('id-1')).toMatchObject({ termination: 'transferred', transferred_to: colleague });
    bench.expectNothingLeft();
  });

  it('fails when the peer hangs up before accepting it', async () => {
    const { peer, agent } = await bench.callUp();
    const result = await bench.transfer(agent, order);
    peer.peer.bye();
    await settle();
    expect(result.outcome).toMatchObject({ ok: false });
    expect(bench.record('id-1')).toMatchObject({ termination: 'caller_hangup' });
    bench.expectNothingLeft();
  });

  it('returns the call to its agent when the target did not answer', async () => {
    const { peer, agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, order);
    peer.refers[0]?.accepted();
    peer.refers[0]?.done(486, 'Busy Here');
    await settle();
    expect(result.outcome).toEqual({
      ok: false,
      code: 'target_failed',
      sipCode: 486,
      reason: 'The target answered 486 Busy Here.',
    });
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it.each([
    [405, 'Method Not Allowed', 'refer_not_supported'],
    [501, 'Not Implemented', 'refer_not_supported'],
    [603, 'Decline', 'target_failed'],
    [null, 'No NOTIFY came', 'target_failed'],
  ])('that the peer rejects with %s (%s) is %s', async (status, reason, code) => {
    const { peer, agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, order);
    peer.refers[0]?.failed(status, reason);
    await settle();
    expect(result.outcome).toMatchObject({ ok: false, code, sipCode: status });
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is not tried when the peer does not support it, nor without a host for the target', async () => {
    const { peer, agent, media } = await bench.callUp();
    peer.takesRefer = false;
    expect((await bench.transfer(agent, order)).outcome).toMatchObject({ code: 'refer_not_supported' });
    expect((await bench.transfer(agent, warm)).outcome).toMatchObject({ code: 'refer_not_supported' });
    peer.takesRefer = true;
    bench.routes.refer = null;
    expect((await bench.transfer(agent, order)).outcome).toMatchObject({ code: 'no_route' });
    expect(peer.refers).toEqual([]);
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});

describe('an attended transfer by REFER', () => {
  it('names the dialog as the target sees it, and leaves both to the peer', async () => {
    const { peer, agent } = await bench.callUp();
    const result = await bench.transfer(agent, warm);
    const target = await bench.targetAnswers();
    expect(peer.refers).toEqual([]);
    bench.agents.last.host.join();
    const { sipCallId } = target.invite;
    expect(peer.sent.at(-1)).toBe(
      `REFER sip:callee@127.0.0.1:5061;transport=tls?Replaces=${sipCallId}%3Bto-tag%3Dtheirs%3Bfrom-tag%3Dours`,
    );
    peer.refers[0]?.accepted();
    peer.refers[0]?.done(200, 'OK');
    await settle();
    expect(result.outcome).toEqual({ ok: true });
    expect(bench.record('id-1')).toMatchObject({ termination: 'transferred' });
    expect(target.sent).toEqual([]);
    target.peer.bye();
    expect(bench.record('id-3')).toMatchObject({ termination: 'transferred', hangup_by: 'transfer' });
    bench.expectNothingLeft();
  });

  it.each([
    [200, 'OK', { ok: true }],
    [481, 'Call/Transaction Does Not Exist', { ok: false, code: 'target_failed', sipCode: 481 }],
  ])('takes the outcome from the peer after the target left: %s %s', async (status, reason, outcome) => {
    const { peer, agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, warm);
    const target = await bench.targetAnswers();
    bench.agents.last.host.join();
    peer.refers[0]?.accepted();
    target.peer.bye();
    await settle();
    expect(result.outcome).toBeNull();
    peer.refers[0]?.done(status, reason);
    await settle();
    expect(result.outcome).toMatchObject(outcome);
    if (outcome.ok) expect(bench.record('id-1')).toMatchObject({ termination: 'transferred' });
    else {
      expect(media.endpoint).toBe(agent);
      bench.calls.stop('id-1');
    }
    bench.expectNothingLeft();
  });

  it('ends the leg to the target when nobody else does', async () => {
    const { peer, agent } = await bench.callUp();
    await bench.transfer(agent, warm);
    const target = await bench.targetAnswers();
    bench.agents.last.host.join();
    peer.refers[0]?.done(200, 'OK');
    bench.clock.advance(2000);
    expect(target.sent).toEqual(['BYE (The peer was transferred.)']);
    bench.expectNothingLeft();
  });

  it('releases the target when the peer does not take it over', async () => {
    const { peer, agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, warm);
    const target = await bench.targetAnswers();
    bench.agents.last.host.join();
    peer.refers[0]?.done(503, 'Service Unavailable');
    await settle();
    expect(result.outcome).toMatchObject({ code: 'target_failed', sipCode: 503 });
    expect(target.sent).toHaveLength(1);
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});
