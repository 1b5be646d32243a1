/** Where a leg sends packets, and whose packets it accepts, when the peer is not at the address in its SDP. */
import { observer, type types } from 'mediasoup';
import { afterAll, describe, expect, test } from 'vitest';
import { listener, testOptions, toneEndpoint, useMedia } from '../../test/kit/edge/media.ts';
import type { SrtpPeer } from '../../test/kit/fakes/srtp-peer.ts';

/** For each reader of a peer's packets: how many peers the worker already took packets from. */
const takenBefore: number[] = [];
const peers = new Set<types.PlainTransport>();
function watchWorker(worker: types.Worker): void {
  worker.observer.on('newrouter', (router) => {
    router.observer.on('newtransport', (transport) => {
      if (transport.type === 'plain') peers.add(transport as types.PlainTransport);
      else
        transport.observer.on('newconsumer', () =>
          takenBefore.push([...peers].filter(({ tuple }) => tuple.remoteIp !== undefined).length),
        );
    });
  });
}
observer.on('newworker', watchWorker);
afterAll(() => observer.off('newworker', watchWorker));

const { newPeer, newLeg } = useMedia(testOptions(30_400));

/**
 * A leg in a call with a peer behind NAT, whose SDP names the address where `decoy` listens. `decoy` has the
 * leg's keys, so it counts what is sent there.
 */
async function callFromElsewhere(sequence = 1000) {
  const peer = await newPeer({ sequence });
  const decoy = await newPeer({ address: '127.0.0.9' });
  const leg = await newLeg();
  const answer = await leg.answer(peer.sdp({ address: '127.0.0.9', port: decoy.rtpPort }));
  peer.connect(answer);
  decoy.connect(answer);
  return { peer, decoy, leg };
}

/** A socket that sends to the same address as `peer`, and counts what comes back. */
async function strangerTo(peer: SrtpPeer): Promise<SrtpPeer> {
  const stranger = await newPeer();
  stranger.connect(stranger.sdp().replace(/^(m=audio) \d+/m, (_, media) => `${media} ${peer.remotePort}`));
  return stranger;
}

/** From port 5000 to 5000: SCTP carries no authentication. */
const sctpPacket = Buffer.from('1388138800000001000000000100000c', 'hex');

function nextFrame(peer: SrtpPeer): Buffer {
  return peer.toneFrames(500, 1)[0] ?? Buffer.alloc(160);
}

describe('before the first packet from the peer', () => {
  test('there is a reader of its packets', async () => {
    peers.clear();
    takenBefore.length = 0;
    const { leg, peer } = await callFromElsewhere();
    expect(takenBefore).toEqual([0]);
    expect([...peers].map(({ tuple }) => tuple.remoteIp)).toEqual(['127.0.0.9']);
    peer.sendRaw(peer.protect(peer.rtpPacket(nextFrame(peer))));
    await expect.poll(() => leg.report().packets_received).toBe(1);
  });

  test('audio is sent to the address in its SDP', async () => {
    const { peer, decoy, leg } = await callFromElsewhere();
    leg.attach(toneEndpoint(440));
    await decoy.heard(5);
    expect(peer.packets).toBe(0);
    expect(leg.report()).toMatchObject({ verdict: 'send_only', packets_received: 0 });
  });

  test('packets from a stranger without its key change nothing, not even tampered ones', async () => {
    const { peer, decoy, leg } = await callFromElsewhere();
    leg.attach(toneEndpoint(440));
    const stranger = await strangerTo(peer);
    const tampered = peer.protect(peer.rtpPacket(nextFrame(peer)));
    tampered[20] = (tampered[20] ?? 0) ^ 1;
    for (const packet of [
      tampered,
      peer.rtpPacket(nextFrame(peer)),
      stranger.protect(peer.rtpPacket(nextFrame(peer))),
      Buffer.from('no RTP at all'),
      sctpPacket,
    ]) {
      stranger.sendRaw(packet);
    }
    await decoy.heard(5);
    await decoy.heard(decoy.packets + 5);
    expect(stranger.stats).toMatchObject({ packets: 0, undecryptable: 0 });
    peer.send(nextFrame(peer));
    await peer.heard(5);
    expect(leg.report().packets_received).toBe(1);
  });

  test('audio is held back when its SDP has a host name instead of an address', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    leg.attach(toneEndpoint(440));
    peer.connect(await leg.answer(peer.sdp({ address: 'media.example.com' })));
    const stranger = await strangerTo(peer);
    stranger.sendRaw(sctpPacket);
    peer.send(nextFrame(peer));
    await peer.heard(5);
    expect(peer.stats).toMatchObject({ lost: 0, undecryptable: 0 });
    expect(stranger.stats).toMatchObject({ packets: 0, undecryptable: 0 });
  });
});

