/**
 * Whether audio passed on a call, as a verdict and as sentences: one table for call records and test calls. Pure.
 *
 * Outbound audio works when packets were sent and the peer's RTCP does not report them all lost. Inbound audio works
 * when packets were accepted, unless the peer's stream moved to a source that is not followed, or its sender reports
 * count packets that no longer arrive. The summary marks what no report proves.
 */
import type { MediaReport, MediaVerdict, PeerHears } from '#shared/edge-protocol/calls.ts';

/** Packets received and dropped, by reason. */
export interface DroppedPackets {
  /** From a source other than the first authenticated one. */
  readonly fromElsewhere: number;
  /** Failed SRTP authentication, or replayed. */
  readonly undecrypted: number;
  /** Authentic RTP with a second SSRC or a payload type that was not negotiated. */
  readonly unclaimed: number;
}

export interface MediaEvidence {
  /** Null before negotiation. */
  readonly codec: string | null;
  readonly sent: number;
  readonly received: number;
  readonly peerHears: PeerHears;
  /** Packets sent since the highest sequence number in the peer's reports stopped advancing; 0: it advances. */
  readonly unheard: number;
  /** Packets counted by the peer's sender reports since its last audio, which did not arrive. */
  readonly lostInSilence: number;
  /** Percent of our packets lost, from the peer's last RTCP report; null without a report. */
  readonly lossSent: number | null;
  /** Authentic RTCP packets of the peer. */
  readonly rtcpPackets: number;
  readonly dropped: DroppedPackets;
  /** Set when the stream fell silent and packets came from another address since. */
  readonly moved: { readonly packets: number; readonly to: string | null } | null;
  /** Address of the peer's media in its SDP, and whether it is unreachable from the internet. */
  readonly peerAddress: string | null;
  readonly peerIsPrivate: boolean;
  readonly weArePrivate: boolean;
  /** The last negotiated direction, from our side. */
  readonly direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  readonly held: boolean;
}

/** Percent of loss that counts as nothing arriving: early packets may be sent before the peer is ready. */
const allLost = 95;
/** Packets lost in silence that mean a stream rather than a report that overtook its audio: 1 s. */
const lostStream = 50;
/** Percent of lost packets that is audible. */
export const audibleLoss = 5;

export function mediaVerdict(evidence: MediaEvidence): Pick<MediaReport, 'verdict' | 'cause'> {
  const { sent, received, moved, lostInSilence } = evidence;
  const isHeard = sent > 0 && reportedHearing(evidence.peerHears, evidence.lossSent);
  const hears = received > 0 && moved === null && lostInSilence < lostStream;
  return { verdict: verdictOf(isHeard, hears), cause: causeOf(evidence, isHeard, hears) };
}

/** Whether the peer's reports allow that it hears us. */
export function reportedHearing(peerHears: PeerHears, lossSent: number | null): boolean {
  return peerHears !== 'no' && (lossSent ?? 0) < allLost;
}

export function verdictOf(isHeard: boolean, hears: boolean): MediaVerdict {
  if (isHeard) return hears ? 'two_way' : 'send_only';
  return hears ? 'receive_only' : 'none';
}

/** The probable cause of missing audio, with what to do; null when nothing is missing. */
function causeOf(evidence: MediaEvidence, isHeard: boolean, hears: boolean): string | null {
  if (evidence.codec === null) return 'No media was negotiated.';
  if (isHeard) return hears ? null : receivingCause(evidence);
  if (hears) return sendingCause(evidence);
  // Without outbound audio, the inbound cause says more.
  return evidence.sent === 0
    ? receivingCause(evidence)
    : `${sendingCause(evidence)} ${receivingCause(evidence)}`;
}

function sendingCause({ sent, held, direction, peerHears, unheard, lossSent }: MediaEvidence): string {
  if (sent === 0) {
    if (held) return 'The peer held the call, so nothing was sent to it.';
    if (direction === 'recvonly' || direction === 'inactive') {
      return `The negotiated direction was ${direction}, so nothing was sent.`;
    }
    return 'Nothing was sent: the agent produced no audio before the call ended.';
  }
  const way = "a firewall or NAT may drop them, or the peer's SDP has a wrong address";
  if (peerHears === 'no' && unheard > 0) {
    return `The peer no longer hears us: the highest sequence number in its RTCP reports is stuck, and ${count(unheard)} sent since did not arrive: ${way}.`;
  }
  if (peerHears === 'no') {
    return `The peer's RTCP reports do not mention our packets, so none arrive: ${way}.`;
  }
  return `The peer reports by RTCP that it loses ${lossSent} % of our packets: ${way}.`;
}

