/**
 * A phone without signaling: one SRTP endpoint (SDES keys, PCMU, telephone-event 101) that sends tones and key presses
 * and measures received audio. The far end of media tests, and of the load generator.
 */

import { randomBytes, randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { decodeMulaw, encodeMulaw, tone } from './audio.ts';
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
}

export interface HeardPacket {
  readonly payloadType: number;
  readonly marker: boolean;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Buffer;
}

export interface HeardEvent {
  readonly digit: string;
  /** In samples of the event clock. */
  readonly duration: number;
  /** Packets of this event, including end packets. */
  readonly packets: number;
  readonly endPackets: number;
}

export interface HeardStats {
  readonly packets: number;
  readonly lost: number;
  /** RFC 3550 section 6.4.1, ms */
  readonly jitterMs: number;
  /** Delay of packets against the fastest one, by their timestamps, ms. */
  readonly latenessP99Ms: number;
  readonly undecryptable: number;
}

const digits = '0123456789*#ABCD';
const frame = 160;
/** Time-out of a hanging wait. */
const whenLimitMs = 60_000;

export class SrtpPeer {
  readonly rtpPort: number;
  readonly #rtp: Socket;
  readonly #rtcp: Socket;
  readonly #address: string;
  readonly #record: boolean;
  readonly #ticksPerMs: number;
  readonly #onPacket: ((packet: HeardPacket) => void) | undefined;
  readonly #mki: Buffer;
  readonly #sentMki: Buffer;
  #key: Buffer = randomBytes(30);
  #sender: SrtpSender;
  #receiver: SrtpReceiver | null = null;
  #remote: { address: string; rtpPort: number } | null = null;
  #version = 1;

  ssrc: number;
  sequence: number;
  timestamp = randomInt(0x7fffffff);
  /** Packets sent. */
  sent = 0;

  #waiting: { done: () => boolean; resolve: () => void }[] = [];
  #packets = 0;
  #undecryptable = 0;
  #chunks: Int16Array[] = [];
  #events = new Map<number, { digit: string; duration: number; packets: number; endPackets: number }>();
  #firstSequence: number | null = null;
  #highest = 0;
  #jitter = 0;
  #transit: number | null = null;
  #delays: number[] = [];
  /** The middle 32 bits of the NTP time in the last sender report, and its arrival time. */
  #senderReport: { ntp: number; at: number } | null = null;
  #remoteSsrc = 0;

  private constructor(rtp: Socket, rtcp: Socket, options: SrtpPeerOptions) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
    this.#address = options.address ?? '127.0.0.1';
    this.#record = options.record ?? true;
    this.#ticksPerMs = (options.clockRate ?? 8000) / 1000;
    this.#onPacket = options.onPacket;
    this.rtpPort = rtp.address().port;
    this.ssrc = options.ssrc ?? randomBytes(4).readUInt32BE();
    this.sequence = options.sequence ?? randomInt(0x8000);
    this.#mki = options.mki ?? Buffer.alloc(0);
    this.#sentMki = options.forgetsMki ? Buffer.alloc(0) : this.#mki;
    this.#sender = new SrtpSender(this.#key, this.#sentMki);
    rtp.on('message', (packet) => this.#onRtp(packet));
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
    this.#transit = null;
    this.#firstSequence = null;
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
    if (!this.#remote) throw new Error('the peer is not connected');
    this.sent++;
    this.#rtp.send(packet, this.#remote.rtpPort, this.#remote.address);
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
    frames: readonly Buffer[],
    options: { payloadType?: number; samples?: number } = {},
  ): Promise<void> {
    const start = performance.now();
    for (const [i, payload] of frames.entries()) {
      await until(start + i * 20);
      this.send(payload, options);
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
      const payload = Buffer.alloc(4);
      payload[0] = digits.indexOf(digit);
      payload[1] = (end ? 0x80 : 0) | 10;
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
  report(lost = 0, highest = this.#highest): void {
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
    return this.#highest;
  }

  /** Whether a sender report arrived. */
  get senderReported(): boolean {
    return this.#senderReport !== null;
  }

  /** Resolves when `count` packets in all were received. */
  heard(count: number): Promise<void> {
    return this.when(() => this.#packets >= count);
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
        reject(new Error(`timed out waiting for media that makes ${done} true; heard: ${this.#summary()}`));
      }, whenLimitMs);
      const settled = () => {
        clearTimeout(limit);
        resolve();
      };
      this.#waiting.push({ done, resolve: settled });
    });
  }

