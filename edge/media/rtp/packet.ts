/**
 * RTP packets (RFC 3550 section 5.1) without garbage: one view is reused for every received packet, one buffer
 * for every sent packet.
 *
 *      0                   1                   2                   3
 *     |V=2|P|X|  CC   |M|     PT      |       sequence number         |
 *     |                           timestamp                           |
 *     |           synchronization source (SSRC) identifier            |
 *     |     contributing sources, header extension, payload, padding  |
 */
import { sequencePlus } from './sequence.ts';

const rtpHeaderLength = 12;

/** Fields of the last parsed packet. The payload is `packet.subarray(payloadStart, payloadEnd)`. */
export class RtpView {
  payloadType = 0;
  marker = false;
  sequence = 0;
  timestamp = 0;
  ssrc = 0;
  payloadStart = 0;
  payloadEnd = 0;
}

/**
 * Parses the header of `packet` into `view`.
 * @returns `view`, or null when the octets are not a whole RTP packet; the content of `view` is then undefined
 */
export function parseRtp(packet: Uint8Array, view: RtpView): RtpView | null {
  const length = packet.length;
  if (length < rtpHeaderLength) return null;
  const first = packet[0] ?? 0;
  if (first >> 6 !== 2) return null;
  const second = packet[1] ?? 0;
  let start = rtpHeaderLength + (first & 0x0f) * 4;
  if (first & 0x10) {
    if (start + 4 > length) return null;
    start += 4 + (((packet[start + 2] ?? 0) << 8) | (packet[start + 3] ?? 0)) * 4;
  }
  let end = length;
  if (first & 0x20) {
    const padding = packet[length - 1] ?? 0;
    if (padding === 0) return null;
    end -= padding;
  }
  if (start > end) return null;
  view.marker = second > 0x7f;
  view.payloadType = second & 0x7f;
  view.sequence = ((packet[2] ?? 0) << 8) | (packet[3] ?? 0);
  view.timestamp = word(packet, 4);
  view.ssrc = word(packet, 8);
  view.payloadStart = start;
  view.payloadEnd = end;
  return view;
}

/** Whether a packet that shares a port with RTP is RTCP (RFC 5761 section 4). */
export function isRtcp(packet: Uint8Array): boolean {
  const type = packet[1] ?? 0;
  return type >= 192 && type <= 223;
}

/** Longest frame of any codec at 20 ms (Opus at its highest rate). */
const maxPayload = 1400;
/** Written and sent within one event loop turn, so one serves all streams: that of each would be out of the caches. */
const outgoing = Buffer.alloc(rtpHeaderLength + maxPayload);
outgoing[0] = 0x80;
const outgoingPayload = new Uint8Array(outgoing.buffer, outgoing.byteOffset + rtpHeaderLength, maxPayload);
/** What `seal` returned last: packets of most streams have one length, and a view costs as much as all their fields. */
let sealed = outgoing;

/**
 * One outgoing stream. The payload is written directly into the packet: encode into `payload`, then `seal`. The
 * packet returned by `seal` is overwritten by the next one of any stream: copy it to keep it.
 */
export class RtpWriter {
  readonly ssrc: number;
  /** Sequence number of the next packet. */
  sequence: number;
  /** Current RTP timestamp of the stream; moved by `advance`. */
  timestamp: number;

  constructor(ssrc: number, sequence: number, timestamp: number) {
    this.ssrc = ssrc >>> 0;
    this.sequence = sequence & 0xffff;
    this.timestamp = timestamp >>> 0;
  }

  /** Buffer for the payload of the next packet. */
  get payload(): Uint8Array {
    return outgoingPayload;
  }

  /**
   * Completes a packet whose payload is the first `length` octets of `payload`.
   * @param timestamp when it differs from the stream's current time (an RFC 4733 event keeps its start)
   */
  seal(length: number, payloadType: number, marker: boolean, timestamp = this.timestamp): Buffer {
    const packet = outgoing;
    packet[1] = (marker ? 0x80 : 0) | payloadType;
    packet[2] = this.sequence >> 8;
    packet[3] = this.sequence;
    setWord(packet, 4, timestamp);
    setWord(packet, 8, this.ssrc);
    this.sequence = sequencePlus(this.sequence, 1);
    const whole = rtpHeaderLength + length;
    if (sealed.length !== whole) sealed = packet.subarray(0, whole);
    return sealed;
  }

  /** Advances the stream's time, whether or not a packet was sent. */
  advance(ticks: number): void {
    this.timestamp = (this.timestamp + ticks) >>> 0;
  }
}

function word(packet: Uint8Array, at: number): number {
  const high = ((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0);
  return ((high << 16) | ((packet[at + 2] ?? 0) << 8) | (packet[at + 3] ?? 0)) >>> 0;
}

function setWord(packet: Uint8Array, at: number, value: number): void {
  packet[at] = value >>> 24;
  packet[at + 1] = value >>> 16;
  packet[at + 2] = value >>> 8;
  packet[at + 3] = value;
}
