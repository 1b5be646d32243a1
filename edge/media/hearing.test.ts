/** What a leg reports when one side hears nothing: real peers behind a network that drops packets. */
import { afterEach, expect, test } from 'vitest';
import { testOptions, toneEndpoint, useMedia } from '../../test/kit/edge/media.ts';
import type { SrtpPeer } from '../../test/kit/fakes/srtp-peer.ts';
import { UdpNetwork } from '../../test/kit/fakes/udp-network.ts';
import { longTest } from '../../test/kit/long-test.ts';
import type { LocalLeg } from '../call/ports/media.ts';

const { newPeer, newLeg } = useMedia(testOptions(30_800));

const networks: UdpNetwork[] = [];
afterEach(() => {
  for (const network of networks.splice(0)) network.close();
});

interface Call {
  readonly peer: SrtpPeer;
  readonly leg: LocalLeg;
  readonly network: UdpNetwork;
}

/** A call with a speaking leg, over its own network. */
async function callOverNetwork(): Promise<Call> {
  const peer = await newPeer();
  const leg = await newLeg();
  const network = await UdpNetwork.open(peer.rtpPort);
  networks.push(network);
  peer.connect(network.answered(await leg.answer(network.offered(peer.sdp()))));
  leg.attach(toneEndpoint(440));
  return { peer, leg, network };
}

/** The peer talks and calls `report` each half second, until the leg reports the expected result. */
async function talkUntil({ peer, leg }: Call, done: () => boolean, report: () => void): Promise<void> {
  for (let halfSeconds = 0; halfSeconds < 60; halfSeconds++) {
    report();
    await peer.play(peer.toneFrames(500, 25));
    if (done()) return;
  }
  throw new Error(`after 30 s the leg reports ${JSON.stringify(leg.report())}`);
}

/** The reports of a peer that talks and hears. */
function reportBoth(peer: SrtpPeer): void {
  peer.reportSending();
  peer.report();
}

test('nothing reaches the peer: its sender reports have no report block', async () => {
  const call = await callOverNetwork();
  const { peer, leg, network } = call;
  network.drops.toPeer = () => true;
  await talkUntil(
    call,
    () => leg.report().peer_hears === 'no',
    () => peer.reportSending(),
  );
  expect(peer.packets).toBe(0);
  expect(leg.report()).toMatchObject({
    verdict: 'receive_only',
    mos: 1,
    mos_sent: 1,
    cause: expect.stringMatching(/RTCP reports do not mention our packets/),
    summary: expect.stringMatching(/^No audio to the peer\. /),
  });
  expect(leg.report().mos_received).not.toBeNull();
});

test('audio stops reaching the peer after it was heard', async () => {
  const call = await callOverNetwork();
  const { peer, leg, network } = call;
  peer.report();
  await talkUntil(
    call,
    () => leg.report().peer_hears === 'yes',
    () => peer.report(),
  );
  expect(leg.report()).toMatchObject({ verdict: 'two_way', cause: null });
  network.drops.toPeer = () => true;
  await talkUntil(
    call,
    () => leg.report().peer_hears === 'no',
    () => peer.reportSending(),
  );
  expect(leg.report().verdict).toBe('receive_only');
});

longTest(
  'audio stops reaching the peer: its reports keep the block, but the sequence number in it stops',
  async () => {
    const call = await callOverNetwork();
    const { peer, leg, network } = call;
    const report = () => peer.report();
    await talkUntil(call, () => leg.report().peer_hears === 'yes', report);
    network.drops.toPeer = (kind) => kind === 'rtp';
    await talkUntil(call, () => leg.report().peer_hears === 'no', report);
    expect(leg.report()).toMatchObject({
      verdict: 'receive_only',
      mos: 1,
      cause: expect.stringMatching(/^The peer no longer hears us: .* is stuck/),
    });
    // It hears again; then it is given a new path, whose stream has another SSRC.
    network.drops.toPeer = undefined;
    await talkUntil(call, () => leg.report().peer_hears === 'yes', report);
    peer.rekey();
    peer.connect(network.answered(await leg.answer(network.offered(peer.sdp()))));
    const before = peer.packets;
    await talkUntil(call, () => peer.packets - before > 300, report);
    expect(leg.report()).toMatchObject({ verdict: 'two_way', peer_hears: 'yes' });
  },
);

test("the sequence number in the peer's reports never advances", async () => {
  const call = await callOverNetwork();
  const { peer, leg } = call;
  await talkUntil(
    call,
    () => leg.report().peer_hears === 'no',
    () => peer.report(0, 1),
  );
  expect(leg.report()).toMatchObject({
    verdict: 'receive_only',
    cause: expect.stringMatching(/is stuck/),
  });
});

longTest(
  'a sequence number with different cycles than ours is read the same way, stopped or advancing',
  async () => {
    const call = await callOverNetwork();
    const { peer, leg, network } = call;
    const report = () => peer.report(0, peer.highest + 5 * 0x10000);
    await talkUntil(call, () => leg.report().peer_hears === 'yes', report);
    await talkUntil(call, () => peer.packets > 400, report);
    expect(leg.report()).toMatchObject({ verdict: 'two_way', peer_hears: 'yes' });
    network.drops.toPeer = (kind) => kind === 'rtp';
    await talkUntil(call, () => leg.report().peer_hears === 'no', report);
  },
);

