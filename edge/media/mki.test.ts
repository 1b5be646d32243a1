/** Peers that add a master key identifier (RFC 3711 section 3.1, RFC 4568 section 6.1) to their packets. */
import { describe, expect, test } from 'vitest';
import { echoEndpoint, testOptions, toneEndpoint, useMedia } from '../../test/kit/edge/media.ts';
import type { SrtpPeer, SrtpPeerOptions } from '../../test/kit/fakes/srtp-peer.ts';
import type { LocalLeg } from '../call/ports/media.ts';

const { newPeer, newLeg } = useMedia(testOptions(30_600));

/** Exchanges audio and reports both ways, and checks that nothing failed to decrypt. */
async function talk(peer: SrtpPeer, leg: LocalLeg): Promise<void> {
  leg.attach(toneEndpoint(440));
  await peer.play(peer.toneFrames(500, 25));
  await peer.when(() => leg.report().packets_received === 25);
  await peer.heard(20);
  // RTCP: we send ours once theirs has arrived, and they answer ours.
  peer.report();
  while (!peer.senderReported) await peer.heard(peer.packets + 5);
  peer.report();
  while (leg.report().round_trip_ms === null) await peer.heard(peer.packets + 5);
  expect(peer.stats).toMatchObject({ lost: 0, undecryptable: 0 });
  expect(leg.report()).toMatchObject({ verdict: 'two_way', peer_hears: 'yes', packets_lost: 0 });
}

const identifiers: [string, Buffer][] = [
  ['1:1', Buffer.from([1])],
  ['0:1', Buffer.from([0])],
  ['258:2', Buffer.from([1, 2])],
  ['1:3', Buffer.from([0, 0, 1])],
  ['4294967295:4', Buffer.alloc(4, 0xff)],
];

describe('an offer with an MKI', () => {
  test.each(identifiers)('of %s is answered with the same one, and heard', async (form, mki) => {
    const peer = await newPeer({ mki });
    const leg = await newLeg();
    const answer = await leg.answer(peer.sdp());
    expect(answer).toMatch(new RegExp(`^a=crypto:1 \\S+ inline:[^|]{40}\\|2\\^31\\|${form}\\r$`, 'm'));
    peer.connect(answer);
    await talk(peer, leg);
  });

  test.each(['', '|1048576'])('after the lifetime "%s" is decrypted', async (lifetime) => {
    const peer = await newPeer({ mki: Buffer.from([0, 0, 0, 1]) });
    const leg = await newLeg();
    peer.connect(await leg.answer(peer.sdp({ lifetime })));
    await talk(peer, leg);
  });

  test('is decrypted even when its peer sends none', async () => {
    const peer = await newPeer({ mki: Buffer.from([1]), forgetsMki: true });
    const leg = await newLeg();
    peer.connect(await leg.answer(peer.sdp()));
    await talk(peer, leg);
  });

  test('is decrypted across a rollover of the sequence number', async () => {
    const peer = await newPeer({ mki: Buffer.from([1]), sequence: 65_530 });
    const leg = await newLeg();
    peer.connect(await leg.answer(peer.sdp()));
    await talk(peer, leg);
  });

  test('with a different identifier later gets its own path', async () => {
    const { peer, leg } = await talking({ mki: Buffer.from([1]) });
    const moved = await newPeer({ mki: Buffer.from([2]) });
    moved.connect(await leg.answer(moved.sdp()));
    expect(moved.remotePort).not.toBe(peer.remotePort);
    await moved.play(moved.toneFrames(500, 10));
    await moved.when(() => leg.report().packets_received === 35);
  });

  test('resumes on the same path after a hold', async () => {
    const { peer, leg } = await talking({ mki: Buffer.from([1]) });
    const port = peer.remotePort;
    await leg.answer(peer.sdp({ direction: 'sendonly' }));
    peer.connect(await leg.answer(peer.sdp()));
    expect(peer.remotePort).toBe(port);
    await peer.play(peer.toneFrames(500, 10));
    await peer.when(() => leg.report().packets_received === 35);
  });

  test('of five octets is rejected with the reason', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    const offer = peer.sdp({ lifetime: '|2^31|1:5' });
    await expect(leg.answer(offer)).rejects.toMatchObject({
      sipStatus: 488,
      warning: expect.stringContaining('MKI of 5 octets not supported'),
    });
  });

  async function talking(options: SrtpPeerOptions) {
    const peer = await newPeer(options);
    const leg = await newLeg();
    peer.connect(await leg.answer(peer.sdp()));
    leg.attach(echoEndpoint());
    await peer.play(peer.toneFrames(500, 25));
    await peer.when(() => leg.report().packets_received === 25);
    return { peer, leg };
  }
});

test('an answer with an MKI to our offer without one is decrypted, and gets packets without', async () => {
  const peer = await newPeer({ mki: Buffer.from([7]) });
  const leg = await newLeg();
  const offer = await leg.offer();
  expect(offer).not.toContain('|');
  peer.connect(offer);
  await leg.accept(peer.sdp());
  await talk(peer, leg);
});

test('a packet from a stranger with the right MKI changes nothing', async () => {
  const peer = await newPeer({ mki: Buffer.from([1]) });
  const stranger = await newPeer({ mki: Buffer.from([1]) });
  const leg = await newLeg();
  const answer = await leg.answer(peer.sdp());
  peer.connect(answer);
  stranger.connect(answer);
  for (const frame of stranger.toneFrames(500, 5)) stranger.send(frame);
  await talk(peer, leg);
});
