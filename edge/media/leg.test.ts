/** Legs on a real media worker, against an SRTP endpoint that shares no code with them. */
import { describe, expect, test } from 'vitest';
import {
  echoEndpoint,
  heardSince,
  listener,
  mediaLine,
  testOptions,
  toneEndpoint,
  useMedia,
} from '../../test/kit/edge/media.ts';
import { frequencyOf, share } from '../../test/kit/fakes/audio.ts';
import { hears } from '../../test/kit/fakes/hearing.ts';
import type { DtmfEvent } from '../call/ports/media.ts';
import { CallRefused } from '../call/refused.ts';

const { media, newPeer, newLeg, call } = useMedia(testOptions(30_000));

describe('audio', () => {
  test('from a tone endpoint arrives with the right frequency and without loss', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.heard(60);
    expect(leg.codec).toBe('PCMU');
    const samples = peer.samples(8000);
    expect(frequencyOf(samples)).toBeCloseTo(440, 0);
    expect(share(samples, 440)).toBeGreaterThan(0.98);
    expect(peer.stats).toMatchObject({ lost: 0, undecryptable: 0 });
  });

  test("goes both ways: an echo endpoint returns the peer's tone", async () => {
    const { peer, leg } = await call(echoEndpoint());
    const began = performance.now();
    const frames = await hears(peer, peer, 500);
    await expect.poll(() => leg.report().packets_received).toBe(frames);
    const report = leg.report();
    expect(report).toMatchObject({ verdict: 'two_way', cause: null, packets_lost: 0 });
    expect(report.packets_sent).toBeGreaterThanOrEqual(peer.packets);
    expect(report.mos).not.toBeNull();
    expect(leg.silentForMs()).toBeLessThan(performance.now() - began);
  });

  test('is silence, but still sent, while the endpoint has nothing to say', async () => {
    const { peer } = await call(listener().endpoint);
    await peer.heard(15);
    expect(peer.samples().every((sample) => sample === 0)).toBe(true);
  });

  test('is sent to a peer that sends nothing itself, when its address is usable', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.heard(5);
    expect(leg.report()).toMatchObject({ verdict: 'send_only', packets_received: 0 });
  });

  test('is not missed from a listener whose RTCP shows that it is there', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    for (let report = 0; report < 2; report++) {
      await expect.poll(() => leg.silentForMs()).toBeGreaterThan(700);
      const reports = performance.now();
      peer.report();
      await expect.poll(() => heardSince(leg, reports)).toBe(true);
    }
    expect(leg.report()).toMatchObject({ verdict: 'send_only', packets_received: 0 });
  });

  test('uses the payload types of the offer', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    const { endpoint, events, nextEvent } = listener();
    const sdp = peer.sdp({ formats: '0 100', rtpmaps: ['0 PCMU/8000', '100 telephone-event/8000'] });
    const answer = await leg.answer(sdp);
    expect(answer).toContain('a=rtpmap:100 telephone-event/8000');
    peer.connect(answer);
    leg.attach(endpoint);
    peer.send(peer.toneFrames(500, 1)[0] ?? Buffer.alloc(160));
    const pressed = nextEvent();
    peer.send(Buffer.from([5, 0x8a, 3, 0x20]), { payloadType: 100, marker: true });
    await pressed;
    expect(events).toEqual([{ digit: '5', durationMs: 100 }]);
  });

  test('continues over the rollover of the sequence number, and over many of them', async () => {
    const { peer, leg } = await call(echoEndpoint(), { sequence: 65_500 });
    const payload = peer.toneFrames(500, 1)[0] ?? Buffer.alloc(160);
    // A larger gap is a new stream (RFC 3550 appendix A.1), and half of all numbers is another rollover (RFC 3711 section 3.3.1).
    const gap = 2000;
    for (let sent = 0; sent * gap < 3 * 65_536; sent++) {
      const received = leg.report().packets_received;
      peer.sequence = (peer.sequence + gap) & 0xffff;
      peer.send(payload);
      await expect.poll(() => leg.report().packets_received, { interval: 1 }).toBeGreaterThan(received);
    }
  });

  test('from a peer that changes its SSRC during the call is heard again', async () => {
    const { endpoint, loudFrames } = listener();
    const { peer } = await call(endpoint);
    await peer.play(peer.toneFrames(500, 10));
    const before = loudFrames();
    expect(before).toBeGreaterThan(0);
    peer.ssrc = (peer.ssrc + 1) >>> 0;
    const frames = peer.toneFrames(500, 5);
    while (loudFrames() < before + 20) await peer.play(frames);
  });
});

