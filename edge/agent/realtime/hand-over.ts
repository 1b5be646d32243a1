/** Hands a call over to the model of a Realtime node, and takes it back. */
import type { RealtimeOrder, RealtimeResult } from '#shared/agent/realtime-order.ts';
import type { NodeSession, NodeSessionParts } from './node-session.ts';

type CallParts = Pick<NodeSessionParts, 'settings' | 'host' | 'node' | 'sampleRate'>;

/** @throws Error when the organization has no such connection */
export type OpenModel = (order: RealtimeOrder, parts: CallParts) => NodeSession;

/**
 * @param open absent: the organization has no connection
 * @param holds called with the session that gets audio and keys; null: none any more
 */
export async function handOver(
  open: OpenModel | undefined,
  order: RealtimeOrder,
  parts: CallParts,
  holds: (session: NodeSession | null) => void,
): Promise<RealtimeResult> {
  try {
    if (!open) throw new Error(`the organization has no realtime connection "${order.connection}"`);
    const session = open(order, parts);
    holds(session);
    return await session.run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { outcome: { kind: 'failed', reason }, turns: [], variables: {} };
  } finally {
    holds(null);
  }
}
