/**
 * What is known of the audio of a call, as a verdict and as sentences: one table for call records and test calls. Pure.
 *
 * Audio goes out when packets were sent and the peer does not say by RTCP that none arrive. It comes in when packets
 * were taken, unless the peer's stream has moved to a source that is not followed, or its sender reports count packets
 * that do not arrive any more. What nothing proves is called so.
 */
import type { MediaReport, MediaVerdict, PeerHears } from '#shared/edge-protocol/calls.ts';

/** Packets that arrived and were of no use, by reason. */
export interface DroppedPackets {
  /** They came from another source than the one that was authenticated first. */
  readonly fromElsewhere: number;
  /** They failed SRTP authentication, or were replayed. */
  readonly undecrypted: number;
  /** They were authentic RTP, but of a second SSRC or of a payload type that was not agreed. */
  readonly unclaimed: number;
}

export interface MediaEvidence {
  /** Null before negotiation. */
  readonly codec: string | null;
  readonly sent: number;
  readonly received: number;
  readonly peerHears: PeerHears;
  /** Packets sent since the last that the peer has by its reports, whose highest sequence number stands still; 0: it goes up. */
  readonly unheard: number;
  /** Packets that the peer's sender reports count since audio of it was heard last, and that did not arrive. */
  readonly lostInSilence: number;
  /** Percent of our packets that the peer's last RTCP report says it lost; null when none came. */
  readonly lossSent: number | null;
  /** Authentic RTCP packets of the peer. */
  readonly rtcpPackets: number;
  readonly dropped: DroppedPackets;
  /** The stream that was heard fell silent, and so many packets came from another place since; null: it did not. */
  readonly moved: { readonly packets: number; readonly to: string | null } | null;
  /** Address of the peer's media by its SDP, and whether packets from the internet cannot reach it. */
  readonly peerAddress: string | null;
  readonly peerIsPrivate: boolean;
  readonly weArePrivate: boolean;
  /** The direction agreed last, as we see it. */
  readonly direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  readonly held: boolean;
}

/** Percent of our packets that the peer must miss for none to arrive: the first may come before it is ready. */
const allLost = 95;
/** Packets lost in silence that are a stream, and not one report that overtook its audio: 1 s. */
const lostStream = 50;
/** Percent of lost packets that a person hears. */
export const audibleLoss = 5;

export function mediaVerdict(evidence: MediaEvidence): Pick<MediaReport, 'verdict' | 'cause'> {
  const { sent, received, moved, lostInSilence } = evidence;
  const isHeard = sent > 0 && reportedHearing(evidence.peerHears, evidence.lossSent);
  const hears = received > 0 && moved === null && lostInSilence < lostStream;
  return { verdict: verdictOf(isHeard, hears), cause: causeOf(evidence, isHeard, hears) };
}

/** Whether the peer's reports leave it possible that it hears us. */
export function reportedHearing(peerHears: PeerHears, lossSent: number | null): boolean {
  return peerHears !== 'no' && (lossSent ?? 0) < allLost;
}

export function verdictOf(isHeard: boolean, hears: boolean): MediaVerdict {
  if (isHeard) return hears ? 'two_way' : 'send_only';
  return hears ? 'receive_only' : 'none';
}

/** The probable cause of missing audio, in sentences that a person can act on; null when none is missing. */
function causeOf(evidence: MediaEvidence, isHeard: boolean, hears: boolean): string | null {
  if (evidence.codec === null) return 'No media was negotiated.';
  if (isHeard) return hears ? null : receivingCause(evidence);
  if (hears) return sendingCause(evidence);
  // Without audio of ours, what does not come in is the more telling.
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
    return 'Nothing was sent: the agent gave no audio before the call ended.';
  }
  const way = 'a firewall or NAT on the way may drop them, or the SDP of the peer names a wrong address';
  if (peerHears === 'no' && unheard > 0) {
    return `The peer does not hear us any more: the highest sequence number in its RTCP reports stands still, and ${count(unheard)} sent since did not arrive there: ${way}.`;
  }
  if (peerHears === 'no') {
    return `The peer sends RTCP reports without a word about our packets, so none arrives there: ${way}.`;
  }
  return `The peer reports by RTCP that it loses ${lossSent} % of our packets: ${way}.`;
}