/** The most certain evidence is checked first. */
function receivingCause(evidence: MediaEvidence): string {
  const { dropped, moved, codec, held, direction, rtcpPackets, peerAddress, lostInSilence, received } =
    evidence;
  // Packets that arrived and were dropped are also missing from the peer's count.
  const arrived = moved !== null || dropped.undecrypted + dropped.fromElsewhere >= lostInSilence;
  if (lostInSilence >= lostStream && !arrived) {
    const since = received > 0 ? 'since the last that arrived' : 'and none arrived';
    return `Audio from the peer is lost on the way: its RTCP sender reports count ${count(lostInSilence)} ${since}. A firewall or NAT may block only the RTP port.`;
  }
  if (dropped.unclaimed > 0) {
    return `${count(dropped.unclaimed)} came from the peer with a codec or payload type other than the negotiated ${codec}.`;
  }
  if (moved) {
    const to = moved.to === null ? 'another source' : moved.to;
    return `The peer was heard until its packets came from ${to}: ${count(moved.packets)} from there were dropped. The edge follows a new source only after a re-INVITE.`;
  }
  if (dropped.undecrypted > 0) {
    return `${count(dropped.undecrypted)} arrived but failed SRTP authentication: the peer uses other keys than those in its SDP.`;
  }
  if (dropped.fromElsewhere > 0) {
    return `${count(dropped.fromElsewhere)} came from a source other than the first authenticated one.`;
  }
  if (held) return 'The peer held the call.';
  if (direction === 'sendonly' || direction === 'inactive') {
    return `The peer sends no audio: the negotiated direction was ${direction}.`;
  }
  if (rtcpPackets > 0) {
    return 'RTCP arrives from the peer, but no audio: the peer is muted, or a firewall blocks only the RTP port.';
  }
  if (peerAddress !== null && evidence.peerIsPrivate && !evidence.weArePrivate) {
    return `No packet arrived, and the peer's SDP has the private address ${peerAddress}: it is probably behind a NAT that blocks media.`;
  }
  return 'No packet arrived from the peer: a firewall may block the RTP ports, or the peer is muted.';
}

/** The input of a summary. */
export type Summed = Pick<
  MediaReport,
  | 'packets_sent'
  | 'packets_received'
  | 'packets_lost'
  | 'verdict'
  | 'cause'
  | 'peer_loss_percent'
  | 'peer_hears'
  | 'rtcp_packets_received'
  | 'packets_from_elsewhere'
>;

/** Other facts about the call. */
export interface Circumstances {
  readonly codec: string | null;
  /** Our tone came back, which is stronger proof than any report. */
  readonly echo?: boolean;
  readonly more?: readonly string[];
}

/** Packets from another address that count as a stream rather than strays. */
const streamPackets = 5;

/** Both directions in one sentence, or two. */
export function mediaSummary(summed: Summed, { codec, echo = false, more = [] }: Circumstances): string {
  const { verdict, cause, peer_hears } = summed;
  const why = cause ?? 'No media was exchanged.';
  if (verdict === 'send_only') return `No audio from the peer. ${why}`;
  if (verdict === 'receive_only') return `No audio to the peer. ${why}`;
  if (verdict === 'none') return `No audio in either direction. ${why}`;
  const head =
    echo || peer_hears === 'yes' ? 'Two-way audio' : 'Audio from the peer; no proof that it receives ours';
  const parts = [
    `${summed.packets_sent} packets sent`,
    `${summed.packets_received} received`,
    ...(codec === null ? [] : [codec]),
    echo ? 'our tone came back' : reportedProof(summed),
    ...losses(summed, echo),
    ...more,
  ];
  return `${head}: ${parts.join(', ')}.`;
}

function reportedProof({ peer_hears, rtcp_packets_received = 0 }: Summed): string {
  if (peer_hears === 'yes') return 'the peer reports by RTCP that it receives ours';
  return rtcp_packets_received > 0 ? 'no RTCP report about ours yet' : 'no RTCP from the peer';
}

function losses(summed: Summed, echo: boolean): string[] {
  const { peer_loss_percent = 0, packets_from_elsewhere = 0 } = summed;
  const lost = lostOnTheWayBack(summed, echo);
  const theirs = lost.orOnTheWayThere ? 'lost outbound or inbound' : 'inbound loss';
  return [
    ...(peer_loss_percent >= audibleLoss ? [`${peer_loss_percent} % outbound loss`] : []),
    ...(lost.percent >= audibleLoss ? [`${lost.percent} % ${theirs}`] : []),
    ...(packets_from_elsewhere >= streamPackets
      ? [`${count(packets_from_elsewhere)} from other sources dropped`]
      : []),
  ];
}

/** Percent of packets lost on the way to us, and where else they may have been lost. */
export interface LostOnTheWayBack {
  readonly percent: number;
  /** The peer is an echo: its audio has our gaps too, and no report says how many. */
  readonly orOnTheWayThere: boolean;
}

/** Subtracts gaps that an echo copied from our own stream. */
export function lostOnTheWayBack(
  {
    peer_loss_percent,
    ...counts
  }: Pick<MediaReport, 'packets_lost' | 'packets_received' | 'peer_loss_percent'>,
  echo: boolean,
): LostOnTheWayBack {
  const lost = lostPercent(counts);
  if (!echo) return { percent: lost, orOnTheWayThere: false };
  const copied = peer_loss_percent ?? 0;
  return { percent: Math.max(0, lost - copied), orOnTheWayThere: peer_loss_percent === undefined };
}

/** Percent of the peer's packets that are missing. */
function lostPercent({
  packets_lost,
  packets_received,
}: Pick<MediaReport, 'packets_lost' | 'packets_received'>): number {
  return Math.round((100 * packets_lost) / Math.max(1, packets_lost + packets_received));
}

function count(packets: number): string {
  return packets === 1 ? '1 packet' : `${packets} packets`;
}
