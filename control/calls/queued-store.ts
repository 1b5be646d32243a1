/**
 * Calls left queued that will never be placed: control stopped between storing the call and the edge's answer,
 * or the edge stopped before its first report. Only the call is stored, not its order, and the callee must not be
 * called at another time than the customer wanted, so such a call is closed, not placed again.
 */
import type { TerminationCode } from '#shared/termination.ts';
import type { Database } from '../db/index.ts';
import { queueCallsCompleted } from './completed-event.ts';
import { type ClosedCalls, closeCalls, runningCalls } from './lost-store.ts';

const unavailable: TerminationCode = 'edge_unavailable';
const detail =
  'No edge reported the call after control, or the edge, was restarted while it was being placed.';

/**
 * Closes calls queued before `before`, `limit` at most, in one transaction. Only the silence of an edge that has been
 * connected since then, or is no longer known, shows that it does not have the call.
 * @param connected ids of connected edges @param before, now ISO
 */
export function closeQueuedCalls(
  { db }: Pick<Database, 'db'>,
  connected: readonly string[],
  before: string,
  now: string,
  limit: number,
): Promise<ClosedCalls> {
  return db.transaction().execute(async (trx) => {
    const calls = await runningCalls(trx)
      .leftJoin('edges', 'edges.id', 'calls.edge_id')
      .select(['calls.id', 'calls.org_id', 'number', 'parent_id', 'test_run_id', 'sip_code', 'sip_reason'])
      .where('status', '=', 'queued')
      .where('sip_call_id', '=', '')
      .where('started_at', '<', before)
      .where((eb) => {
        const unknown = eb('edges.id', 'is', null);
        if (connected.length === 0) return unknown;
        return eb.or([unknown, eb.and([eb('connected_at', '<', before), eb('edges.id', 'in', connected)])]);
      })
      .limit(limit)
      .execute();
    const ended = calls.map((call) => ({ ...call, ended_at: now }));
    const webhooksQueued = await queueCallsCompleted(trx, ended, now);
    const end = { ended_at: now, status: 'failed', outcome: 'failed' };
    const why = { termination: unavailable, termination_detail: detail };
    const closed = calls.map(({ id, sip_code, sip_reason }) => ({
      id,
      sip_code,
      sip_reason,
      ...end,
      ...why,
    }));
    await closeCalls(trx, closed, now);
    return { closed: calls.length, webhooksQueued };
  });
}
