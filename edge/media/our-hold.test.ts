/** Hold by our side: the peer is offered `sendonly`, and hears what is attached meanwhile (RFC 3264 section 8.4). */
import { expect, test } from 'vitest';
import { heardSince, listener, testOptions, toneEndpoint, useMedia } from '../../test/kit/edge/media.ts';
import { share } from '../../test/kit/fakes/audio.ts';

const { call } = useMedia(testOptions(34_200));

test('is said in our offer, and the peer that answers recvonly hears the music with the keys and SSRC of before', async () => {
  const { peer, leg } = await call(toneEndpoint(440));
  await peer.heard(5);
  leg.hold(true);
  leg.attach(toneEndpoint(600));
  const offer = await leg.offer();
  expect(offer).toContain('a=sendonly');
  await leg.accept(peer.sdp({ direction: 'recvonly' }));
  expect(leg.held).toBe(false);
  await peer.when(() => share(peer.samples(1600), 600) > 0.95);
  // RTCP goes on both ways.
  await peer.when(() => peer.senderReported);
  await expect.poll(() => leg.silentForMs()).toBeGreaterThan(700);
  const reports = performance.now();
  peer.report();
  await expect.poll(() => heardSince(leg, reports)).toBe(true);

  leg.hold(false);
  leg.attach(toneEndpoint(440));
  const resumed = await leg.offer();
  expect(resumed).toContain('a=sendrecv');
  await leg.accept(peer.sdp());
  await peer.when(() => share(peer.samples(1600), 440) > 0.95);
  expect(peer.stats).toMatchObject({ lost: 0, undecryptable: 0 });
});

test.each([
  ['sendrecv', 'sendonly'],
  ['recvonly', 'sendonly'],
  ['sendonly', 'inactive'],
  ['inactive', 'inactive'],
])("answers the peer's %s with %s", async (theirs, ours) => {
  const { peer, leg } = await call(toneEndpoint(440));
  leg.hold(true);
  expect(await leg.answer(peer.sdp({ direction: theirs }))).toContain(`a=${ours}`);
});

test('hears nothing of a peer that goes on sending', async () => {
  const { endpoint, loudFrames } = listener();
  const { peer, leg } = await call(endpoint);
  await peer.play(peer.toneFrames(500, 5));
  expect(loudFrames()).toBeGreaterThan(0);
  leg.hold(true);
  leg.attach(toneEndpoint(600));
  await leg.offer();
  await leg.accept(peer.sdp({ direction: 'recvonly' }));
  const before = loudFrames();
  await peer.play(peer.toneFrames(500, 5));
  expect(loudFrames()).toBe(before);
});
