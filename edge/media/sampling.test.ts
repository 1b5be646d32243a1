/** Quality samples of legs on a real media worker, against an SRTP endpoint that loses and delays a known part. */
import { describe, expect, test } from 'vitest';
import { loopback } from '../../test/kit/edge/loopback.ts';
import {
  echoEndpoint,
  listener,
  pcmu,
  testOptions,
  toneEndpoint,
  useMedia,
} from '../../test/kit/edge/media.ts';
import { FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import type { SrtpPeer } from '../../test/kit/fakes/srtp-peer.ts';
import type { AudioEndpoint, LegSample } from '../call/ports/media.ts';
import { carry } from './rtp/emulated-network.ts';

const { media, newPeer, newLeg, party } = useMedia(testOptions(32_200));

/** A leg that is sampled, in a call with a peer. */
async function sampled(endpoint: AudioEndpoint | null) {
  const samples: LegSample[] = [];
  const peer = await newPeer();
  const leg = await newLeg({ sampled: (sample) => samples.push(sample) });
  peer.connect(await leg.answer(peer.sdp()));
  leg.attach(endpoint);
  return { peer, leg, samples };
}

const sum = (samples: readonly LegSample[], count: 'received' | 'lost' | 'sent') =>
  samples.reduce((total, sample) => total + sample[count], 0);

/** Sends these packets of a stream, and omits the others. */
async function sendOnly(peer: SrtpPeer, packets: readonly number[]): Promise<void> {
  const [payload = Buffer.alloc(160)] = peer.toneFrames(500, 1);
  const first = peer.sequence;
  for (const packet of packets) {
    peer.sequence = (first + packet) & 0xffff;
    peer.send(payload);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Of 200 packets, those that a network with a loss of 10 % delivers; the first and the last always arrive. */
const delivered = carry(
  Array.from({ length: 198 }, (_, index) => ({ atMs: index * 20, packet: index + 1 })),
  { seed: 5, loss: 0.1 },
).map(({ packet }) => packet);
const arriving = [0, ...delivered, 199];

describe('samples of a leg', () => {
  test('count exactly the packets that arrive and those that are missing', async () => {
    expect(arriving.length).toBeLessThan(190);
    const { peer, leg, samples } = await sampled(listener().endpoint);
    await sendOnly(peer, arriving);
    await expect.poll(() => leg.report().packets_received).toBe(arriving.length);
    expect(sum(samples, 'received')).toBe(arriving.length);
    expect(sum(samples, 'lost')).toBe(200 - arriving.length);
  });

  test('come every 5 seconds by themselves, and once more with the report', async () => {
    const { leg, samples } = await sampled(toneEndpoint(440));
    await expect.poll(() => samples.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
    const [one, two] = samples;
    if (!one || !two) throw new Error('no samples');
    expect(one.durationMs).toBeGreaterThanOrEqual(4900);
    expect(two.at - two.durationMs).toBeCloseTo(one.at, 3);
    const before = samples.length;
    const report = leg.report();
    expect(samples.length).toBe(before + 1);
    expect(sum(samples, 'sent')).toBe(report.packets_sent);
  });

  test('have the level of a tone, to the peer and from it', async () => {
    const echo = echoEndpoint();
    const { read } = toneEndpoint(440);
    const { peer, leg, samples } = await sampled({ ...echo, read });
    // 12,000 of 32,768 is 8.7 dB below full scale, and the mean power of a sine is 3 dB below its peak.
    const level = 20 * Math.log10(12_000 / 32_768) - 10 * Math.log10(2);
    const isOn = (value: number | null | undefined) => Math.abs((value ?? 0) - level) < 0.5;
    // A sample in which the peer's tone was there from its beginning to its end; a stall of this machine is a gap in it.
    for (let attempt = 0; attempt < 40 && !isOn(samples.at(-1)?.levelReceived); attempt++) {
      await peer.play(peer.toneFrames(500, 50));
      leg.report();
    }
    expect(samples.at(-1)?.levelReceived).toBeGreaterThan(level - 0.5);
    expect(samples.at(-1)?.levelReceived).toBeLessThan(level + 0.5);
    expect(samples.at(-1)?.levelSent).toBeCloseTo(level, 1);
    expect(samples.at(-1)?.bufferMs).toBeGreaterThan(0);
    expect(samples.at(-1)?.clockLateMs).toBeGreaterThanOrEqual(0);
  });

  test('have no level of a peer that nobody listens to, and that of silence while the agent is silent', async () => {
    const { peer, leg, samples } = await sampled({ sampleRate: 8000, read: () => false });
    await peer.heard(5);
    leg.report();
    expect(samples.at(-1)).toMatchObject({ levelReceived: null, bufferMs: null, levelSent: -127 });
  });

  test('show the jitter of a path that delays every second packet by 15 ms', async () => {
    const peer = await newPeer();
    const samples: LegSample[] = [];
    const leg = await newLeg({ sampled: (sample) => samples.push(sample) });
    peer.connect(await leg.answer(peer.sdp()));
    leg.attach(listener().endpoint);
    const frames = peer.toneFrames(500, 150);
    const start = performance.now();
    for (const [index, payload] of frames.entries()) {
      const due = start + index * 20 + (index % 2) * 15;
      while (performance.now() < due)
        await new Promise((resolve) => setTimeout(resolve, Math.max(1, due - performance.now())));
      peer.send(payload);
    }
    await expect.poll(() => leg.report().packets_received).toBe(150);
    expect(Math.max(...samples.map(({ jitterMs }) => jitterMs ?? 0))).toBeGreaterThan(8);
  });

  test('have the loss that the peer reports, and the score of it by the E-model', async () => {
    const { peer, leg, samples } = await sampled(toneEndpoint(440));
    await peer.play(peer.toneFrames(500, 5));
    while (!peer.senderReported) await peer.heard(peer.packets + 10);
    // Up to 100 ms from mouth to ear, delay costs nothing.
    const lossy = () =>
      samples.findLast(
        ({ peerLossPercent, roundTripMs }) => peerLossPercent !== null && (roundTripMs ?? 99) < 80,
      );
    while (!lossy()) {
      peer.report(0.125);
      await peer.heard(peer.packets + 25);
      leg.report();
    }
    expect(lossy()?.peerLossPercent).toBe(12.5);
    // G.107 by hand: 95 x 12.5 / (12.5 + 25.1) = 31.58; R = 93.2 - 31.58 = 61.62; MOS = 3.18.
    expect(lossy()?.mosSent).toBeCloseTo(3.18, 2);
    expect(lossy()?.roundTripMs).toBeGreaterThan(0);
  });

  test('say that the call is on hold, by the peer and by us', async () => {
    const { peer, leg, samples } = await sampled(toneEndpoint(440));
    leg.report();
    await leg.answer(peer.sdp({ direction: 'sendonly' }));
    leg.report();
    await leg.answer(peer.sdp());
    leg.report();
    leg.hold(true);
    await leg.offer();
    await leg.accept(peer.sdp({ direction: 'recvonly' }));
    leg.report();
    expect(samples.map(({ held }) => held)).toEqual([false, true, false, true]);
  });
});

test('samples of a leg in a shard arrive before its report, on the clock of the main thread', async () => {
  const samples: LegSample[] = [];
  const { shard } = loopback(media(), new FakeAgents());
  const peer = await newPeer();
  const began = performance.now();
  const leg = await shard.createLeg({
    callId: 'of a shard',
    codecs: ['PCMU'],
    sampled: (sample) => samples.push(sample),
  });
  peer.connect(await leg.answer(peer.sdp()));
  await sendOnly(peer, [0, 1, 2]);
  await leg.report();
  expect(samples).toHaveLength(1);
  expect(samples[0]?.at).toBeGreaterThan(began);
  expect(samples[0]?.at).toBeLessThanOrEqual(performance.now());
  leg.close();
});

describe('samples of two legs', () => {
  test('that are relayed have the counts of the media worker, as no packet enters this process', async () => {
    const ofOne: LegSample[] = [];
    const ofOther: LegSample[] = [];
    const one = await party(pcmu, { sampled: (sample) => ofOne.push(sample) });
    const other = await party(pcmu, { beside: one.leg, sampled: (sample) => ofOther.push(sample) });
    const bridge = await media().bridge(one.leg, other.leg, { transcode: false });
    expect(bridge.mode).toBe('relayed');
    const { packetsHere } = media().stats();
    await sendOnly(one.peer, arriving);
    await other.peer.heard(arriving.length);
    await expect.poll(() => one.leg.report().packets_received).toBe(arriving.length);
    await expect.poll(() => other.leg.report().packets_sent).toBe(arriving.length);
    expect(media().stats().packetsHere).toBe(packetsHere);
    expect(ofOne.at(-1)).toMatchObject({
      relayed: true,
      levelReceived: null,
      levelSent: null,
      bufferMs: null,
    });
    expect(ofOne.at(-1)?.clockLateMs).toBeNull();
    expect(sum(ofOne, 'received')).toBe(arriving.length);
    // The worker counts what is missing when it sends a receiver report, every few seconds.
    const lost = () => {
      one.leg.report();
      return sum(ofOne, 'lost');
    };
    await expect.poll(lost, { interval: 200 }).toBe(200 - arriving.length);
    expect(sum(ofOther, 'sent')).toBe(arriving.length);
    expect(sum(ofOther, 'received')).toBe(0);
  });

  test('in a conference have the levels of the party and of what it hears', async () => {
    const ofOne: LegSample[] = [];
    const ofOther: LegSample[] = [];
    const one = await party(pcmu, { sampled: (sample) => ofOne.push(sample) });
    const other = await party(pcmu, { sampled: (sample) => ofOther.push(sample) });
    const room = media().openRoom(one.leg);
    room.enter(one.leg, false);
    room.enter(other.leg, false);
    while (!ofOther.some(({ levelSent }) => (levelSent ?? -127) > -40)) {
      await one.peer.play(one.peer.toneFrames(500, 25));
      one.leg.report();
      other.leg.report();
    }
    expect(Math.max(...ofOne.map(({ levelReceived }) => levelReceived ?? -127))).toBeGreaterThan(-40);
    expect(Math.max(...ofOther.map(({ levelReceived }) => levelReceived ?? -127))).toBeLessThan(-60);
  });
});