  #summary(): string {
    const keys = this.events.map(({ digit, endPackets }) => `${digit}${endPackets > 0 ? '' : ' (no end)'}`);
    const loudest = this.samples(8000).reduce((most, one) => Math.max(most, Math.abs(one)), 0);
    const packets = `${this.#packets} packets, ${this.#undecryptable} undecryptable, ${this.sent} sent`;
    return `${packets}, loudest sample of the last second ${loudest}, keys: ${keys.join(' ') || 'none'}`;
  }

  /** Packets received and decrypted. */
  get packets(): number {
    return this.#packets;
  }

  /** The last `count` received samples. */
  samples(count = Number.POSITIVE_INFINITY): Int16Array {
    const total = this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const all = new Int16Array(total);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all.subarray(Math.max(0, total - count));
  }

  /** Received key presses, by their timestamps. */
  get events(): readonly HeardEvent[] {
    return [...this.#events.values()];
  }

  get stats(): HeardStats {
    const delays = this.#delays.toSorted((a, b) => a - b);
    const fastest = delays[0] ?? 0;
    const expected = this.#firstSequence === null ? 0 : this.#highest - this.#firstSequence + 1;
    return {
      packets: this.#packets,
      lost: Math.max(0, expected - this.#packets),
      jitterMs: this.#jitter / this.#ticksPerMs,
      latenessP99Ms: (delays[Math.floor(delays.length * 0.99)] ?? 0) - fastest,
      undecryptable: this.#undecryptable,
    };
  }

  /** Resets the counters. */
  resetStats(): void {
    this.#packets = 0;
    this.#undecryptable = 0;
    this.#firstSequence = null;
    this.#jitter = 0;
    this.#delays = [];
    this.sent = 0;
  }

  close(): void {
    this.#rtp.close();
    this.#rtcp.close();
  }

  #onRtp(packet: Buffer): void {
    const rtp = this.#receiver?.unprotect(packet);
    if (!rtp) {
      this.#undecryptable++;
      return;
    }
    this.#packets++;
    this.#remoteSsrc = rtp.readUInt32BE(8);
    const timestamp = rtp.readUInt32BE(4);
    const payloadType = (rtp[1] ?? 0) & 0x7f;
    this.#count(rtp.readUInt16BE(2));
    this.#onPacket?.({
      payloadType,
      marker: (rtp[1] ?? 0) > 0x7f,
      sequence: rtp.readUInt16BE(2),
      timestamp,
      ssrc: this.#remoteSsrc,
      payload: rtp.subarray(12),
    });
    if (payloadType === 101) this.#onEvent(timestamp, rtp.subarray(12));
    else {
      this.#measure(timestamp);
      if (this.#record) this.#chunks.push(decodeMulaw(rtp.subarray(12)));
    }
    if (this.#waiting.length === 0) return;
    const ready = this.#waiting.filter(({ done }) => done());
    this.#waiting = this.#waiting.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  }

  #count(sequence: number): void {
    if (this.#firstSequence === null) {
      this.#firstSequence = sequence;
      this.#highest = sequence;
      return;
    }
    const step = ((sequence - (this.#highest & 0xffff) + 0x18000) % 0x10000) - 0x8000;
    if (step > 0) this.#highest += step;
  }

  #measure(timestamp: number): void {
    const transit = performance.now() * this.#ticksPerMs - timestamp;
    if (this.#transit !== null) this.#jitter += (Math.abs(transit - this.#transit) - this.#jitter) / 16;
    this.#transit = transit;
    this.#delays.push(transit / this.#ticksPerMs);
  }

  #onEvent(timestamp: number, payload: Buffer): void {
    const event = this.#events.get(timestamp) ?? { digit: '', duration: 0, packets: 0, endPackets: 0 };
    event.digit = digits[payload[0] ?? 0] ?? '?';
    event.duration = Math.max(event.duration, payload.readUInt16BE(2));
    event.packets++;
    if ((payload[1] ?? 0) & 0x80) event.endPackets++;
    this.#events.set(timestamp, event);
  }

  #onRtcp(packet: Buffer): void {
    const rtcp = this.#receiver?.unprotectRtcp(packet);
    if (rtcp?.[1] === 200) this.#senderReport = { ntp: rtcp.readUInt32BE(10), at: performance.now() };
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
