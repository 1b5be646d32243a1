/**
 * Streams that are beyond their first 65,536 packets, as after 22 minutes of a call. How often a sequence number has wrapped
 * is part of what authenticates a packet, and nothing tells it (RFC 3711 section 3.3.1).
 */
import { expect, test } from 'vitest';
import { listener, testOptions, useMedia } from '../../test/kit/edge/media.ts';
import type { SrtpPeer } from '../../test/kit/fakes/srtp-peer.ts';
import type { LocalLeg } from '../call/ports/media.ts';

const { newPeer, newLeg } = useMedia(testOptions(32_600));

/** A call that is heard, and whose peer has wrapped `times` times. */
async function wrapped(times: number): Promise<{ peer: SrtpPeer; leg: LocalLeg; loudFrames: () => number }> {
  const { endpoint, loudFrames } = listener();
  const peer = await newPeer({ sequence: 65_530 });
  const leg = await newLeg();
  peer.connect(await leg.answer(peer.sdp()));
  leg.attach(endpoint);
  const frames = peer.toneFrames(500, 10);
  await peer.play(frames);
  for (let wraps = 1; wraps < times; wraps++) {
    // Half of the numbers at a time: further ahead is behind.
    for (let jumps = 0; jumps < 3; jumps++) {
      peer.sequence = (peer.sequence + 21_840) & 0xffff;
      await peer.play(frames);
    }
  }
  await peer.when(() => leg.report().packets_received >= 10);
  return { peer, leg, loudFrames };
}

test.each([1, 3])(
  'are heard after a re-INVITE with another codec and the same key: wrapped %i times',
  async (times) => {
    const { peer, leg } = await wrapped(times);
    const before = leg.report().packets_received;
    const port = peer.remotePort;
    const offer = peer.sdp({ formats: '8 101', rtpmaps: ['8 PCMA/8000', '101 telephone-event/8000'] });
    peer.connect(await leg.answer(offer));
    expect(peer.remotePort).not.toBe(port);
    await peer.play(peer.toneFrames(500, 10), { payloadType: 8 });
    await peer.when(() => leg.report().packets_received === before + 10);
  },
);

test('are heard again after another stream, such as music on hold', async () => {
  const { peer, loudFrames } = await wrapped(2);
  const { ssrc, sequence } = peer;
  const frames = peer.toneFrames(500, 5);
  const heardAs = async (other: number, from: number) => {
    Object.assign(peer, { ssrc: other, sequence: from });
    const before = loudFrames();
    while (loudFrames() < before + 20) await peer.play(frames);
  };
  await heardAs((ssrc + 1) >>> 0, 100);
  await heardAs(ssrc, sequence);
  await heardAs((ssrc + 1) >>> 0, 2_000);
});