describe('from the first packet of the peer on', () => {
  test.each([false, true])('audio is sent to its source (rtcp-mux: %s)', async (rtcpMux) => {
    const peer = await newPeer();
    const decoy = await newPeer();
    const leg = await newLeg();
    const { endpoint, loudFrames } = listener();
    leg.attach(endpoint);
    const answer = await leg.answer(peer.sdp({ port: decoy.rtpPort, rtcpMux }));
    expect(answer.includes('a=rtcp-mux')).toBe(rtcpMux);
    peer.connect(answer);
    decoy.connect(answer);
    await decoy.heard(2);
    await peer.play(peer.toneFrames(500, 20));
    await peer.heard(5);
    const before = decoy.packets;
    await peer.heard(peer.packets + 10);
    expect(decoy.packets).toBe(before);
    expect(leg.report()).toMatchObject({ verdict: 'two_way', packets_received: 20, packets_lost: 0 });
    expect(loudFrames()).toBeGreaterThan(10);
  });

  test('no other source changes anything, with its key, with garbage or with copies', async () => {
    // The sequence number wraps on the way: a lost SRTP state would end the stream (rollover counter).
    const { peer, leg } = await callFromElsewhere(65_520);
    leg.attach(toneEndpoint(440));
    await peer.play(peer.toneFrames(500, 30));
    const stranger = await strangerTo(peer);
    const copy = peer.protect(peer.rtpPacket(nextFrame(peer)));
    peer.sendRaw(copy);
    stranger.sendRaw(copy);
    stranger.sendRaw(peer.protect(peer.rtpPacket(nextFrame(peer))));
    const ssrc = peer.ssrc;
    peer.ssrc = (ssrc + 1) >>> 0;
    stranger.sendRaw(peer.protect(peer.rtpPacket(nextFrame(peer))));
    peer.ssrc = ssrc;
    stranger.sendRaw(stranger.protect(stranger.rtpPacket(nextFrame(peer))));
    stranger.sendRaw(Buffer.alloc(172, 0x80));
    await peer.play(peer.toneFrames(500, 20));
    await peer.heard(peer.packets + 5);
    expect(stranger.stats).toMatchObject({ packets: 0, undecryptable: 0 });
    expect(peer.stats.undecryptable).toBe(0);
    expect(leg.report().packets_received).toBe(51);
  });

  test("RTCP is sent to the source of the peer's RTCP", async () => {
    const { peer, decoy, leg } = await callFromElsewhere();
    leg.attach(toneEndpoint(440));
    peer.send(nextFrame(peer));
    peer.report();
    await peer.heard(2);
    while (!peer.senderReported) await peer.heard(peer.packets + 5);
    expect(decoy.senderReported).toBe(false);
    peer.report();
    while (leg.report().round_trip_ms === null) await peer.heard(peer.packets + 5);
    expect(leg.report().round_trip_ms).toBeGreaterThan(0);
  });
});

describe('an offer of ours', () => {
  test('to a peer behind NAT gets audio at once, and the peer is heard and answered at its source', async () => {
    const peer = await newPeer();
    const decoy = await newPeer();
    const leg = await newLeg();
    leg.attach(toneEndpoint(440));
    const offer = await leg.offer();
    peer.connect(offer);
    decoy.connect(offer);
    await leg.accept(peer.sdp({ port: decoy.rtpPort }));
    await decoy.heard(3);
    await peer.play(peer.toneFrames(500, 10));
    await peer.when(() => leg.report().packets_received === 10);
    expect(leg.report().verdict).toBe('two_way');
  });
});

describe('a later offer', () => {
  test('from a peer behind NAT that moved is followed to its new address', async () => {
    const { peer, leg } = await callFromElsewhere();
    leg.attach(toneEndpoint(440));
    await peer.play(peer.toneFrames(500, 5));
    await peer.heard(5);
    const moved = await newPeer();
    const decoy = await newPeer();
    const answer = await leg.answer(moved.sdp({ port: decoy.rtpPort }));
    moved.connect(answer);
    decoy.connect(answer);
    await decoy.heard(3);
    await moved.play(moved.toneFrames(500, 10));
    await moved.when(() => leg.report().packets_received === 15);
    expect(moved.stats.undecryptable).toBe(0);
  });

  test('that repeats the SDP address keeps the known source of a peer behind NAT', async () => {
    const { peer, decoy, leg } = await callFromElsewhere();
    leg.attach(toneEndpoint(440));
    peer.send(nextFrame(peer));
    await peer.heard(5);
    await leg.answer(peer.sdp({ address: '127.0.0.9', port: decoy.rtpPort }));
    const before = decoy.packets;
    await peer.heard(peer.packets + 5);
    expect(decoy.packets).toBe(before);
    expect(peer.stats.undecryptable).toBe(0);
  });
});
