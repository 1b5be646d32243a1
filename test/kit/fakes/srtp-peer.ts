/**
 * A phone without signaling: one SRTP endpoint (SDES keys, PCMU, telephone-event 101) that sends tones and key presses
 * and measures received audio. The far end of media tests, and of the load generator.
 */

import { randomBytes, randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { encodeMulaw, tone } from './audio.ts';
import { digits, type HeardEvent, HeardMedia, type HeardPacket, type HeardStats } from './heard-media.ts';
import { SrtpReceiver, SrtpSender } from './srtp.ts';

export interface SrtpPeerOptions {
  readonly address?: string;
  /** First RTP sequence number. */
  readonly sequence?: number;
  readonly ssrc?: number;
  /** Clock rate of received RTP timestamps, Hz; 8000 unless given. */
  readonly clockRate?: number;
  /** Keeps decoded received samples; false saves memory in load tests. */
  readonly record?: boolean;
  /** Master key identifier that is announced and sent (RFC 3711 section 3.1). */
  readonly mki?: Buffer;
  /** Offers the identifier but does not send it. */
  readonly forgetsMki?: boolean;
  /** Gets each received packet, with any payload type. */
  readonly onPacket?: (packet: HeardPacket) => void;
  /** The network between the peer and the edge, which delivers a packet now, later or never. */
  readonly carry?: (deliver: () => void) => void;
}

const frame = 160;
/** Time-out of a hanging wait. */
const whenLimitMs = 60_000;

export class SrtpPeer {
  readonly rtpPort: number;
  readonly #rtp: Socket;
  readonly #rtcp: Socket;
  readonly #address: string;
  readonly #heard: HeardMedia;
  readonly #onPacket: ((packet: HeardPacket) => void) | undefined;
  readonly #carry: (deliver: () => void) => void;
  #closed = false;
  readonly #mki: Buffer;
  readonly #sentMki: Buffer;
  #key: Buffer = randomBytes(30);
  #sender: SrtpSender;
  #receiver: SrtpReceiver | null = null;
  #remote: { address: string; rtpPort: number } | null = null;
  #version = 1;

  ssrc: number;
  sequence: number;
  /** Highest sequence number that the other side has reported as received (RFC 3550 section 6.4.1). */
  acknowledged: number | null = null;
  timestamp = randomInt(0x7fffffff);
  /** Packets sent. */
  sent = 0;

  #waiting: { done: () => boolean; resolve: () => void }[] = [];
  /** The middle 32 bits of the NTP time in the last sender report, and its arrival time. */
  #senderReport: { ntp: number; at: number } | null = null;
  #remoteSsrc = 0;

  private constructor(rtp: Socket, rtcp: Socket, options: SrtpPeerOptions) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
    this.#address = options.address ?? '127.0.0.1';
    this.#heard = new HeardMedia(options.clockRate ?? 8000, options.record ?? true);
    this.#onPacket = options.onPacket;
    this.#carry = options.carry ?? ((deliver) => deliver());
    this.rtpPort = rtp.address().port;
    this.ssrc = options.ssrc ?? randomBytes(4).readUInt32BE();
    this.sequence = options.sequence ?? randomInt(0x8000);
    this.#mki = options.mki ?? Buffer.alloc(0);
    this.#sentMki = options.forgetsMki ? Buffer.alloc(0) : this.#mki;
    this.#sender = new SrtpSender(this.#key, this.#sentMki);
    rtp.on('message', (packet) => this.#carry(() => this.#onRtp(packet)));
    rtcp.on('message', (packet) => this.#onRtcp(packet));
  }

  static async open(options: SrtpPeerOptions = {}): Promise<SrtpPeer> {
    const address = options.address ?? '127.0.0.1';
    for (;;) {
      const port = 40_000 + 2 * randomInt(12_000);
      const rtp = await bound(port, address);
      if (!rtp) continue;
      const rtcp = await bound(port + 1, address);
      if (rtcp) return new SrtpPeer(rtp, rtcp, options);
      rtp.close();
    }
  }

  /** Creates new keys for the next offer or answer, as a peer that moves. */
  rekey(): void {
    this.#key = randomBytes(30);
    this.#sender = new SrtpSender(this.#key, this.#sentMki);
  }

  /** SDP of this endpoint; with `address` and `port` as behind a NAT, where it knows neither. */
  sdp(
    options: {
      direction?: string;
      formats?: string;
      rtpmaps?: string[];
      address?: string;
      port?: number;
      rtcpMux?: boolean;
      /** Lifetime of the key, with its leading bar. */
      lifetime?: string;
    } = {},
  ): string {
    const address = options.address ?? this.#address;
    const maps = options.rtpmaps ?? ['0 PCMU/8000', '101 telephone-event/8000'];
    return [
      'v=0',
      `o=peer 7 ${this.#version++} IN IP4 ${address}`,
      's=-',
      `c=IN IP4 ${address}`,
      't=0 0',
      `m=audio ${options.port ?? this.rtpPort} RTP/SAVP ${options.formats ?? '0 101'}`,
      ...maps.map((map) => `a=rtpmap:${map}`),
      'a=fmtp:101 0-15',
      `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${this.#key.toString('base64')}${options.lifetime ?? '|2^31'}${this.#mkiParameter()}`,
      `a=${options.direction ?? 'sendrecv'}`,
      ...(options.rtcpMux ? ['a=rtcp-mux'] : []),
      '',
    ].join('\r\n');
  }

  /** Applies the other side's SDP. */
  connect(sdp: string): void {
    const port = /^m=audio (\d+) /m.exec(sdp)?.[1];
    const [, key, mki, mkiLength] =
      /^a=crypto:\d+ \S+ inline:([^|\s]+)(?:\|2\^31\|(\d+):(\d))?/m.exec(sdp) ?? [];
    const address = /^c=IN IP4 (\S+)/m.exec(sdp)?.[1];
    if (!port || !key || !address) throw new Error(`cannot connect to\n${sdp}`);
    this.#remote = { address, rtpPort: Number(port) };
    this.#receiver = new SrtpReceiver(Buffer.from(key, 'base64'), mkiOf(mki, mkiLength));
    this.#heard.restart();
  }

  #mkiParameter(): string {
    const { length } = this.#mki;
    return length === 0 ? '' : `|${this.#mki.readUIntBE(0, length)}:${length}`;
  }

  /** Target of packets; set after `connect` only to send to a wrong address. */
  get remotePort(): number {
    return this.#remote?.rtpPort ?? 0;
  }

  /** A plain RTP packet of this stream; advances sequence number and timestamp. */
  rtpPacket(
    payload: Uint8Array,
    options: { payloadType?: number; marker?: boolean; samples?: number } = {},
  ): Buffer {
    const packet = Buffer.alloc(12 + payload.length);
    packet[0] = 0x80;
    packet[1] = (options.marker ? 0x80 : 0) | (options.payloadType ?? 0);
    packet.writeUInt16BE(this.sequence, 2);
    packet.writeUInt32BE(this.timestamp, 4);
    packet.writeUInt32BE(this.ssrc, 8);
    packet.set(payload, 12);
    this.sequence = (this.sequence + 1) & 0xffff;
    this.timestamp = (this.timestamp + (options.samples ?? frame)) >>> 0;
    return packet;
  }

  protect(packet: Buffer): Buffer {
    return this.#sender.protect(packet);
  }

  /** Sends bytes unchanged. */
  sendRaw(packet: Buffer): void {
    const remote = this.#remote;
    if (!remote) throw new Error('the peer is not connected');
    this.sent++;
    this.#carry(() => {
      if (!this.#closed) this.#rtp.send(packet, remote.rtpPort, remote.address);
    });
  }

  send(
    payload: Uint8Array,
    options: { payloadType?: number; marker?: boolean; samples?: number } = {},
  ): void {
    this.sendRaw(this.protect(this.rtpPacket(payload, options)));
  }

  /** Frames of a tone, ready to send: a whole number of its periods when `hz` divides by 50. */
  toneFrames(hz: number, count: number): Buffer[] {
    const samples = tone(hz, count * frame);
    return Array.from({ length: count }, (_, i) => encodeMulaw(samples.subarray(i * frame, (i + 1) * frame)));
  }

  /** Sends `frames` one every 20 ms; resolves after the last. */
  async play(
    frames: Iterable<Buffer>,
    options: { payloadType?: number; samples?: number } = {},
  ): Promise<void> {
    let due = performance.now();
    for (const payload of frames) {
      await until(due);
      this.send(payload, options);
      due += 20;
    }
  }

  /** One RFC 4733 event of `durationMs` in packets of 20 ms, three end packets; `drop` omits packets. */
  async press(
    digit: string,
    durationMs = 100,
    drop: (index: number) => boolean = () => false,
  ): Promise<void> {
    const began = this.timestamp;
    const updates = durationMs / 20;
    const start = performance.now();
    for (let i = 1; i <= updates + 2; i++) {
      const end = i >= updates;
      const payload = Buffer.from([digits.indexOf(digit), (end ? 0x80 : 0) | 10, 0, 0]);
      payload.writeUInt16BE(Math.min(i, updates) * frame, 2);
      this.timestamp = began;
      const packet = this.rtpPacket(payload, { payloadType: 101, marker: i === 1, samples: 0 });
      if (!drop(i)) this.sendRaw(this.protect(packet));
      if (!end) await until(start + i * 20);
    }
    this.timestamp = (began + updates * frame + frame) >>> 0;
  }

  /**
   * Sends a receiver report about the received stream, in response to the last sender report (RFC 3550 section 6.4);
   * an empty one before the first.
   * @param lost share of the packets since the report before, 0..1
   * @param highest extended highest sequence number; the received one unless given
   */
  report(lost = 0, highest = this.highest): void {
    const last = this.#senderReport;
    const rr = Buffer.alloc(last ? 32 : 8);
    rr[0] = last ? 0x81 : 0x80;
    rr[1] = 201;
    rr.writeUInt16BE(rr.length / 4 - 1, 2);
    rr.writeUInt32BE(this.ssrc, 4);
    if (last) {
      rr.writeUInt32BE(this.#remoteSsrc, 8);
      rr[12] = Math.min(255, Math.round(lost * 256));
      rr.writeUInt32BE(highest, 16);
      rr.writeUInt32BE(last.ntp, 24);
      rr.writeUInt32BE(Math.round((performance.now() - last.at) * 65.536), 28);
    }
    const remote = this.#remote;
    if (remote) this.#rtcp.send(this.#sender.protectRtcp(rr), remote.rtpPort + 1, remote.address);
  }

  /** Sends a sender report without a block, as a peer that receives nothing (RFC 3550 section 6.4). */
  reportSending(): void {
    const sr = Buffer.alloc(28);
    sr[0] = 0x80;
    sr[1] = 200;
    sr.writeUInt16BE(6, 2);
    sr.writeUInt32BE(this.ssrc, 4);
    sr.writeUInt32BE(Math.floor(Date.now() / 1000) + 2_208_988_800, 8);
    sr.writeUInt32BE(this.timestamp, 16);
    sr.writeUInt32BE(this.sent, 20);
    sr.writeUInt32BE(this.sent * frame, 24);
    const remote = this.#remote;
    if (remote) this.#rtcp.send(this.#sender.protectRtcp(sr), remote.rtpPort + 1, remote.address);
  }

  /** Extended highest sequence number received. */
  get highest(): number {
    return this.#heard.highest;
  }

  /** Whether a sender report arrived. */
  get senderReported(): boolean {
    return this.#senderReport !== null;
  }

  /** Resolves when `count` packets in all were received. */
  heard(count: number): Promise<void> {
    return this.when(() => this.packets >= count);
  }

  /**
   * Resolves when `done` is true; it is checked after each received packet.
   * @throws Error with what was received when it does not become true
   */
  when(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        this.#waiting = this.#waiting.filter((one) => one.resolve !== settled);
        reject(
          new Error(
            `timed out waiting for media that makes ${done} true; heard: ${this.#heard.summary}; ${this.sent} packets sent`,
          ),
        );
      }, whenLimitMs);
      const settled = () => {
        clearTimeout(limit);
        resolve();
      };
      this.#waiting.push({ done, resolve: settled });
    });
  }

  /** Packets received and decrypted. */
  get packets(): number {
    return this.#heard.packets;
  }

  /** The last `count` received samples. */
  samples(count?: number): Int16Array {
    return this.#heard.samples(count);
  }

  /** Received key presses, by their timestamps. */
  get events(): readonly HeardEvent[] {
    return this.#heard.events;
  }

  get stats(): HeardStats {
    return this.#heard.stats;
  }

  /** Resets the counters. */
  resetStats(): void {
    this.#heard.resetStats();
    this.sent = 0;
  }

  close(): void {
    this.#closed = true;
    this.#rtp.close();
    this.#rtcp.close();
  }

  #onRtp(packet: Buffer): void {
    const rtp = this.#receiver?.unprotect(packet);
    if (!rtp) {
      this.#heard.undecryptable++;
      return;
    }
    const second = rtp[1] ?? 0;
    const heard = {
      payloadType: second & 0x7f,
      marker: second > 0x7f,
      sequence: rtp.readUInt16BE(2),
      timestamp: rtp.readUInt32BE(4),
      ssrc: rtp.readUInt32BE(8),
      payload: rtp.subarray(12),
    };
    this.#remoteSsrc = heard.ssrc;
    this.#heard.take(heard);
    this.#onPacket?.(heard);
    if (this.#waiting.length === 0) return;
    const ready = this.#waiting.filter(({ done }) => done());
    this.#waiting = this.#waiting.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  }

  #onRtcp(packet: Buffer): void {
    const rtcp = this.#receiver?.unprotectRtcp(packet) ?? Buffer.alloc(0);
    const [count = 0, type = 0] = rtcp;
    if (type === 200) this.#senderReport = { ntp: rtcp.readUInt32BE(10), at: performance.now() };
    const block = { 200: 28, 201: 8 }[type];
    if (count & 0x1f && block) this.acknowledged = rtcp.readUInt16BE(block + 10);
  }
}

/** RFC 4568 section 6.1: a decimal integer, sent in that many octets. */
function mkiOf(value: string | undefined, length: string | undefined): Buffer {
  const octets = Buffer.alloc(Number(length ?? 0));
  if (octets.length > 0) octets.writeUIntBE(Number(value), 0, octets.length);
  return octets;
}

function bound(port: number, address: string): Promise<Socket | null> {
  // Addresses only: the default look-up would delay every packet to a later turn.
  const lookup = (host: string, _: unknown, done: (error: null, address: string, family: 4) => void) =>
    done(null, host, 4);
  const socket = createSocket({ type: 'udp4', lookup });
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(null);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

/** Waits for a moment of `performance.now()`. */
function until(at: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));
}