describe('packets that do not belong to the call', () => {
  test('are dropped: another key, plain RTP, and a replayed packet', async () => {
    const { peer, leg } = await call(listener().endpoint);
    const payload = peer.toneFrames(500, 1)[0] ?? Buffer.alloc(160);
    const good = peer.protect(peer.rtpPacket(payload));
    peer.sendRaw(good);
    peer.sendRaw(good);
    peer.sendRaw(peer.rtpPacket(payload));
    const tampered = peer.protect(peer.rtpPacket(payload));
    tampered[20] = (tampered[20] ?? 0) ^ 1;
    peer.sendRaw(tampered);
    peer.rekey();
    peer.send(payload);
    // The sender's own reports arrive in order after all of the above.
    await peer.heard(15);
    expect(leg.report().packets_received).toBe(1);
  });

  test('are named as the cause when nothing else arrived', async () => {
    const { peer, leg } = await call(listener().endpoint);
    peer.rekey();
    const frames = peer.toneFrames(500, 10);
    while (!leg.report().cause?.includes('failed SRTP authentication')) await peer.play(frames);
    expect(leg.report()).toMatchObject({ verdict: 'send_only', packets_received: 0, mos: null });
  });

  test('with a codec that was not negotiated are named as the cause, too', async () => {
    const { peer, leg } = await call(listener().endpoint);
    while (!leg.report().cause?.includes('other than the negotiated')) {
      peer.send(Buffer.alloc(160), { payloadType: 8 });
      await peer.heard(peer.packets + 1);
    }
    expect(leg.report()).toMatchObject({ verdict: 'send_only', packets_received: 0 });
  });
});

describe('key presses', () => {
  test('from the peer reach the endpoint once each, despite packet loss', async () => {
    const { endpoint, events, nextEvent } = listener();
    const { peer } = await call(endpoint);
    await peer.play(peer.toneFrames(500, 3));
    for (const digit of '1#') {
      const pressed = nextEvent();
      await peer.press(digit, 100, (index) => index % 2 === 0);
      await pressed;
      await peer.play(peer.toneFrames(500, 2));
    }
    expect(events.map((event) => event.digit)).toEqual(['1', '#']);
    expect(events.map((event) => event.durationMs)).toEqual([100, 100]);
  });

  test('from us arrive with their duration and three end packets, instead of audio', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.heard(5);
    await leg.sendDtmf('42');
    await peer.when(() => peer.events.length === 2 && peer.events.every((event) => event.endPackets === 3));
    expect(peer.events).toEqual([
      { digit: '4', duration: 800, packets: 7, endPackets: 3 },
      { digit: '2', duration: 800, packets: 7, endPackets: 3 },
    ]);
    const before = peer.packets;
    await peer.heard(before + 5);
    expect(peer.stats.lost).toBe(0);
  });

  test('are sent even when no endpoint is attached', async () => {
    const { peer, leg } = await call(null);
    await leg.sendDtmf('7');
    await peer.when(() => peer.events[0]?.endPackets === 3);
    expect(media().stats().legs).toBe(1);
  });

  // In an answer the answerer chooses the numbers: 101 is where the peer receives, and our 101 is 8000 Hz, which
  // it sends.
  test.each([
    ['supports only 8000 Hz', '101', ['101 telephone-event/8000'], 800],
    ['names both', '101 97', ['101 telephone-event/48000', '97 telephone-event/8000'], 4800],
  ])(
    'beside Opus work both ways with a peer that answers us and %s',
    async (_, formats, events, duration) => {
      const { endpoint, events: pressed, nextEvent } = listener();
      const peer = await newPeer();
      const leg = await newLeg({ codecs: ['Opus'] });
      leg.attach({ ...endpoint, read: toneEndpoint(440).read });
      peer.connect(await leg.offer());
      await leg.accept(peer.sdp({ formats: `111 ${formats}`, rtpmaps: ['111 opus/48000/2', ...events] }));
      await peer.heard(3);
      await leg.sendDtmf('4');
      await peer.when(() => peer.events[0]?.endPackets === 3);
      expect(peer.events).toEqual([{ digit: '4', duration, packets: 7, endPackets: 3 }]);
      const one = nextEvent();
      await peer.press('5');
      await one;
      expect(pressed).toEqual([{ digit: '5', durationMs: 100 }]);
    },
  );

  test('that are invalid, or that the peer does not support, are rejected', async () => {
    const { leg } = await call(null);
    await expect(leg.sendDtmf('x')).rejects.toThrow(RangeError);
    const peer = await newPeer();
    const other = await newLeg();
    await other.answer(peer.sdp({ formats: '0', rtpmaps: ['0 PCMU/8000'] }));
    await expect(other.sendDtmf('1')).rejects.toThrow('telephone-event');
  });

  test('still queued when the call ends are dropped without an error', async () => {
    const { leg } = await call(null);
    const sent = leg.sendDtmf('1234567890');
    leg.close();
    await sent;
  });
});

