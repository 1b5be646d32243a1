/** Scores of what each end of a leg hears, for a whole call and for an interval of it. */
import type { CodecName } from '#shared/codecs.ts';
import type { PeerHears } from '#shared/edge-protocol/calls.ts';
import { reportedHearing } from '../../call/media-verdict.ts';
import { meanOpinionScore } from './emodel.ts';

/** Packetization time of 20 ms audio at each end. */
const packetMs = 20;
/** Typical delay of a peer's jitter buffer, milliseconds: two packets. */
const peerPlayoutMs = 40;

export interface Heard {
  /** Null before negotiation. */
  readonly codec: CodecName | null;
  readonly received: number;
  readonly lost: number;
  /** Packets that arrived too late to be played. */
  readonly late: number;
  /** Packets that should have arrived, at least 1. */
  readonly expected: number;
  readonly roundTripMs: number | null;
  /** Delay added by the jitter buffer, milliseconds. */
  readonly playoutDelayMs: number;
}

/** The score of what we hear; null when nothing arrived and it is unknown whether anything was sent. */
export function receivedOpinion(heard: Heard): number | null {
  const { codec, received, lost, late, expected, roundTripMs, playoutDelayMs } = heard;
  if (codec === null) return null;
  if (received === 0) return lost > 0 ? 1 : null;
  const delayMs = (roundTripMs ?? 0) / 2 + packetMs + playoutDelayMs;
  return meanOpinionScore({ codec, loss: (lost + late) / Math.max(1, expected), delayMs });
}

export interface Sent {
  readonly codec: CodecName | null;
  readonly packetsSent: number;
  readonly peerHears: PeerHears;
  /** By the peer's last report, percent. */
  readonly lossSent: number | null;
  /** Share of our packets lost to the peer, 0..1; null without a report. */
  readonly peerLoss: number | null;
  readonly roundTripMs: number | null;
}

/** The score of what the peer hears; null when nothing was sent, or nothing is known about it. */
export function sentOpinion(sent: Sent): number | null {
  const { codec, packetsSent, peerHears, lossSent, peerLoss, roundTripMs } = sent;
  if (codec === null || packetsSent === 0) return null;
  const delayMs = (roundTripMs ?? 0) / 2 + packetMs + peerPlayoutMs;
  if (!reportedHearing(peerHears, lossSent)) return 1;
  return peerLoss === null ? null : meanOpinionScore({ codec, loss: peerLoss, delayMs });
}