longTest('a stopped sequence number means nothing while nothing is sent', async () => {
  const call = await callOverNetwork();
  const { peer, leg, network } = call;
  await talkUntil(
    call,
    () => leg.report().peer_hears === 'yes',
    () => peer.report(),
  );
  // A hold: the peer does not want to hear us (RFC 3264 section 8.4), and says so on its current path.
  await leg.answer(network.offered(peer.sdp({ direction: 'inactive' })));
  const before = leg.report().rtcp_packets_received ?? 0;
  const sent = leg.report().packets_sent;
  await talkUntil(
    call,
    () => (leg.report().rtcp_packets_received ?? 0) > before + 20,
    () => peer.report(),
  );
  expect(leg.report()).toMatchObject({ verdict: 'two_way', peer_hears: 'yes', packets_sent: sent });
});

test('all audio of the peer is lost from some moment on: its sender reports reveal it', async () => {
  const call = await callOverNetwork();
  const { peer, leg, network } = call;
  const report = () => reportBoth(peer);
  await talkUntil(call, () => leg.report().packets_received >= 100, report);
  expect(leg.report()).toMatchObject({ verdict: 'two_way', packets_lost: 0 });
  network.drops.toEdge = (kind) => kind === 'rtp';
  await talkUntil(call, () => leg.report().verdict === 'send_only', report);
  const { packets_lost, mos_received, cause, summary } = leg.report();
  expect(packets_lost).toBeGreaterThanOrEqual(50);
  expect(mos_received).toBeLessThan(3);
  expect(cause).toMatch(/^Audio from the peer is lost on the way: .* packets since the last that arrived/);
  expect(summary).toMatch(/^No audio from the peer\. Audio from the peer is lost on the way/);
  network.drops.toEdge = undefined;
  await talkUntil(call, () => leg.report().verdict === 'two_way', report);
  expect(leg.report().packets_lost).toBeGreaterThanOrEqual(50);
});

test('a peer that goes silent has lost nothing, nor has one whose stream gets a new SSRC', async () => {
  const call = await callOverNetwork();
  const { peer, leg } = call;
  const report = () => reportBoth(peer);
  await talkUntil(call, () => leg.report().packets_received >= 100, report);
  peer.ssrc = (peer.ssrc + 1) >>> 0;
  // Its own count continues, so that only the SSRC distinguishes the streams.
  peer.sent += 5000;
  const heard = leg.report().packets_received;
  await talkUntil(call, () => leg.report().packets_received >= heard + 100, report);
  const before = leg.report().rtcp_packets_received ?? 0;
  const received = () => {
    report();
    return leg.report().rtcp_packets_received;
  };
  await expect.poll(received, { interval: 200 }).toBeGreaterThan(before + 5);
  const { verdict, packets_lost } = leg.report();
  expect({ verdict, lost: packets_lost < 100 }).toEqual({ verdict: 'two_way', lost: true });
});

test('a fifth of our packets is lost: the score is that of the worse direction', async () => {
  const call = await callOverNetwork();
  const { peer, leg, network } = call;
  let packets = 0;
  network.drops.toPeer = (kind) => kind === 'rtp' && packets++ % 5 === 0;
  await talkUntil(
    call,
    () => leg.report().peer_hears === 'yes',
    () => peer.report(0.19),
  );
  const report = leg.report();
  expect(report).toMatchObject({ verdict: 'two_way', peer_loss_percent: 19 });
  expect(report.mos_sent).toBeLessThan(3);
  expect(report.mos).toBe(Math.min(report.mos_sent ?? 5, report.mos_received ?? 5));
  expect(report.summary).toContain('19 % outbound loss');
});

test('without RTCP there is no proof that the peer hears us, and the summary says so', async () => {
  const { peer, leg } = await callOverNetwork();
  await peer.play(peer.toneFrames(500, 50));
  await expect.poll(() => leg.report().packets_received).toBe(50);
  expect(leg.report()).toMatchObject({
    verdict: 'two_way',
    peer_hears: 'unknown',
    mos_sent: null,
    summary: expect.stringMatching(
      /^Audio from the peer; no proof that it receives ours: .*no RTCP from the peer/,
    ),
  });
});

test('RTCP from the peer without audio is not reported as NAT', async () => {
  const { peer, leg, network } = await callOverNetwork();
  network.drops.toEdge = (kind) => kind === 'rtp';
  for (let i = 0; i < 20 && leg.report().rtcp_packets_received === 0; i++) {
    peer.report();
    await peer.play(peer.toneFrames(500, 25));
  }
  expect(leg.report()).toMatchObject({
    verdict: 'send_only',
    packets_received: 0,
    cause: expect.stringMatching(/^RTCP arrives from the peer, but no audio/),
  });
});

test('a peer whose packets come from another address is counted and named, until it returns', async () => {
  const call = await callOverNetwork();
  const { peer, leg, network } = call;
  await peer.play(peer.toneFrames(500, 50));
  await expect.poll(() => leg.report().packets_received).toBe(50);
  expect(leg.report().verdict).toBe('two_way');
  await network.move();
  await talkUntil(
    call,
    () => leg.report().verdict === 'send_only',
    () => {},
  );
  const { packets_from_elsewhere: moved = 0, cause } = leg.report();
  expect(moved).toBeGreaterThanOrEqual(50);
  expect(cause).toContain(`heard until its packets came from 127.0.0.1:${network.place}`);
  // A re-INVITE with the new address is followed.
  peer.rekey();
  peer.connect(network.answered(await leg.answer(network.offered(peer.sdp()))));
  await talkUntil(
    call,
    () => leg.report().verdict === 'two_way',
    () => {},
  );
  expect(leg.report().packets_from_elsewhere).toBeGreaterThanOrEqual(moved);
});
