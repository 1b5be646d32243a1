/** The quality of one call as a report: numbers of both directions, a verdict, and sentences (call/media-verdict.ts). */
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport, PeerHears } from '#shared/edge-protocol/calls.ts';
import {
  type DroppedPackets,
  type MediaEvidence,
  mediaSummary,
  mediaVerdict,
  reportedHearing,
} from '../../call/media-verdict.ts';
import { meanOpinionScore } from './emodel.ts';
import { isPrivateAddress } from './private-address.ts';
import type { Reception } from './reception.ts';

/** What the media leg knows of a call at the moment of the report. */
export interface CallMedia
  extends Pick<MediaEvidence, 'moved' | 'direction' | 'held' | 'peerAddress' | 'unheard' | 'lostInSilence'> {
  /** Null before negotiation. */
  readonly codec: CodecName | null;
  readonly packetsSent: number;
  /** Null when nothing was ever received. */
  readonly reception: Pick<Reception, 'received' | 'lost' | 'expected' | 'jitterMs'> | null;
  /** Packets of the peer that did not arrive, by its sender reports. */
  readonly lostByReports: number;
  /** Packets that came, but too late to be played. */
  readonly packetsLate: number;
  /** From RTCP, null when no report came. */
  readonly roundTripMs: number | null;
  readonly peerHears: PeerHears;
  /** Share of our packets that the peer's last report says it lost, 0..1; null when it said nothing. */
  readonly peerLoss: number | null;
  /** Mean of all its reports. */
  readonly meanPeerLoss: number | null;
  readonly rtcpPackets: number;
  /** What the jitter buffer adds, milliseconds. */
  readonly playoutDelayMs: number;
  /** Our own address in SDP. */
  readonly ourAddress: string;
  readonly dropped: DroppedPackets;
  /** From another source, on all paths of the call. */
  readonly fromElsewhere: number;
  /** Whether telephone-event was agreed. */
  readonly keys: boolean;
}

/** Packets that sender reports count beyond the gaps from which they are a loss, 1 s: reports and audio overtake each other. */
const reportedLoss = 50;
/** Time that packing 20 ms of audio takes at each end. */
const packetMs = 20;
/** What the jitter buffer of a peer commonly adds, milliseconds: two packets. */
const peerPlayoutMs = 40;

export function mediaReport(call: CallMedia): MediaReport {
  const { codec, peerHears, rtcpPackets, fromElsewhere } = call;
  const lossSent = call.peerLoss === null ? null : Math.round(call.peerLoss * 100);
  const received = call.reception?.received ?? 0;
  const { verdict, cause } = mediaVerdict({
    ...call,
    sent: call.packetsSent,
    received,
    lossSent,
    peerIsPrivate: call.peerAddress !== null && isPrivateAddress(call.peerAddress),
    weArePrivate: isPrivateAddress(call.ourAddress),
  });
  const mosReceived = receivedOpinion(call);
  const mosSent = sentOpinion(call, lossSent);
  const counts = {
    packets_sent: call.packetsSent,
    packets_received: received,
    packets_lost: packetsLost(call),
    ...(lossSent === null ? {} : { peer_loss_percent: lossSent }),
    rtcp_packets_received: rtcpPackets,
    peer_hears: peerHears,
    packets_from_elsewhere: fromElsewhere,
    verdict,
    cause,
  };
  return {
    ...counts,
    jitter_ms: rounded(call.reception?.jitterMs ?? null, 2),
    round_trip_ms: rounded(call.roundTripMs, 1),
    mos: rounded(mosReceived === null ? null : Math.min(mosReceived, mosSent ?? mosReceived), 2),
    mos_received: rounded(mosReceived, 2),
    mos_sent: rounded(mosSent, 2),
    summary: mediaSummary(counts, { codec }),
    ...(codec === null ? {} : { keys: call.keys ? 'telephone-event' : 'none' }),
  };
}

/** Gaps in what came, or all that did not arrive by the peer's own count, which sees behind the last packet too. */
function packetsLost({ reception, lostByReports }: CallMedia): number {
  const gaps = reception?.lost ?? 0;
  return lostByReports - gaps >= reportedLoss ? lostByReports : gaps;
}

/** The score of what we hear; null when nothing came and nothing tells whether anything was sent. */
function receivedOpinion(call: CallMedia): number | null {
  const { codec, reception } = call;
  if (codec === null) return null;
  const lost = packetsLost(call);
  if (reception === null || reception.received === 0) return lost > 0 ? 1 : null;
  return meanOpinionScore({
    codec,
    loss: (lost + call.packetsLate) / Math.max(1, reception.expected + lost - reception.lost),
    delayMs: (call.roundTripMs ?? 0) / 2 + packetMs + call.playoutDelayMs,
  });
}

/** The score of what the peer hears; null when nothing was sent, or nothing is known of it. */
function sentOpinion(call: CallMedia, lossSent: number | null): number | null {
  const { codec, packetsSent, peerHears, meanPeerLoss } = call;
  if (codec === null || packetsSent === 0) return null;
  const delayMs = (call.roundTripMs ?? 0) / 2 + packetMs + peerPlayoutMs;
  if (!reportedHearing(peerHears, lossSent)) return 1;
  return meanPeerLoss === null ? null : meanOpinionScore({ codec, loss: meanPeerLoss, delayMs });
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}
