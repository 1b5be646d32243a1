/** RTP beyond what audio has, on a real media worker. */
import { expect, test } from 'vitest';
import { echoEndpoint, testOptions, toneEndpoint, useMedia } from '../../test/kit/edge/media.ts';
import { share } from '../../test/kit/fakes/audio.ts';

const { media, call } = useMedia(testOptions(33_000));

test('a peer that floods its call costs other calls nothing, and its own goes on', async () => {
  const { peer: loud, leg } = await call(echoEndpoint());
  const { peer: other } = await call(toneEndpoint(440));
  const payload = loud.toneFrames(500, 1)[0] ?? Buffer.alloc(160);
  const before = media().stats();
  // The worker answers the leg's questions meanwhile: without that the count would stay as it is.
  while (media().stats().packetsBeyondRate === before.packetsBeyondRate) {
    for (let sent = 0; sent < 500; sent++) loud.send(payload);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(media().stats().workerHangs).toBe(before.workerHangs);
  const begun = other.packets;
  await other.heard(begun + 60);
  expect(share(other.samples(8000), 440)).toBeGreaterThan(0.98);
  const received = leg.report().packets_received;
  while (leg.report().packets_received < received + 20) await loud.play(loud.toneFrames(500, 5));
});
