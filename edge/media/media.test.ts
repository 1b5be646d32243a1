/** Legs on a real media worker, against an SRTP endpoint that shares no code with them. */

import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { frequencyOf, share } from '../../test/fakes/audio.ts';
import { acceptTestWorker, testWorkerBin } from '../../test/fakes/media-worker.ts';
import { SrtpPeer, type SrtpPeerOptions } from '../../test/fakes/srtp-peer.ts';
import { type AudioEndpoint, CallRefused, type DtmfEvent, type MediaLeg } from '../call/ports.ts';
import { createMedia, type MediaOptions, type RunningMedia } from './media.ts';

const ip = '127.0.0.1';
const options: MediaOptions = {
  listenIp: ip,
  publicIp: null,
  portMin: 21_000,
  portMax: 21_999,
  portRestMs: 0,
  workers: 1,
  workerRestartDelayMs: 0,
  drainMs: 100,
  workerBin: testWorkerBin(),
  acceptUnmarkedWorker: acceptTestWorker(),
};

let media: RunningMedia;
const peers: SrtpPeer[] = [];
const legs: MediaLeg[] = [];

beforeAll(async () => {
  media = await createMedia(options);
});
afterEach(() => {
  for (const leg of legs.splice(0)) leg.close();
  for (const peer of peers.splice(0)) peer.close();
});
afterAll(() => media.close());

async function newPeer(peerOptions: SrtpPeerOptions = {}): Promise<SrtpPeer> {
  const peer = await SrtpPeer.open(peerOptions);
  peers.push(peer);
  return peer;
}

async function newLeg(
  more: { failed?: (error: Error) => void; signalingAddress?: string } = {},
): Promise<MediaLeg> {
  const leg = await media.createLeg({ callId: 'test', codecs: ['PCMU', 'PCMA'], ...more });
  legs.push(leg);
  return leg;
}

/** A peer in a call with a leg that answered its offer. */
async function call(endpoint: AudioEndpoint | null = null, peerOptions: SrtpPeerOptions = {}) {
  const peer = await newPeer(peerOptions);
  const leg = await newLeg();
  peer.connect(await leg.answer(peer.sdp()));
  leg.attach(endpoint);
  return { peer, leg };
}

/** An endpoint that speaks a tone. */
function toneEndpoint(hz: number): AudioEndpoint {
  let at = 0;
  return {
    sampleRate: 8000,
    read(frame) {
      for (let i = 0; i < frame.length; i++) frame[i] = 12_000 * Math.sin((2 * Math.PI * hz * at++) / 8000);
      return true;
    },
  };
}

/** An endpoint that says back what it hears. */
function echoEndpoint(): AudioEndpoint {
  const heard: Int16Array[] = [];
  return {
    sampleRate: 8000,
    read(frame) {
      const next = heard.shift();
      if (next) frame.set(next);
      return next !== undefined;
    },
    write: (frame) => void heard.push(frame.slice()),
  };
}

