/**
 * What the media of a call proves in a test call. Pure.
 *
 * Only media after the answer counts: earlier audio may be a carrier announcement rather than the far end. A few
 * packets are not a stream. Our tone coming back is stronger proof than any report of the far end.
 */
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import { reportedHearing, verdictOf } from '../../call/media-verdict.ts';

/** Packets after the answer that count as a stream rather than strays. */
const streamPackets = 5;

export type PacketCounts = Pick<MediaReport, 'packets_sent' | 'packets_received'>;

export const noPackets: PacketCounts = { packets_sent: 0, packets_received: 0 };

/**
 * The media report adjusted for the test: packets since the answer, and the verdict they prove.
 * @param before packets counted before the answer
 * @param echoMs ms of our tone that came back, which proves that the far end hears us
 */
export function provenMedia(report: MediaReport, before: PacketCounts, echoMs: number): MediaReport {
  const packets_sent = Math.max(0, report.packets_sent - before.packets_sent);
  const packets_received = Math.max(0, report.packets_received - before.packets_received);
  const hears = packets_received >= streamPackets && !ceased(report);
  const isHeard = packets_sent > 0 && hearsUs(report, echoMs);
  const verdict = verdictOf(isHeard, hears);
  const counted = { ...report, packets_sent, packets_received, verdict };
  return { ...counted, cause: verdict === 'two_way' ? null : causeOf(counted, report, before) };
}

/** Whether audio arrived earlier and no longer does: it moved, or is lost on the way. */
function ceased({ packets_received, verdict }: MediaReport): boolean {
  return packets_received > 0 && (verdict === 'send_only' || verdict === 'none');
}

/** Whether our tone came back, or the far end's reports allow that it hears us. */
export function hearsUs({ peer_hears = 'unknown', peer_loss_percent }: MediaReport, echoMs: number): boolean {
  return echoMs > 0 || reportedHearing(peer_hears, peer_loss_percent ?? null);
}

function causeOf(counted: MediaReport, report: MediaReport, before: PacketCounts): string | null {
  const { packets_received: received, verdict } = counted;
  if (verdict === 'receive_only' || ceased(report)) return report.cause;
  if (received > 0) return `Only ${count(received)} arrived after the answer.`;
  if (before.packets_received > 0)
    return `${count(before.packets_received)} came before the answer, and none after it.`;
  return report.cause;
}

function count(packets: number): string {
  return packets === 1 ? '1 packet' : `${packets} packets`;
}
