/** Two legs joined by the worker: real packets between two SRTP endpoints that share no code with them. */
import { describe, expect, test } from 'vitest';
import {
  heardSince,
  listener,
  opus,
  type Party,
  pcmu,
  testOptions,
  toneEndpoint,
  useMedia,
} from '../../test/kit/edge/media.ts';
import type { SrtpPeer } from '../../test/kit/fakes/srtp-peer.ts';
import { CallRefused } from '../call/refused.ts';
import { createMedia } from './media.ts';

const options = testOptions(31_000);
const { media, newPeer, newLeg, party, closePeers } = useMedia(options);

/** Two parties whose legs are relayed. */
async function relayed(formats = pcmu, otherFormats = formats) {
  const one = await party(formats);
  const other = await party(otherFormats, { beside: one.leg });
  const bridge = await media().bridge(one.leg, other.leg, { transcode: false });
  expect(bridge.mode).toBe('relayed');
  return { one, other, bridge };
}

/** Sends `count` packets from `from`; resolves with their payloads when `to` has received as many more. */
async function say(from: SrtpPeer, to: Party, count: number, payloadType = 0): Promise<Buffer[]> {
  const before = to.peer.packets;
  const payloads = from.toneFrames(500, count);
  for (const payload of payloads) {
    from.send(payload, { payloadType });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await to.peer.heard(before + count);
  return payloads;
}

/** The payloads that the party received last. */
const heard = (party: Party, count: number) => party.packets.slice(-count).map(({ payload }) => payload);

describe('a relay', () => {
  test('passes audio both ways unchanged, and no packet enters this process', async () => {
    const { one, other } = await relayed();
    const before = media().stats().packetsHere;
    const toOther = await say(one.peer, other, 50);
    const toOne = await say(other.peer, one, 50);
    expect(heard(other, 50)).toEqual(toOther);
    expect(heard(one, 50)).toEqual(toOne);
    expect(new Set(one.packets.map(({ ssrc }) => ssrc)).size).toBe(1);
    expect(media().stats().packetsHere).toBe(before);
  });

  test('gives each peer its own payload types', async () => {
    const { one, other } = await relayed(opus(107, 96), opus(111, 101));
    const toOther = await say(one.peer, other, 10, 107);
    const toOne = await say(other.peer, one, 10, 111);
    expect(heard(other, 10)).toEqual(toOther);
    expect(heard(one, 10)).toEqual(toOne);
    expect(new Set(other.packets.map(({ payloadType }) => payloadType))).toEqual(new Set([111]));
    expect(new Set(one.packets.map(({ payloadType }) => payloadType))).toEqual(new Set([107]));
  });

  test('passes key presses under the payload type of each peer', async () => {
    const { one, other } = await relayed(opus(107, 96), opus(111, 101));
    await say(one.peer, other, 3, 107);
    await say(other.peer, one, 3, 111);
    const pressed = Buffer.from([5, 0x8a, 0x12, 0xc0]);
    one.peer.send(pressed, { payloadType: 96, marker: true });
    other.peer.send(pressed, { payloadType: 101, marker: true });
    await Promise.all([one.peer.heard(4), other.peer.heard(4)]);
    expect(other.packets.at(-1)).toMatchObject({ payloadType: 101, marker: true, payload: pressed });
    expect(one.packets.at(-1)).toMatchObject({ payloadType: 96, marker: true, payload: pressed });
  });

  test('joins an answering leg with an offering one', async () => {
    const one = await party(opus(107, 96));
    const peer = await newPeer();
    const leg = await newLeg({ codecs: ['Opus'], beside: one.leg });
    const offer = await leg.offer();
    const answer = peer.sdp({ formats: '96 110', rtpmaps: ['96 opus/48000/2', '110 telephone-event/48000'] });
    peer.connect(offer);
    await leg.accept(answer);
    const bridge = await media().bridge(one.leg, leg, { transcode: false });
    expect(bridge.mode).toBe('relayed');
    const sent = Number(/^m=audio \d+ RTP\/SAVP (\d+)/m.exec(offer)?.[1]);
    await say(peer, one, 5, sent);
    expect(one.packets.at(-1)?.payloadType).toBe(107);
  });

  test('keeps decrypting a stream whose sequence number has already rolled over', async () => {
    const one = await party({ ...pcmu, peer: { sequence: 65_500 } });
    const other = await party(pcmu, { beside: one.leg });
    const ear = listener();
    one.leg.attach(ear.endpoint);
    for (let sent = 0; sent < 100; sent++) {
      one.peer.send(Buffer.alloc(160, 1));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => one.leg.report().packets_received).toBe(100);
    const bridge = await media().bridge(one.leg, other.leg, { transcode: false });
    await say(one.peer, other, 20);
    bridge.close();
    const before = ear.loudFrames();
    while (ear.loudFrames() < before + 5) await one.peer.play(one.peer.toneFrames(500, 5));
  });

  test('mutes the endpoints of both legs, and rejects key presses from us', async () => {
    const one = await party();
    const other = await party(pcmu, { beside: one.leg });
    const ear = listener();
    one.leg.attach(ear.endpoint);
    other.leg.attach(toneEndpoint(440));
    await other.peer.heard(3);
    await media().bridge(one.leg, other.leg, { transcode: false });
    other.leg.attach(toneEndpoint(660));
    const before = ear.loudFrames();
    const payloads = await say(one.peer, other, 20);
    // The endpoint's last packets arrived before the relay's first.
    expect(heard(other, 20)).toEqual(payloads);
    expect(ear.loudFrames()).toBe(before);
    await expect(other.leg.sendDtmf('1')).rejects.toThrow('bridged');
  });
});

describe('the reports of relayed legs', () => {
  test('add what the worker passed on to what was counted before', async () => {
    const one = await party();
    const other = await party(pcmu, { beside: one.leg });
    one.leg.attach(listener().endpoint);
    await one.peer.play(one.peer.toneFrames(500, 10));
    await expect.poll(() => one.leg.report().packets_received).toBe(10);
    const sentBefore = one.leg.report().packets_sent;
    await media().bridge(one.leg, other.leg, { transcode: false });
    await Promise.all([
      one.peer.play(one.peer.toneFrames(500, 30)),
      other.peer.play(other.peer.toneFrames(500, 20)),
    ]);
    await expect.poll(() => one.leg.report().packets_received).toBe(40);
    await expect.poll(() => other.leg.report().packets_received).toBe(20);
    expect(one.leg.report()).toMatchObject({ verdict: 'two_way', cause: null, packets_lost: 0 });
    expect(other.leg.report()).toMatchObject({ verdict: 'two_way', packets_sent: 30 });
    expect(one.leg.report().packets_sent).toBeGreaterThanOrEqual(sentBefore + 20);
    expect(one.leg.report().mos).not.toBeNull();
    expect(other.leg.report().jitter_ms).not.toBeNull();
  });

  test('say how long a peer has been silent', async () => {
    const { one, other } = await relayed();
    await expect.poll(() => one.leg.silentForMs()).toBeGreaterThan(600);
    const silent = other.leg.silentForMs();
    while (one.leg.silentForMs() > 400) await one.peer.play(one.peer.toneFrames(500, 5));
    expect(other.leg.silentForMs()).toBeGreaterThan(silent);
  });

  test('count RTCP of a listen-only peer as a sign of life, for that peer alone', async () => {
    const { one, other } = await relayed();
    await expect.poll(() => other.leg.silentForMs()).toBeGreaterThan(700);
    const reports = performance.now();
    other.peer.report();
    await expect.poll(() => heardSince(other.leg, reports)).toBe(true);
    expect(one.leg.silentForMs()).toBeGreaterThan(other.leg.silentForMs());
    expect(other.leg.report().packets_received).toBe(0);
  });

  test('include the round trip to each peer', async () => {
    const began = performance.now();
    const { one, other } = await relayed();
    while (!other.peer.senderReported) await one.peer.play(one.peer.toneFrames(500, 5));
    while (other.leg.report().round_trip_ms === null) {
      other.peer.report();
      await one.peer.play(one.peer.toneFrames(500, 5));
    }
    expect(other.leg.report().round_trip_ms).toBeLessThan(performance.now() - began);
  });
});

describe('a re-INVITE on a relayed leg', () => {
  test('holds: the holder gets nothing and is heard, until it resumes', async () => {
    const { one, other } = await relayed();
    const here = media().stats().packetsHere;
    await say(other.peer, one, 5);
    await one.leg.answer(one.peer.sdp({ direction: 'sendonly' }));
    expect(one.leg.held).toBe(true);
    const before = one.peer.packets;
    for (const payload of other.peer.toneFrames(500, 10)) other.peer.send(payload);
    // The holder's music arrives after everything sent to the holder.
    await say(one.peer, other, 10);
    expect(one.peer.packets).toBe(before);
    await one.leg.answer(one.peer.sdp());
    await say(other.peer, one, 10);
    expect(media().stats().packetsHere).toBe(here);
  });

  test('moves: the bridge follows to the new address and the new keys', async () => {
    const { one, other } = await relayed();
    const here = media().stats().packetsHere;
    await say(one.peer, other, 5);
    const moved = { ...one, peer: await newPeer() };
    moved.peer.connect(await one.leg.answer(moved.peer.sdp()));
    await say(moved.peer, other, 10);
    await say(other.peer, moved, 10);
    expect(media().stats().packetsHere).toBe(here);
  });

  test('is rejected with 488 when it leaves no common codec, and the bridge continues', async () => {
    const one = await party(pcmu, { codecs: ['PCMU', 'PCMA'] });
    const other = await party(pcmu, { beside: one.leg });
    const failures: CallRefused[] = [];
    await media().bridge(one.leg, other.leg, { transcode: false, failed: (error) => failures.push(error) });
    const offer = one.peer.sdp({ formats: '8', rtpmaps: ['8 PCMA/8000'] });
    await expect(one.leg.answer(offer)).rejects.toMatchObject({
      sipStatus: 488,
      message: expect.stringMatching(/PCMA.*PCMU/),
    });
    await say(one.peer, other, 5);
    expect(failures).toEqual([]);
  });

  test('to another codec switches a bridge that may transcode to transcoding, and back', async () => {
    const one = await party(pcmu, { codecs: ['PCMU', 'PCMA'] });
    const other = await party(pcmu, { beside: one.leg });
    const bridge = await media().bridge(one.leg, other.leg, { transcode: true });
    expect(bridge.mode).toBe('relayed');
    const moved = await newPeer();
    moved.connect(await one.leg.answer(moved.sdp({ formats: '8', rtpmaps: ['8 PCMA/8000'] })));
    expect(bridge.mode).toBe('transcoded');
    const before = other.peer.packets;
    await other.peer.heard(before + 10);
    moved.connect(await one.leg.answer(moved.sdp({ formats: '0', rtpmaps: ['0 PCMU/8000'] })));
    expect(bridge.mode).toBe('relayed');
    const payloads = await say(moved, other, 10);
    expect(heard(other, 10)).toEqual(payloads);
  });
});

test('a peer that changes its SSRC is relayed again', async () => {
  const { one, other } = await relayed();
  const here = media().stats().packetsHere;
  await say(one.peer, other, 10);
  one.peer.ssrc = (one.peer.ssrc + 1) >>> 0;
  const before = other.peer.packets;
  while (other.peer.packets < before + 10) await one.peer.play(one.peer.toneFrames(500, 5));
  expect(media().stats().packetsHere).toBe(here);
});

describe('the end of a bridge', () => {
  test('returns both legs to their endpoints, whose streams continue', async () => {
    const one = await party();
    const other = await party(pcmu, { beside: one.leg });
    const ear = listener();
    one.leg.attach(ear.endpoint);
    other.leg.attach(toneEndpoint(440));
    await other.peer.heard(5);
    const bridge = await media().bridge(one.leg, other.leg, { transcode: false });
    await say(one.peer, other, 5);
    bridge.close();
    bridge.close();
    const relayed = other.peer.packets;
    await other.peer.heard(relayed + 10);
    const ssrc = other.packets[0]?.ssrc;
    const ours = other.packets.filter((packet) => packet.ssrc === ssrc);
    const numbers = ours.map(({ sequence }) => (sequence - (ours[0]?.sequence ?? 0)) & 0xffff);
    expect(numbers).toEqual(ours.map((_, index) => index));
    expect(other.packets.at(-1)?.ssrc).toBe(ssrc);
    expect(other.packets[relayed]).toMatchObject({ ssrc, marker: true });
    expect(other.peer.stats.undecryptable).toBe(0);
    await one.peer.play(one.peer.toneFrames(500, 10));
    await expect.poll(() => ear.loudFrames()).toBeGreaterThan(0);
    await expect.poll(() => one.leg.report().packets_received).toBe(15);
    expect(one.leg.report().packets_lost).toBe(0);
    expect(other.leg.report().packets_sent).toBeGreaterThan(10);
  });

  test('follows the end of either leg, and the other leg continues', async () => {
    const { one, other } = await relayed();
    other.leg.attach(toneEndpoint(440));
    one.leg.close();
    await other.peer.heard(10);
    const again = await party(pcmu, { beside: other.leg });
    const bridge = await media().bridge(again.leg, other.leg, { transcode: false });
    await say(again.peer, other, 5);
    bridge.close();
  });

  test('follows the death of the worker, which each leg reports once', async () => {
    const own = await createMedia({ ...options, portMin: 31_700, portMax: 31_799 });
    try {
      const seen: string[] = [];
      const peers = [await newPeer(), await newPeer()];
      const legs = [];
      for (const [index, peer] of peers.entries()) {
        const failed = () => void seen.push(`leg ${index}`);
        const leg = await own.createLeg({ callId: `${index}`, codecs: ['PCMU'], failed });
        peer.connect(await leg.answer(peer.sdp()));
        legs.push(leg);
      }
      const [one, other] = legs;
      if (!one || !other) throw new Error('no legs');
      await own.bridge(one, other, { transcode: true, failed: () => void seen.push('bridge') });
      process.kill(own.stats().workers[0]?.pid ?? 0, 'SIGKILL');
      await expect.poll(() => own.stats().legs).toBe(0);
      expect(seen.sort()).toEqual(['leg 0', 'leg 1']);
      expect(own.stats().ports.inUse).toBe(0);
    } finally {
      await own.close();
    }
  });

  test('leaves nothing in the worker: 50 bridges, closed in all orders', async () => {
    const before = await media().workerObjects();
    for (let i = 0; i < 50; i++) {
      const one = await party();
      const other = await party(i % 5 === 0 ? opus(107, 96) : pcmu, { beside: one.leg });
      const joining = media().bridge(one.leg, other.leg, { transcode: true });
      if (i % 4 === 0) one.leg.close();
      const bridge = await joining.catch(() => null);
      expect(bridge === null).toBe(i % 4 === 0);
      if (i % 4 === 1) bridge?.close();
      if (i % 4 === 2) other.leg.close();
      one.leg.close();
      other.leg.close();
      closePeers();
    }
    await expect.poll(() => media().workerObjects()).toEqual(before);
    expect(media().stats()).toMatchObject({ legs: 0, ports: { inUse: 0 } });
  });
});

describe('a bridge is rejected', () => {
  test('with 488 and both names when the codecs differ and may not be transcoded', async () => {
    const one = await party();
    const other = await party(opus(107, 96), { beside: one.leg });
    one.leg.attach(toneEndpoint(440));
    const joined = media().bridge(one.leg, other.leg, { transcode: false });
    await expect(joined).rejects.toMatchObject({
      name: 'CallRefused',
      sipStatus: 488,
      message: 'No common codec: one leg has PCMU, the other Opus, and transcoding is off',
    });
    await one.peer.heard(5);
  });

  test('while a leg has no media', async () => {
    const one = await party();
    const other = await newLeg();
    await expect(media().bridge(one.leg, other, { transcode: true })).rejects.toBeInstanceOf(CallRefused);
  });

  test('when a leg is already in a bridge, which continues', async () => {
    const { one, other } = await relayed();
    const third = await party(pcmu, { beside: one.leg });
    await expect(media().bridge(third.leg, other.leg, { transcode: true })).rejects.toThrow(
      'already in a bridge',
    );
    await say(one.peer, other, 5);
    await media().bridge(third.leg, (await party(pcmu, { beside: one.leg })).leg, { transcode: false });
  });
});
