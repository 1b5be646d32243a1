/** The quality of one call as a report: numbers, a verdict, and the probable cause where audio is missing. */
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport, MediaVerdict } from '#shared/edge-protocol/calls.ts';
import { meanOpinionScore } from './emodel.ts';
import { isPrivateAddress } from './private-address.ts';
import type { Reception } from './reception.ts';

/** Packets that arrived and were of no use, by reason. */
export interface DroppedPackets {
  /** They came from another source than the one that was authenticated first. */
  readonly fromElsewhere: number;
  /** They failed SRTP authentication, or were replayed. */
  readonly undecrypted: number;
  /** They were authentic RTP, but of a second SSRC or of a payload type that was not agreed. */
  readonly unclaimed: number;
}

/** What the media leg knows of a call at the moment of the report. */
export interface CallMedia {
  /** Null before negotiation. */
  readonly codec: CodecName | null;
  readonly packetsSent: number;
  /** Null when nothing was ever received. */
  readonly reception: Pick<Reception, 'received' | 'lost' | 'expected' | 'jitterMs'> | null;
  /** Packets that came, but too late to be played. */
  readonly packetsLate: number;
  /** From RTCP, null when no report came. */
  readonly roundTripMs: number | null;
  /** Share of our packets that the peer says it lost, 0..1; null when it said nothing. */
  readonly peerLoss?: number | null;
  /** What the jitter buffer adds, milliseconds. */
  readonly playoutDelayMs: number;
  /** Address of the peer's media by its SDP; null before negotiation. */
  readonly peerAddress: string | null;
  readonly dropped: DroppedPackets;
  /** Octets of master key identifier that the peer announced; 0: none. */
  readonly peerMkiLength: number;
  /** The direction agreed last, as we see it. */
  readonly direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  readonly held: boolean;
}

/** Time that packing 20 ms of audio takes at each end. */
const packetMs = 20;

export function mediaReport(call: CallMedia): MediaReport {
  const received = call.reception?.received ?? 0;
  const lost = call.reception?.lost ?? 0;
  const verdict = verdictOf(call.packetsSent, received);
  return {
    packets_sent: call.packetsSent,
    packets_received: received,
    packets_lost: lost,
    jitter_ms: rounded(call.reception?.jitterMs ?? null, 2),
    round_trip_ms: rounded(call.roundTripMs, 1),
    ...(call.peerLoss == null ? {} : { peer_loss_percent: Math.round(call.peerLoss * 100) }),
    mos: rounded(opinion(call), 2),
    verdict,
    cause: verdict === 'two_way' ? null : causeOf(call, verdict),
  };
}

function verdictOf(sent: number, received: number): MediaVerdict {
  if (sent > 0) return received > 0 ? 'two_way' : 'send_only';
  return received > 0 ? 'receive_only' : 'none';
}

/** The score of what we hear; null when nothing came. */
function opinion(call: CallMedia): number | null {
  const { codec, reception } = call;
  if (codec === null || reception === null || reception.received === 0) return null;
  const missing = reception.lost + call.packetsLate;
  return meanOpinionScore({
    codec,
    loss: missing / Math.max(1, reception.expected),
    delayMs: (call.roundTripMs ?? 0) / 2 + packetMs + call.playoutDelayMs,
  });
}

/** One sentence that a person can act on. The surest sign comes first. */
function causeOf(call: CallMedia, verdict: MediaVerdict): string {
  if (call.codec === null) return 'No media was negotiated.';
  if (verdict === 'receive_only') {
    if (call.held) return 'The peer held the call, so nothing was sent to it.';
    if (call.direction === 'recvonly' || call.direction === 'inactive') {
      return `The negotiated direction was ${call.direction}, so nothing was sent.`;
    }
    return 'Nothing was sent: the agent gave no audio before the call ended.';
  }
  const { unclaimed, undecrypted, fromElsewhere } = call.dropped;
  if (unclaimed > 0) {
    return `${count(unclaimed)} came from the peer, but of another codec or payload type than the agreed ${call.codec}.`;
  }
  if (undecrypted > 0) {
    const key = call.peerMkiLength > 0 ? ' The peer announced a master key identifier (MKI).' : '';
    return `${count(undecrypted)} arrived but failed SRTP authentication: the keys in the peer's SDP are not those in use.${key}`;
  }
  if (fromElsewhere > 0) {
    return `${count(fromElsewhere)} came from another source than the first that SRTP authenticated.`;
  }
  if (call.held) return 'The peer held the call.';
  if (call.direction === 'sendonly' || call.direction === 'inactive') {
    return `The peer sends no audio: the negotiated direction was ${call.direction}.`;
  }
  if (call.peerAddress !== null && isPrivateAddress(call.peerAddress)) {
    return `No packet arrived, and the peer's SDP has the private address ${call.peerAddress}: it is probably behind a NAT that does not let media through.`;
  }
  return 'No packet arrived from the peer: a firewall may block the RTP ports, or the peer is muted.';
}

function count(packets: number): string {
  return packets === 1 ? '1 packet' : `${packets} packets`;
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}