/** The surest sign comes first. */
function receivingCause(evidence: MediaEvidence): string {
  const { dropped, moved, codec, held, direction, rtcpPackets, peerAddress, lostInSilence, received } =
    evidence;
  // Those that came and were dropped are missing in the peer's count too.
  const arrived = moved !== null || dropped.undecrypted + dropped.fromElsewhere >= lostInSilence;
  if (lostInSilence >= lostStream && !arrived) {
    const since = received > 0 ? 'since the last that arrived' : 'and none arrived';
    return `Audio of the peer is lost on the way: its RTCP sender reports count ${count(lostInSilence)} ${since}. A firewall or NAT may block the RTP port alone.`;
  }
  if (dropped.unclaimed > 0) {
    return `${count(dropped.unclaimed)} came from the peer, but of another codec or payload type than the agreed ${codec}.`;
  }
  if (moved) {
    const to = moved.to === null ? 'another source' : moved.to;
    return `The peer was heard until its packets came from ${to}: ${count(moved.packets)} from there were dropped. A source is not followed without a re-INVITE that names it.`;
  }
  if (dropped.undecrypted > 0) {
    return `${count(dropped.undecrypted)} arrived but failed SRTP authentication: the keys in the peer's SDP are not those in use.`;
  }
  if (dropped.fromElsewhere > 0) {
    return `${count(dropped.fromElsewhere)} came from another source than the first that SRTP authenticated.`;
  }
  if (held) return 'The peer held the call.';
  if (direction === 'sendonly' || direction === 'inactive') {
    return `The peer sends no audio: the negotiated direction was ${direction}.`;
  }
  if (rtcpPackets > 0) {
    return "The peer's RTCP arrives and no audio with it: the peer is muted, or a firewall blocks the RTP port alone.";
  }
  if (peerAddress !== null && evidence.peerIsPrivate && !evidence.weArePrivate) {
    return `No packet arrived, and the peer's SDP has the private address ${peerAddress}: it is probably behind a NAT that does not let media through.`;
  }
  return 'No packet arrived from the peer: a firewall may block the RTP ports, or the peer is muted.';
}

/** What a summary is made of. */
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

/** What else is known of a call. */
export interface Circumstances {
  readonly codec: string | null;
  /** Our tone came back, which proves more than any report. */
  readonly echo?: boolean;
  readonly more?: readonly string[];
}

/** Packets from elsewhere that are a stream and not strays. */
const streamPackets = 5;

/** Both directions in one sentence, or two. */
export function mediaSummary(summed: Summed, { codec, echo = false, more = [] }: Circumstances): string {
  const { verdict, cause, peer_hears } = summed;
  const why = cause ?? 'No media was exchanged.';
  if (verdict === 'send_only') return `No audio comes from the peer. ${why}`;
  if (verdict === 'receive_only') return `No audio goes to the peer. ${why}`;
  if (verdict === 'none') return `No audio goes either way. ${why}`;
  const head =
    echo || peer_hears === 'yes'
      ? 'Audio goes both ways'
      : 'Audio comes from the peer, and nothing proves that ours arrives there';
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
  const theirs = lost.orOnTheWayThere ? 'lost on the way there or back' : "of the peer's lost on their way";
  return [
    ...(peer_loss_percent >= audibleLoss ? [`${peer_loss_percent} % of ours lost on their way`] : []),
    ...(lost.percent >= audibleLoss ? [`${lost.percent} % ${theirs}`] : []),
    ...(packets_from_elsewhere >= streamPackets
      ? [`${count(packets_from_elsewhere)} from another source dropped`]
      : []),
  ];
}

/** Percent of the packets lost on their way to us, and where else they may have been lost. */
export interface LostOnTheWayBack {
  readonly percent: number;
  /** An echo copies the gaps of what it hears, and no report tells how many it had. */
  readonly orOnTheWayThere: boolean;
}

/** Gaps that an echo copied from what it heard of us are none of the way back. */
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

/** Percent of the packets of the peer that are missing. */
function lostPercent({
  packets_lost,
  packets_received,
}: Pick<MediaReport, 'packets_lost' | 'packets_received'>): number {
  return Math.round((100 * packets_lost) / Math.max(1, packets_lost + packets_received));
}

function count(packets: number): string {
  return packets === 1 ? '1 packet' : `${packets} packets`;
}
