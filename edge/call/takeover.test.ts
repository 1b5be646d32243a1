import { beforeEach, describe, expect, it } from 'vitest';
import { blind, FakeRefer, settle, TransferBench } from '../../test/kit/edge/transfer.ts';
import { FakeLeg, sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { fakeAnswer } from '../../test/kit/fakes/fake-media.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

const newcomer = (facts = {}) => new FakeLeg({ sipCallId: 'new@test', from: '+14155550166', ...facts });

describe('an INVITE that replaces the dialog of a call', () => {
  it('takes over the call; the old dialog ends when the new one is acknowledged', async () => {
    const { peer, agent, media } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    expect(leg.sent).toEqual(['200']);
    expect(media.offers).toHaveLength(2);
    leg.peer.answered();
    expect(peer.sent).toEqual(['200']);
    leg.peer.acknowledged(null);
    await settle();
    expect(peer.sent.at(-1)).toBe('BYE (Replaced by another dialog)');
    expect(media.endpoint).toBe(agent);
    expect(bench.notes).toEqual(['The call was taken over by +14155550166.']);
    agent.host.hangup('all said');
    expect(leg.sent).toEqual(['200', 'BYE (all said)']);
    expect(bench.record('id-1')).toMatchObject({ sip_call_id: 'call-1@test', from: '+14155550123' });
    bench.expectNothingLeft();
  });

  it('may end the old dialog itself', async () => {
    const { peer } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    peer.peer.bye();
    expect(bench.calls.size).toBe(1);
    leg.peer.acknowledged(null);
    await settle();
    leg.peer.bye();
    expect(bench.record('id-1')).toMatchObject({ termination: 'caller_hangup' });
    bench.expectNothingLeft();
  });

  it('works for an outbound call, and without an offer', async () => {
    const { peer } = await bench.placedUp();
    const leg = newcomer({ offer: null });
    peer.peer.replacedBy(leg);
    await settle();
    leg.peer.acknowledged('v=0\r\na=crypto:1 x\r\n');
    await settle();
    expect(peer.sent).toEqual(['BYE (Replaced by another dialog)']);
    bench.calls.stop('placed');
    expect(leg.sent).toHaveLength(2);
    bench.expectNothingLeft();
  });

  it('is rejected with the media error, and the call continues', async () => {
    const { peer, agent, media } = await bench.callUp();
    const leg = newcomer({ offer: 'v=0\r\n' });
    peer.peer.replacedBy(leg);
    await settle();
    expect(leg.sent).toEqual([{ status: 488, warning: 'SRTP with AES_CM_128_HMAC_SHA1_80 is required' }]);
    expect(media.endpoint).toBe(agent);
    peer.peer.bye();
    bench.expectNothingLeft();
  });

  it('is rejected while a transfer or another takeover is under way', async () => {
    const { peer, agent } = await bench.callUp();
    peer.peer.replacedBy(newcomer());
    const second = newcomer();
    peer.peer.replacedBy(second);
    expect(second.sent).toEqual([{ status: 491 }]);
    const refer = new FakeRefer();
    peer.peer.referred(refer);
    expect(refer.said).toEqual(['491 Request Pending']);
    bench.calls.stop('id-1');
    await settle();
    const other = await bench.callUp();
    await bench.transfer(other.agent, blind());
    const third = newcomer();
    other.peer.peer.replacedBy(third);
    expect(third.sent).toEqual([{ status: 491 }]);
    other.peer.peer.bye();
    expect(agent.closedFor).toHaveLength(1);
    bench.expectNothingLeft();
  });

  it('makes its peer the one whose address a REFER may name', async () => {
    const { peer } = await bench.callUp();
    const leg = newcomer({ sourceIp: '192.0.2.99' });
    bench.routes.referForbidden = 'elsewhere';
    peer.peer.referred(new FakeRefer());
    peer.peer.replacedBy(leg);
    await settle();
    leg.peer.acknowledged(null);
    await settle();
    leg.peer.referred(new FakeRefer());
    expect(bench.routes.referrers).toEqual(['192.0.2.1', '192.0.2.99']);
    leg.peer.bye();
    bench.expectNothingLeft();
  });

  it('is possible for either of two bridged peers', async () => {
    const { peer, agent, media } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    leg.peer.acknowledged(null);
    await settle();
    expect(media.endpoint).toBeNull();
    leg.peer.bye();
    bench.expectNothingLeft();
  });

  const endings: [string, (leg: FakeLeg) => void][] = [
    ['is canceled', (leg) => leg.peer.canceled()],
    ['is never acknowledged', (leg) => leg.peer.lost('ack_timeout', 'no ACK')],
    ['hangs up before its ACK', (leg) => void leg.peer.bye()],
  ];

  it.each(endings)('that %s gives the media back to the old dialog', async (_what, give) => {
    const { peer, agent, media } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    give(leg);
    expect(peer.sent).toEqual(['200', 're-INVITE']);
    await peer.peer.reoffer();
    expect(media.offered).toEqual(['anew']);
    await peer.peer.reaccept(sdpOffer);
    await peer.peer.reoffer();
    expect(media.offered.at(-1)).toBe('the same');
    expect(media.endpoint).toBe(agent);
    const next = newcomer();
    peer.peer.replacedBy(next);
    await settle();
    expect(next.sent).toEqual(['200']);
    next.peer.acknowledged(null);
    await settle();
    next.peer.bye();
    bench.expectNothingLeft();
  });

  it.each(endings)('that %s ends the call when the old dialog has ended', async (_what, give) => {
    const { peer } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    peer.peer.bye();
    give(leg);
    expect(bench.record('id-1')).toMatchObject({ termination: 'bad_answer' });
    bench.expectNothingLeft();
  });

  it('without an offer that gets an unusable answer leaves the call as it was', async () => {
    const { peer, media } = await bench.callUp();
    const leg = newcomer({ offer: null });
    peer.peer.replacedBy(leg);
    await settle();
    expect(media.offered).toEqual(['anew']);
    leg.peer.acknowledged('v=0\r\n');
    await settle();
    expect(leg.sent).toEqual(['200', 'BYE (The answer has no usable crypto line)']);
    expect(peer.sent).toEqual(['200']);
    peer.peer.bye();
    bench.expectNothingLeft();
  });

  it.each(endings)('without an offer that %s takes back what it offered', async (_what, give) => {
    const { peer, media } = await bench.callUp();
    const leg = newcomer({ offer: null });
    peer.peer.replacedBy(leg);
    await settle();
    // Of the old dialog's offer.
    peer.peer.withdrawn?.();
    expect(media.withdrawn).toBe(0);
    give(leg);
    expect(media.withdrawn).toBe(1);
    peer.peer.withdrawn?.();
    expect(media.withdrawn).toBe(2);
    peer.peer.bye();
    bench.expectNothingLeft();
  });

  it('keeps the old dialog from changing the session until it is acknowledged', async () => {
    const { peer, media } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    const { offers } = media;
    const before = offers.length;
    await expect(peer.peer.reanswer(sdpOffer)).rejects.toMatchObject({ sipStatus: 491 });
    await expect(peer.peer.reoffer()).rejects.toMatchObject({ sipStatus: 491 });
    // The answer to an offer that was on its way.
    await peer.peer.reaccept(sdpOffer);
    expect(offers).toHaveLength(before);
    expect(media.answers).toEqual([]);
    leg.peer.acknowledged(null);
    await settle();
    expect(await leg.peer.reanswer(sdpOffer)).toBe(fakeAnswer);
    leg.peer.bye();
    bench.expectNothingLeft();
  });

  it('tells the new peer of a hold that began or ended meanwhile', async () => {
    const { peer } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    bench.calls.hold('id-1', 'hold');
    leg.peer.acknowledged(null);
    await settle();
    expect(leg.sent).toEqual(['200', 're-INVITE']);
    leg.peer.bye();
    bench.expectNothingLeft();
  });

  it('ends when the call ends before it is acknowledged', async () => {
    const { peer } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    await settle();
    bench.calls.stop('id-1');
    leg.peer.acknowledged(null);
    await settle();
    expect(leg.sent).toEqual(['200', 'BYE (The call was stopped through the API.)']);
    bench.expectNothingLeft();
  });

  it('is rejected when the call ends while its offer is being answered', async () => {
    const { peer } = await bench.callUp();
    const leg = newcomer();
    peer.peer.replacedBy(leg);
    bench.calls.stop('id-1');
    await settle();
    expect(leg.sent).toEqual([{ status: 603 }]);
    bench.expectNothingLeft();
  });
});

describe('a peer that answers an offer of the current session from another place', () => {
  it('is offered one that it may answer from there', async () => {
    const { peer, media } = await bench.callUp();
    media.moves = true;
    await peer.peer.reoffer();
    await peer.peer.reaccept(sdpOffer);
    expect(peer.sent).toEqual(['200', 're-INVITE']);
    await peer.peer.reoffer();
    await peer.peer.reaccept(sdpOffer);
    expect(media.offered).toEqual(['the same', 'anew']);
    expect(peer.sent).toEqual(['200', 're-INVITE']);
    peer.peer.bye();
    bench.expectNothingLeft();
  });
});
