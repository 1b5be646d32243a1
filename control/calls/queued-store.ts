/**
 * Calls left queued that nothing will place any more: control stopped between storing the call and the edge's answer,
 * or the edge stopped before its first report. Only the call is stored, not its order, and the callee must not be
 * called at another time than the customer wanted, so such a call is closed, not placed again.
 */
import type SqliteFile from 'better-sqlite3';
import type { TerminationCode } from '#shared/termination.ts';
import { prepareCallCompleted } from './completed-event.ts';
import type { ClosedCalls } from './lost-store.ts';

const unavailable: TerminationCode = 'edge_unavailable';
const detail =
  'No edge reported the call after control, or the edge, was restarted while it was being placed.';

interface Queued {
  readonly id: string;
  readonly org_id: string;
  readonly number: string;
  readonly parent_id: string | null;
  readonly test_run_id: string | null;
}

/**
 * Closes calls queued before `before`, `limit` at most, in one transaction. Only the silence of an edge that has been
 * connected since then, or is no longer known, shows that it does not have the call.
 * @param connected ids of connected edges @param before, now ISO
 */
export function closeQueuedCalls(
  connection: SqliteFile.Database,
  connected: readonly string[],
  before: string,
  now: string,
  limit: number,
): ClosedCalls {
  // Running calls are found by the index over organization and outcome.
  const find = connection.prepare<[string, string, string, number], Queued>(
    `select calls.id, org_id, number, parent_id, test_run_id from calls left join edges on edges.id = calls.edge_id
     where org_id in (select id from organizations) and outcome = 'in_progress' and ended_at is null
       and status = 'queued' and sip_call_id = '' and started_at < ?
       and (edges.id is null or (connected_at < ? and edges.id in (select value from json_each(?))))
     limit ?`,
  );
  const close = connection.prepare(
    `update calls set ended_at = @now, status = 'failed', outcome = 'failed', termination = @termination,
       termination_detail = @detail, hangup_by = 'error'
     where id = @id`,
  );
  const completed = prepareCallCompleted(connection);
  const closeAll = (): ClosedCalls => {
    const calls = find.all(before, before, JSON.stringify(connected), limit);
    let told = false;
    for (const call of calls) {
      told = completed({ ...call, ended_at: now }, now) || told;
      close.run({ id: call.id, now, termination: unavailable, detail });
    }
    return { closed: calls.length, told };
  };
  return connection.transaction(closeAll).immediate();
}
