/**
 * The quality report of one call: measurements of both directions, a verdict, and sentences
 * (call/media-verdict.ts).
 */

import { BlockList, isIP } from 'node:net';
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport, PeerHears } from '#shared/edge-protocol/calls.ts';
import {
  type DroppedPackets,
  type MediaEvidence,
  mediaSummary,
  mediaVerdict,
} from '../../call/media-verdict.ts';
import { receivedOpinion, sentOpinion } from './opinion.ts';
import type { Reception } from './reception.ts';

/** What the media leg knows about a call at the time of the report. */
export interface CallMedia
  extends Pick<MediaEvidence, 'moved' | 'direction' | 'held' | 'peerAddress' | 'unheard' | 'lostInSilence'> {
  /** Null before negotiation. */
  readonly codec: CodecName | null;
  readonly packetsSent: number;
  /** Null when nothing was ever received. */
  readonly reception: Pick<Reception, 'received' | 'lost' | 'expected' | 'jitterMs'> | null;
  /** Packets from the peer that did not arrive, according to its sender reports. */
  readonly lostByReports: number;
  /** Packets that arrived too late to be played. */
  readonly packetsLate: number;
  /** From RTCP, null when no report arrived. */
  readonly roundTripMs: number | null;
  readonly peerHears: PeerHears;
  /** Share of our packets lost according to the peer's last report, 0..1; null without a report. */
  readonly peerLoss: number | null;
  /** Mean of all its reports. */
  readonly meanPeerLoss: number | null;
  readonly rtcpPackets: number;
  /** Delay added by the jitter buffer, milliseconds. */
  readonly playoutDelayMs: number;
  /** Our own address in SDP. */
  readonly ourAddress: string;
  readonly dropped: DroppedPackets;
  /** From other sources, on all paths of the call. */
  readonly fromElsewhere: number;
  /** Whether telephone-event was negotiated. */
  readonly keys: boolean;
}

/** Packets in sender reports beyond the gaps that count as a loss, 1 s: reports and audio overtake each other. */
const reportedLoss = 50;

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
  const lost = packetsLost(call);
  const expected = (call.reception?.expected ?? 0) + lost - (call.reception?.lost ?? 0);
  const mosReceived = receivedOpinion({ ...call, received, lost, late: call.packetsLate, expected });
  const mosSent = sentOpinion({ ...call, lossSent, peerLoss: call.meanPeerLoss });
  const counts = {
    packets_sent: call.packetsSent,
    packets_received: received,
    packets_lost: lost,
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

/**
 * Gaps in the received packets, or all losses by the peer's own count, which also covers those after the last
 * packet.
 */
export function packetsLost({
  reception,
  lostByReports,
}: Pick<CallMedia, 'reception' | 'lostByReports'>): number {
  const gaps = reception?.lost ?? 0;
  return lostByReports - gaps >= reportedLoss ? lostByReports : gaps;
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}

const unreachable = new BlockList();
// RFC 1918, RFC 6598 (carriers' NAT), RFC 3927 and RFC 4291 (link local), RFC 4193, loopback.
unreachable.addSubnet('10.0.0.0', 8);
unreachable.addSubnet('172.16.0.0', 12);
unreachable.addSubnet('192.168.0.0', 16);
unreachable.addSubnet('100.64.0.0', 10);
unreachable.addSubnet('169.254.0.0', 16);
unreachable.addSubnet('127.0.0.0', 8);
unreachable.addSubnet('fe80::', 10, 'ipv6');
unreachable.addSubnet('fc00::', 7, 'ipv6');
unreachable.addAddress('::1', 'ipv6');

/** Whether `address` is private, link local or loopback; false for host names. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && unreachable.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
