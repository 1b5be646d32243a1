/**
 * Calls that control closes because their edge does not:
 *
 *     queued      --no edge took it--------------> edge_unavailable   an edge that has it anyway is told to end it
 *     queued      --never placed (queued-store.ts)------^
 *     in progress --edge away for too long-------> edge_lost          a later report of the edge replaces it
 *
 * A stop of a lost call is recorded as who ended it; if the edge comes back with the call, it is told to end it.
 */
import type SqliteFile from 'better-sqlite3';
import type { TerminationCode } from '#shared/termination.ts';
import type { CallRow, Db } from '../db/index.ts';
import { prepareCallCompleted } from './completed-event.ts';

const unavailable: TerminationCode = 'edge_unavailable';
const lost: TerminationCode = 'edge_lost';

type End = Pick<CallRow, 'termination' | 'hangup_by'>;

/** Whether control closed the call without its edge, which may still have it. */
export function isClosedWithoutEdge({ termination }: End): boolean {
  return termination === unavailable || termination === lost;
}

/** Whether a call closed without its edge must end when the edge reports it as running. */
function mustEnd({ termination, hangup_by }: End): boolean {
  return termination === unavailable || (termination === lost && hangup_by === 'api');
}

/** Ends a call that no edge took. Does nothing once an edge has reported it. */
export async function failQueuedCall(db: Db, id: string, now: string, detail: string): Promise<void> {
  await db
    .updateTable('calls')
    .set({
      status: 'failed',
      outcome: 'failed',
      ended_at: now,
      termination: unavailable,
      termination_detail: detail,
      hangup_by: 'error',
    })
    .where('id', '=', id)
    .where('sip_call_id', '=', '')
    .where('ended_at', 'is', null)
    .execute();
}

/** Marks a lost call to be ended as soon as its edge reports it. */
export async function stopWhenReported(db: Db, id: string): Promise<void> {
  await db
    .updateTable('calls')
    .set({ hangup_by: 'api' })
    .where('id', '=', id)
    .where('termination', '=', lost)
    .execute();
}

/** Returns a function that tells whether a call that an edge reports as running must be ended. */
export function prepareIsUnwanted(connection: SqliteFile.Database): (callId: string) => boolean {
  const ended = connection.prepare<[string], End>(
    'select termination, hangup_by from calls where id = ? and ended_at is not null',
  );
  return (callId) => {
    const end = ended.get(callId);
    return end !== undefined && mustEnd(end);
  };
}

interface Lost {
  readonly id: string;
  readonly org_id: string;
  readonly number: string;
  readonly parent_id: string | null;
  readonly test_run_id: string | null;
  readonly answered_at: string | null;
  readonly begun_at: string;
  readonly last_seen_at: string;
}

export interface ClosedCalls {
  readonly closed: number;
  /** Whether webhooks were queued. */
  readonly told: boolean;
}

/**
 * Closes calls of edges last seen before `before`, `limit` at most, in one transaction. Their end is the time the edge
 * was last seen.
 * @param connected ids of connected edges, whenever they were last seen
 * @param before, now ISO
 */
export function closeLostCalls(
  connection: SqliteFile.Database,
  connected: readonly string[],
  before: string,
  now: string,
  limit: number,
): ClosedCalls {
  // Running calls are found by the index over organization and outcome.
  const find = connection.prepare<[string, string, number], Lost>(
    `select calls.id, calls.org_id, number, parent_id, test_run_id, answered_at,
       coalesce(answered_at, started_at) as begun_at, last_seen_at
     from calls join edges on edges.id = calls.edge_id
     where org_id in (select id from organizations) and outcome = 'in_progress' and ended_at is null
       and last_seen_at < ? and edges.id not in (select value from json_each(?))
     limit ?`,
  );
  const close = connection.prepare(
    `update calls set ended_at = @ended_at, status = @status, outcome = @outcome, sip_code = @sip_code,
       sip_reason = @sip_reason, termination = @termination, termination_detail = @detail, hangup_by = 'error'
     where id = @id`,
  );
  const completed = prepareCallCompleted(connection);
  const closeAll = (): ClosedCalls => {
    const calls = find.all(before, JSON.stringify(connected), limit);
    let told = false;
    for (const call of calls) {
      const ended_at = call.last_seen_at > call.begun_at ? call.last_seen_at : call.begun_at;
      told = completed({ ...call, ended_at }, now) || told;
      close.run({ id: call.id, ended_at, termination: lost, ...endOf(call) });
    }
    return { closed: calls.length, told };
  };
  return connection.transaction(closeAll).immediate();
}

/** An unanswered call is canceled, so it does not count as a trunk failure. */
function endOf({ answered_at, last_seen_at }: Lost) {
  const detail = `The edge was seen last at ${last_seen_at}; what became of the call is not known.`;
  if (answered_at === null)
    return { status: 'canceled', outcome: 'canceled', sip_code: null, sip_reason: null, detail };
  return { status: 'completed', outcome: 'completed', sip_code: 200, sip_reason: 'OK', detail };
}
