/** Key presses on a real media worker, from a peer that sends nothing else. */
import { expect, test } from 'vitest';
import { listener, testOptions, useMedia } from '../../test/kit/edge/media.ts';

const { call } = useMedia(testOptions(30_000));

// A PBX whose caller is silent, or in a menu, may send nothing else.
test('key presses from a peer that has sent no audio yet reach the endpoint, and its audio after them too', async () => {
  const { endpoint, events, nextEvent } = listener();
  const { peer, leg } = await call(endpoint);
  for (const digit of '7*') {
    const pressed = nextEvent();
    await peer.press(digit);
    await pressed;
  }
  expect(events.map((event) => event.digit)).toEqual(['7', '*']);
  await peer.play(peer.toneFrames(500, 3));
  await expect.poll(() => leg.report().packets_received).toBeGreaterThan(3);
  expect(leg.report().cause).toBeNull();
});
