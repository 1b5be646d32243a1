/** Helpers for tests with real legs: endpoints, and a running media with peers that are closed after each test. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { CodecName } from '#shared/codecs.ts';
import type { AudioEndpoint, DtmfEvent, LocalLeg, MediaLegOptions } from '../../../edge/call/ports/media.ts';
import { createMedia, type MediaOptions, type RunningMedia } from '../../../edge/media/media.ts';
import type { HeardPacket } from '../fakes/heard-media.ts';
import { acceptTestWorker, testWorkerBin } from '../fakes/media-worker.ts';
import { SrtpPeer, type SrtpPeerOptions } from '../fakes/srtp-peer.ts';

/** Media on the loopback address that shuts down quickly, on 200 ports from `portMin`. */
export function testOptions(portMin: number): MediaOptions {
  return {
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin,
    portMax: portMin + 199,
    portRestMs: 0,
    workers: 1,
    workerRestartDelayMs: 0,
    drainMs: 100,
    workerBin: testWorkerBin(),
    acceptUnmarkedWorker: acceptTestWorker(),
  };
}

/** A media instance for the tests of one file. */
export function useMedia(options: MediaOptions) {
  let running: RunningMedia | null = null;
  const peers: SrtpPeer[] = [];
  const legs: LocalLeg[] = [];

  beforeAll(async () => {
    running = await createMedia(options);
  });
  afterEach(() => {
    for (const leg of legs.splice(0)) leg.close();
    closePeers();
  });
  afterAll(() => running?.close());

  function media(): RunningMedia {
    if (!running) throw new Error('media is not running yet');
    return running;
  }

  function closePeers(): void {
    for (const peer of peers.splice(0)) peer.close();
  }

  async function newPeer(peerOptions: SrtpPeerOptions = {}): Promise<SrtpPeer> {
    const peer = await SrtpPeer.open(peerOptions);
    peers.push(peer);
    return peer;
  }

  async function newLeg(more: Partial<MediaLegOptions> = {}): Promise<LocalLeg> {
    const leg = await media().createLeg({ callId: 'test', codecs: ['PCMU', 'PCMA'], ...more });
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

  /** A peer that records every packet, in a call with a leg that answered an offer of these formats. */
  async function party(formats: PartyFormats = pcmu, more: Partial<MediaLegOptions> = {}): Promise<Party> {
    const packets: HeardPacket[] = [];
    const peer = await newPeer({ ...formats.peer, onPacket: (packet) => void packets.push(packet) });
    const leg = await newLeg({ codecs: [formats.codec], ...more });
    peer.connect(await leg.answer(peer.sdp(formats.sdp)));
    return { peer, leg, packets };
  }

  return { media, newPeer, newLeg, call, party, closePeers };
}

/**
 * Whether a leg has heard something since a moment of `performance.now()` at which it had been silent for more than
 * 700 ms: true however late it is asked.
 */
export function heardSince(leg: LocalLeg, moment: number): boolean {
  return leg.silentForMs() < performance.now() - moment + 350;
}

export interface Party {
  readonly peer: SrtpPeer;
  readonly leg: LocalLeg;
  /** The packets that the peer has received. */
  readonly packets: HeardPacket[];
}

export interface PartyFormats {
  readonly codec: CodecName;
  readonly sdp: { readonly formats: string; readonly rtpmaps: string[] };
  readonly peer?: SrtpPeerOptions;
}

export const pcmu: PartyFormats = {
  codec: 'PCMU',
  sdp: { formats: '0 101', rtpmaps: ['0 PCMU/8000', '101 telephone-event/8000'] },
};

/** Opus and key presses with these payload types; `clock` is that of the key presses. */
export function opus(payloadType: number, events: number, clock = 48_000): PartyFormats {
  return {
    codec: 'Opus',
    sdp: {
      formats: `${payloadType} ${events}`,
      rtpmaps: [`${payloadType} opus/48000/2`, `${events} telephone-event/${clock}`],
    },
  };
}

/** An endpoint that plays a tone. */
export function toneEndpoint(hz: number, sampleRate: 8000 | 16_000 = 8000): AudioEndpoint {
  let at = 0;
  return {
    sampleRate,
    read(frame) {
      for (let i = 0; i < frame.length; i++)
        frame[i] = 12_000 * Math.sin((2 * Math.PI * hz * at++) / sampleRate);
      return true;
    },
  };
}

/** An endpoint that echoes what it hears. */
export function echoEndpoint(): AudioEndpoint {
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
export function listener() {
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

/** The media line of a description. */
export function mediaLine(sdp: string): string {
  return sdp.split('\r\n').find((line) => line.startsWith('m=')) ?? '';
}