describe('a later offer', () => {
  test('holds and resumes on the same ports and keys', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.heard(5);
    const first = await leg.answer(peer.sdp());
    const held = await leg.answer(peer.sdp({ direction: 'sendonly' }));
    expect(leg.held).toBe(true);
    expect(held).toContain('a=recvonly');
    expect(mediaLine(held)).toBe(mediaLine(first));
    const sent = leg.report().packets_sent;
    peer.send(peer.toneFrames(500, 1)[0] ?? Buffer.alloc(160));
    await peer.play(peer.toneFrames(500, 5));
    expect(leg.report().packets_sent).toBe(sent);
    const resumed = await leg.answer(peer.sdp());
    expect(leg.held).toBe(false);
    expect(resumed).toContain('a=sendrecv');
    await peer.heard(peer.packets + 5);
    expect(media().stats().ports.inUse).toBe(1);
  });

  test('with another address and other keys gets new ports and keys, and the old ones are released', async () => {
    const { peer, leg } = await call(echoEndpoint());
    await peer.play(peer.toneFrames(500, 5));
    const moved = await newPeer();
    const before = await leg.answer(peer.sdp());
    const answer = await leg.answer(moved.sdp());
    expect(mediaLine(answer)).not.toBe(mediaLine(before));
    expect(answer.match(/inline:.*/)?.[0]).not.toBe(before.match(/inline:.*/)?.[0]);
    moved.connect(answer);
    const frames = await hears(moved, moved, 600);
    await expect.poll(() => leg.report().packets_received).toBe(5 + frames);
    expect(media().stats().ports.inUse).toBe(1);
    expect(leg.report().packets_lost).toBe(0);
  });

  test('that cannot be accepted leaves the session unchanged', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    const plain = peer.sdp().replace('RTP/SAVP', 'RTP/AVP');
    await expect(leg.answer(plain)).rejects.toMatchObject({ sipStatus: 488, warning: expect.any(String) });
    const before = peer.packets;
    await peer.heard(before + 5);
    expect(peer.stats.undecryptable).toBe(0);
    expect(media().stats().ports.inUse).toBe(1);
  });
});

