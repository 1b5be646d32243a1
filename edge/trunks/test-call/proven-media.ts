/**
 * What the media of a call proves for its test. Pure.
 *
 * Only what came after the answer counts: before it, an announcement of a carrier is heard, not the far end. A few
 * packets are no stream, and what the far end says by RTCP that it does not receive does not go both ways.
 */
import type { MediaReport, MediaVerdict } from '#shared/edge-protocol/calls.ts';

/** Packets after the answer that are a stream and not strays. */
const streamPackets = 5;
/** Percent of our packets that the far end must miss for none to arrive: the first may come before it is ready. */
const allLost = 95;

export type PacketCounts = Pick<MediaReport, 'packets_sent' | 'packets_received'>;

export const noPackets: PacketCounts = { packets_sent: 0, packets_received: 0 };

/**
 * The report as it counts for the test: packets since the answer, and the verdict that they prove.
 * @param before what was counted before the answer
 * @param echoMs milliseconds of our tone that came back, which prove that we are heard
 */
export function provenMedia(report: MediaReport, before: PacketCounts, echoMs: number): MediaReport {
  const packets_sent = Math.max(0, report.packets_sent - before.packets_sent);
  const packets_received = Math.max(0, report.packets_received - before.packets_received);
  const hears = packets_received >= streamPackets;
  const isHeard = packets_sent > 0 && !losesAll(report, echoMs);
  const verdict = verdictOf(isHeard, hears);
  const counted = { ...report, packets_sent, packets_received, verdict };
  return { ...counted, cause: verdict === 'two_way' ? null : causeOf(counted, report, before) };
}

/** Whether the far end reports that nothing of ours arrives, and no echo says otherwise. */
export function losesAll({ peer_loss_percent = 0 }: MediaReport, echoMs: number): boolean {
  return peer_loss_percent >= allLost && echoMs === 0;
}

function verdictOf(isHeard: boolean, hears: boolean): MediaVerdict {
  if (isHeard) return hears ? 'two_way' : 'send_only';
  return hears ? 'receive_only' : 'none';
}

function causeOf(counted: MediaReport, report: MediaReport, before: PacketCounts): string | null {
  const { packets_received: received, verdict } = counted;
  if (verdict === 'receive_only') return report.cause;
  if (received > 0) return `Only ${count(received)} arrived after the answer.`;
  if (before.packets_received > 0)
    return `${count(before.packets_received)} came before the answer, and none after it.`;
  return report.cause;
}

function count(packets: number): string {
  return packets === 1 ? '1 packet' : `${packets} packets`;
}