/** An endpoint that only listens, and what it hears. */
function listener() {
  const events: DtmfEvent[] = [];
  const waiting: (() => void)[] = [];
  let frames = 0;
  const endpoint: AudioEndpoint = {
    sampleRate: 8000,
    read: () => false,
    write(frame) {
      if (frame.some((sample) => Math.abs(sample) > 1000)) frames++;
    },
    dtmf(event) {
      events.push(event);
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
  return {
    endpoint,
    events,
    loudFrames: () => frames,
    nextEvent: () => new Promise<void>((resolve) => void waiting.push(resolve)),
  };
}

describe('audio', () => {
  test('of a tone endpoint arrives with the right frequency and without loss', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.heard(60);
    expect(leg.codec).toBe('PCMU');
    const samples = peer.samples(8000);
    expect(frequencyOf(samples)).toBeCloseTo(440, 0);
    expect(share(samples, 440)).toBeGreaterThan(0.98);
    expect(peer.stats).toMatchObject({ lost: 0, undecryptable: 0 });
  });

  test('goes both ways: an echo endpoint says back the tone of the peer', async () => {
    const { peer, leg } = await call(echoEndpoint());
    await peer.play(peer.toneFrames(500, 60));
    await peer.when(() => share(peer.samples(4000), 500) > 0.95);
    expect(Math.abs(frequencyOf(peer.samples(4000)) - 500)).toBeLessThan(5);
    const report = leg.report();
    expect(report).toMatchObject({ verdict: 'two_way', cause: null, packets_received: 60, packets_lost: 0 });
    expect(report.packets_sent).toBeGreaterThanOrEqual(peer.packets);
    expect(report.mos).toBeGreaterThan(4);
    expect(leg.silentForMs()).toBeLessThan(2000);
  });

  test('is silence, but goes out, while the endpoint has nothing to say', async () => {
    const { peer } = await call(listener().endpoint);
    await peer.heard(15);
    expect(peer.samples().every((sample) => sample === 0)).toBe(true);
  });

  test('is sent to a peer that says nothing itself, when its address can be reached', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.heard(5);
    expect(leg.report()).toMatchObject({ verdict: 'send_only', packets_received: 0 });
  });

  test('follows the first packet of a peer behind NAT', async () => {
    const peer = await newPeer();
    const leg = await newLeg({ signalingAddress: '203.0.113.7' });
    leg.attach(toneEndpoint(440));
    peer.connect(await leg.answer(peer.sdp({ address: '192.168.7.7' })));
    peer.send(peer.toneFrames(500, 1)[0] ?? Buffer.alloc(160));
    await peer.heard(5);
    expect(peer.stats.undecryptable).toBe(0);
  });

  test('is passed under the payload types of the offer', async () => {
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

  test('goes on over the rollover of the sequence number, and over many of them', async () => {
    const { peer, leg } = await call(echoEndpoint(), { sequence: 65_500 });
    const payload = peer.toneFrames(500, 1)[0] ?? Buffer.alloc(160);
    let sent = 0;
    while (sent < 135_000) {
      for (let i = 0; i < 500; i++, sent++) peer.send(payload);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const before = leg.report().packets_received;
    // Bursts overrun socket buffers; what matters is that packets of the second turn are still decrypted.
    for (let i = 0; i < 50; i++) {
      peer.send(payload);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await peer.when(() => leg.report().packets_received >= before + 50);
    expect(peer.sequence).toBe((65_500 + 135_050) % 65_536);
  });

  test('of a peer that changes its SSRC in mid-call is heard again', async () => {
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

describe('packets that are not of the call', () => {
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
    // The sender's own reports come in order after all of the above.
    await peer.heard(15);
    expect(leg.report().packets_received).toBe(1);
  });

  test('are named as the cause when nothing else came', async () => {
    const { peer, leg } = await call(listener().endpoint);
    peer.rekey();
    const frames = peer.toneFrames(500, 10);
    while (!leg.report().cause?.includes('none was usable')) await peer.play(frames);
    expect(leg.report()).toMatchObject({ verdict: 'send_only', packets_received: 0, mos: null });
  });
});

describe('key presses', () => {
  test('of the peer reach the endpoint once each, although packets are lost', async () => {
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

  test('of ours arrive with their duration and three end packets, in place of audio', async () => {
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

  test('go out even when no endpoint is attached', async () => {
    const { peer, leg } = await call(null);
    await leg.sendDtmf('7');
    await peer.when(() => peer.events[0]?.endPackets === 3);
    expect(media.stats().legs).toBe(1);
  });

  test('that are no keys, or that the peer cannot take, are refused', async () => {
    const { leg } = await call(null);
    await expect(leg.sendDtmf('x')).rejects.toThrow(RangeError);
    const peer = await newPeer();
    const other = await newLeg();
    await other.answer(peer.sdp({ formats: '0', rtpmaps: ['0 PCMU/8000'] }));
    await expect(other.sendDtmf('1')).rejects.toThrow('telephone-event');
  });

  test('that still wait when the call ends are given up without an error', async () => {
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
    expect(media.stats().ports.inUse).toBe(1);
  });

  test('with another address and other keys gets new ports and keys, and the old ones are given back', async () => {
    const { peer, leg } = await call(echoEndpoint());
    await peer.play(peer.toneFrames(500, 5));
    const moved = await newPeer();
    const before = await leg.answer(peer.sdp());
    const answer = await leg.answer(moved.sdp());
    expect(mediaLine(answer)).not.toBe(mediaLine(before));
    expect(answer.match(/inline:.*/)?.[0]).not.toBe(before.match(/inline:.*/)?.[0]);
    moved.connect(answer);
    await moved.play(moved.toneFrames(600, 50));
    await moved.when(() => share(moved.samples(1600), 600) > 0.9 && leg.report().packets_received === 55);
    expect(media.stats().ports.inUse).toBe(1);
    expect(leg.report()).toMatchObject({ packets_received: 55, packets_lost: 0 });
  });

  test('that cannot be accepted leaves the session as it was', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    const plain = peer.sdp().replace('RTP/SAVP', 'RTP/AVP');
    await expect(leg.answer(plain)).rejects.toMatchObject({ sipStatus: 488, warning: expect.any(String) });
    const before = peer.packets;
    await peer.heard(before + 5);
    expect(peer.stats.undecryptable).toBe(0);
    expect(media.stats().ports.inUse).toBe(1);
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
    await peer.play(peer.toneFrames(500, 40));
    await peer.when(() => share(peer.samples(1600), 500) > 0.9);
    const refresh = await leg.offer();
    expect(mediaLine(refresh).split(' ').slice(0, 2)).toEqual(mediaLine(offer).split(' ').slice(0, 2));
    await leg.accept(peer.sdp());
    await peer.heard(peer.packets + 5);
  });

  test('whose answer is unusable is refused', async () => {
    const peer = await newPeer();
    const leg = await newLeg();
    await leg.offer();
    await expect(leg.accept(peer.sdp().replace(/a=crypto.*\r\n/, ''))).rejects.toThrow(CallRefused);
  });

  test('when the peer moves in an answer to a refresh, that is refused', async () => {
    const { leg } = await call(null);
    await leg.offer();
    const moved = await newPeer();
    await expect(leg.accept(moved.sdp())).rejects.toMatchObject({ sipStatus: 488 });
  });
});

describe('round trip', () => {
  test('is measured from the receiver reports of the peer', async () => {
    const { peer, leg } = await call(toneEndpoint(440));
    await peer.play(peer.toneFrames(500, 5));
    while (!peer.senderReported) await peer.heard(peer.packets + 10);
    peer.report();
    while (leg.report().round_trip_ms === null) await peer.heard(peer.packets + 10);
    expect(leg.report().round_trip_ms).toBeGreaterThan(0);
    expect(leg.report().round_trip_ms).toBeLessThan(500);
  });
});

describe('the end', () => {
  test('gives back ports, worker objects and descriptors, whatever way the calls went', async () => {
    const round = async () => {
      const { peer, leg } = await call(echoEndpoint());
      await peer.play(peer.toneFrames(500, 2));
      const moved = await newPeer();
      await leg.answer(moved.sdp());
      leg.close();
      leg.close();
      const failing = await newLeg();
      await expect(failing.answer(moved.sdp({ address: '999.1.1.1' }))).resolves.toBeTypeOf('string');
      failing.close();
      const cut = await newLeg();
      const pending = cut.answer(moved.sdp());
      cut.close();
      await expect(pending).rejects.toThrow('closed');
      const offering = await newLeg();
      await offering.offer();
      offering.close();
      for (const done of peers.splice(0)) done.close();
    };
    await round();
    const objects = await media.workerObjects();
    const descriptors = openDescriptors();
    for (let i = 0; i < 10; i++) await round();
    expect(media.stats()).toMatchObject({ legs: 0, ports: { inUse: 0 }, workers: [{ legs: 0 }] });
    expect(await media.workerObjects()).toEqual(objects);
    expect(openDescriptors()).toEqual(descriptors);
  });

  test('of free ports is a 503 that tells how many are in use, and a closed call frees its pair', async () => {
    const small = await createMedia({ ...options, portMin: 22_000, portMax: 22_001 });
    try {
      const peer = await newPeer();
      const first = await small.createLeg({ callId: 'a', codecs: ['PCMU'] });
      const second = await small.createLeg({ callId: 'b', codecs: ['PCMU'] });
      await first.answer(peer.sdp());
      await expect(second.answer(peer.sdp())).rejects.toMatchObject({
        sipStatus: 503,
        message: expect.stringContaining('1 of 1 pairs are in use'),
      });
      await expect(small.createLeg({ callId: 'c', codecs: ['PCMU'] })).rejects.toMatchObject({
        sipStatus: 503,
      });
      first.close();
      expect(await second.answer(peer.sdp())).toContain('m=audio 22000 ');
    } finally {
      await small.close();
    }
  });

  test('of a worker fails its legs once, gives back their ports, and a new worker takes calls', async () => {
    const own = await createMedia({ ...options, portMin: 22_100, portMax: 22_199 });
    try {
      const peer = await newPeer();
      const failures: string[] = [];
      let told = () => {};
      const failed = new Promise<void>((resolve) => {
        told = resolve;
      });
      const leg = await own.createLeg({
        callId: 'a',
        codecs: ['PCMU'],
        failed(error) {
          failures.push(error.message);
          told();
        },
      });
      peer.connect(await leg.answer(peer.sdp()));
      leg.attach(toneEndpoint(440));
      await peer.heard(3);
      const pid = own.stats().workers[0]?.pid ?? 0;
      process.kill(pid, 'SIGKILL');
      await failed;
      expect(failures).toEqual([expect.stringContaining('media worker died')]);
      expect(own.stats()).toMatchObject({ legs: 0, ports: { inUse: 0 }, workerDeaths: 1 });
      await expect(leg.answer(peer.sdp())).rejects.toThrow('media worker died');
      leg.close();
      while (own.stats().workers.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const next = await own.createLeg({ callId: 'b', codecs: ['PCMU'] });
      peer.connect(await next.answer(peer.sdp()));
      next.attach(toneEndpoint(440));
      await peer.heard(peer.packets + 5);
    } finally {
      await own.close();
    }
  });

  test('of an endpoint that throws ends the call and not the others', async () => {
    const { peer } = await call(toneEndpoint(440));
    const broken = await newPeer();
    const error = await new Promise<Error>((resolve, reject) => {
      newLeg({ failed: resolve })
        .then(async (leg) => {
          await leg.answer(broken.sdp());
          leg.attach({
            sampleRate: 8000,
            read() {
              throw new Error('broken agent');
            },
          });
        })
        .catch(reject);
    });
    expect(error.message).toBe('broken agent');
    await peer.heard(peer.packets + 5);
    expect(media.stats().legs).toBe(1);
  });
});

describe('starting', () => {
  test('leaves SIGTERM and SIGINT to the edge, which drains', () => {
    expect(process.listeners('SIGTERM').map(String).join()).not.toContain('closing the worker');
    expect(process.listeners('SIGINT').map(String).join()).not.toContain('closing the worker');
  });

  test('is refused with a worker that is missing', async () => {
    await expect(createMedia({ ...options, workerBin: '/nowhere/worker' })).rejects.toThrow(
      '/nowhere/worker is missing',
    );
  });

  test('is refused with a worker that has no mark of our patches', async () => {
    await expect(
      createMedia({ ...options, workerBin: process.execPath, acceptUnmarkedWorker: false }),
    ).rejects.toThrow('carries no mark');
  });

  test('is refused when there is no address to tell peers', async () => {
    await expect(createMedia({ ...options, listenIp: '0.0.0.0' })).rejects.toThrow('RTP_PUBLIC_IP');
  });

  test('offers only codecs whose libraries are present', async () => {
    expect(media.availableCodecs()).toEqual(expect.arrayContaining(['PCMU', 'PCMA']));
    const leg = await media.createLeg({ callId: 'x', codecs: ['PCMA', 'PCMU'] });
    legs.push(leg);
    expect(mediaLine(await leg.offer())).toMatch(/^m=audio \d+ RTP\/SAVP 8 0 101$/);
  });
});

function mediaLine(sdp: string): string {
  return sdp.split('\r\n').find((line) => line.startsWith('m=')) ?? '';
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
