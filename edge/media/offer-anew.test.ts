/** An offer that may be answered from another place: by the peer that takes the call over, or by one that moves. */
import { describe, expect, test } from 'vitest';
import { echoEndpoint, testOptions, useMedia } from '../../test/kit/edge/media.ts';
import { hears } from '../../test/kit/fakes/hearing.ts';
import { CallRefused } from '../call/refused.ts';

const { media, newPeer, newLeg, call } = useMedia(testOptions(33_600));

describe('an offer anew', () => {
  test('is answered by another peer, with another codec: audio moves to it', async () => {
    const peer = await newPeer();
    const leg = await newLeg({ codecs: ['PCMU', 'PCMA'] });
    leg.attach(echoEndpoint());
    peer.connect(await leg.answer(peer.sdp()));
    await hears(peer, peer, 500);
    const next = await newPeer();
    next.connect(await leg.offer(true));
    expect(media().stats().ports.inUse).toBe(2);
    await leg.accept(next.sdp({ formats: '8 101', rtpmaps: ['8 PCMA/8000', '101 telephone-event/8000'] }));
    expect(leg.codec).toBe('PCMA');
    await next.play(Array.from({ length: 20 }, () => Buffer.alloc(160, 0x55)));
    await next.heard(10);
    await expect.poll(() => media().stats().ports.inUse).toBe(1);
  });

  test('that is not answered, or not as it must be, changes nothing, and takes no port for longer', async () => {
    const { peer, leg } = await call(echoEndpoint());
    await leg.offer(true);
    await leg.offer(true);
    expect(media().stats().ports.inUse).toBe(2);
    await expect(leg.accept(peer.sdp().replace(/a=crypto.*\r\n/, ''))).rejects.toThrow(CallRefused);
    expect(media().stats().ports.inUse).toBe(1);
    await leg.offer(true);
    await leg.offer();
    await leg.accept(peer.sdp());
    expect(media().stats().ports.inUse).toBe(1);
    await hears(peer, peer, 500);
    await leg.offer(true);
    leg.withdraw();
    expect(media().stats().ports.inUse).toBe(1);
    await hears(peer, peer, 500);
    await leg.offer();
    leg.withdraw();
    await hears(peer, peer, 500);
    await leg.offer(true);
    leg.close();
    expect(media().stats().ports.inUse).toBe(0);
  });
});