describe('an offer of ours', () => {
  test('is answered by the peer, and audio flows both ways', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    leg.attach(echoEndpoint());
    const offer = await leg.offer();
    expect(leg.codec).toBe(null);
    peer.connect(offer);
    await leg.accept(peer.sdp());
    expect(leg.codec).toBe('PCMU');
    await hears(peer, peer, 500);
    const refresh = await leg.offer();
    expect(mediaLine(refresh).split(' ').slice(0, 2)).toEqual(mediaLine(offer).split(' ').slice(0, 2));
    await leg.accept(peer.sdp());
    await peer.heard(peer.packets + 5);
  });

  test('handles packets that arrive before the answer: they are dropped, later ones are heard', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    const { endpoint, loudFrames } = listener();
    leg.attach(endpoint);
    peer.connect(await leg.offer());
    await peer.play(peer.toneFrames(500, 3));
    await leg.accept(peer.sdp());
    expect(leg.report().packets_received).toBe(0);
    await peer.play(peer.toneFrames(500, 20));
    await peer.when(() => leg.report().packets_received === 20 && loudFrames() > 10);
  });

  test.each(['PCMA', 'Opus', 'G.722', 'G.729'] as const)(
    'can be answered by another leg, with %s',
    async (codec) => {
      if (!media().availableCodecs().includes(codec)) {
        await expect(newLeg({ codecs: [codec] })).rejects.toMatchObject({
          sipStatus: 488,
        });
        return;
      }
      const caller = await newLeg({ codecs: [codec] });
      const callee = await newLeg({ codecs: [codec] });
      const heard: Int16Array[] = [];
      const clear = Promise.withResolvers<void>();
      const pressed = Promise.withResolvers<DtmfEvent>();
      caller.attach(toneEndpoint(440, 16_000));
      callee.attach({
        sampleRate: 8000,
        read: () => false,
        write: (frame) => {
          heard.push(frame.slice());
          const samples = Int16Array.from(heard.slice(-40).flatMap((one) => [...one]));
          // A busy machine may lose a frame; what matters is the decoded audio of 0.8 s without a gap.
          if (heard.length >= 60 && Math.abs(frequencyOf(samples) - 440) < 4.4) clear.resolve();
        },
        dtmf: pressed.resolve,
      });
      await caller.accept(await callee.answer(await caller.offer()));
      expect(callee.codec).toBe(codec);
      await clear.promise;
      await caller.sendDtmf('9');
      expect(await pressed.promise).toEqual({ digit: '9', durationMs: 100 });
    },
  );

  test('whose answer is unusable is rejected', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    await leg.offer();
    await expect(leg.accept(peer.sdp().replace(/a=crypto.*\r\n/, ''))).rejects.toThrow(CallRefused);
  });

  test('is rejected when the peer moves in its answer to a refresh', async () => {
    const { leg } = await call(null);
    await leg.offer();
    const moved = await newPeer();
    await expect(leg.accept(moved.sdp())).rejects.toMatchObject({ mediaFault: { kind: 'moved' } });
  });
});

describe('round trip', () => {
  test("is measured from the peer's receiver reports", async () => {
    const began = performance.now();
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.play(peer.toneFrames(500, 5));
    while (!peer.senderReported) await peer.heard(peer.packets + 10);
    peer.report();
    while (leg.report().round_trip_ms === null) await peer.heard(peer.packets + 10);
    expect(leg.report().round_trip_ms).toBeGreaterThan(0);
    expect(leg.report().round_trip_ms).toBeLessThan(performance.now() - began);
  });
});

describe('a peer without telephone-event', () => {
  const withoutEvents = { formats: '0', rtpmaps: ['0 PCMU/8000'] };

  test('is reported as unable to receive keys when it offers', async () => {
    const before = media().stats().legsWithoutKeys;
    const peer = await newPeer();
    const leg = await newLeg();
    expect(leg.keys).toBeNull();
    const answer = await leg.answer(peer.sdp(withoutEvents));
    expect(answer).not.toContain('telephone-event');
    expect(leg.keys).toBe('none');
    expect(leg.report().keys).toBe('none');
    await leg.answer(peer.sdp({ ...withoutEvents, direction: 'sendonly' }));
    expect(media().stats().legsWithoutKeys).toBe(before + 1);
    await expect(leg.sendDtmf('1')).rejects.toThrow('telephone-event');
  });

  test('is reported as unable to receive keys when it answers', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    await leg.offer();
    await leg.accept(peer.sdp(withoutEvents));
    expect(leg.keys).toBe('none');
  });

  test('can receive keys once a later offer includes them', async () => {
    const { peer, leg } = await call();
    expect(leg.keys).toBe('telephone-event');
    await leg.answer(peer.sdp(withoutEvents));
    expect(leg.keys).toBe('none');
    await leg.answer(peer.sdp());
    expect(leg.report().keys).toBe('telephone-event');
  });
});
