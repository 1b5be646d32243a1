/**
 * Calls that control closes because their edge does not:
 *
 *     queued      --no edge took it--------------> edge_unavailable   an edge that has it anyway is ordered to end it
 *     queued      --never placed (queued-store.ts)------^
 *     in progress --edge away for too long-------> edge_lost          a later report of the edge replaces it
 *     in progress --not among those that its edge says are up--> end_lost
 *
 * A stop of a lost call is recorded as who ended it; if the edge comes back with the call, it is ordered to end it.
 */
import { newId } from '#shared/ids.ts';
import type { TerminationCode } from '#shared/termination.ts';
import { builtOnce, type CallRow, type Database, type Db, fromJson, isAmong } from '../db/index.ts';
import { changeAndRecord, recordEvents } from '../events/index.ts';
import { withSums } from './call-sums.ts';
import { queueCallsCompleted } from './completed-event.ts';
import { queueConferenceEvents, type ReportedEvent } from './conference-events.ts';
import { endsOf, type ToldCall, toldColumns } from './happenings.ts';

const unavailable: TerminationCode = 'edge_unavailable';
const lost = 'edge_lost' satisfies TerminationCode;
const endLost = 'end_lost' satisfies TerminationCode;

type End = Pick<CallRow, 'termination' | 'hangup_by'>;

/** Whether control closed the call without its edge, which may still have it. */
export function isClosedWithoutEdge({ termination }: End): boolean {
  return termination === unavailable || termination === lost || termination === endLost;
}

/** Whether a call closed without its edge must end when the edge reports it as running. */
function mustEnd({ termination, hangup_by }: End): boolean {
  return termination === unavailable || (termination === lost && hangup_by === 'api');
}

/** Ends a call that no edge took. Does nothing once an edge has reported it. */
export function failQueuedCall(db: Db, id: string, now: string, detail: string): Promise<void> {
  return changeAndRecord(db, async (trx) => {
    const failed = await withSums(trx, [id], () =>
      trx
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
        .returning(toldColumns)
        .execute(),
    );
    return endsOf(failed, now);
  });
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

const findEnds = builtOnce((db, ids: readonly string[]) =>
  db
    .selectFrom('calls')
    .select(['id', 'org_id', 'termination', 'hangup_by'])
    .where(isAmong(db, 'id', ids))
    .where('ended_at', 'is not', null),
);

/** Those of the calls that must be ended, though their edges report them as running, with their organizations. */
export async function unwantedOf(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  return new Map((await findEnds(db, ids)).filter(mustEnd).map(({ id, org_id }) => [id, org_id]));
}

export interface ClosedCalls {
  readonly closed: number;
  /** Whether webhooks were queued. */
  readonly webhooksQueued: boolean;
}

/**
 * Closes calls of edges last seen before `before`, `limit` at most, in one transaction. Their end is the time the edge
 * was last seen.
 * @param connected ids of connected edges, whenever they were last seen
 * @param before, now ISO
 */
export function closeLostCalls(
  { db }: Pick<Database, 'db'>,
  connected: readonly string[],
  before: string,
  now: string,
  limit: number,
): Promise<ClosedCalls> {
  return db.transaction().execute(async (trx) => {
    const calls = await callsOfEdges(trx)
      .where('last_seen_at', '<', before)
      .$if(connected.length > 0, (query) => query.where('edges.id', 'not in', connected))
      .limit(limit)
      .execute();
    return { closed: calls.length, webhooksQueued: await closeAs(trx, lost, calls, now) };
  });
}

/** Calls of one transaction's statement. */
const callsPerStep = 500;

/**
 * Closes the calls of an edge that is being removed, in that transaction.
 * @param now ISO @returns whether webhooks were queued
 */
export async function closeCallsOfEdge(db: Db, edgeId: string, now: string): Promise<boolean> {
  let webhooksQueued = false;
  for (let closed = callsPerStep; closed === callsPerStep; ) {
    const calls = await callsOfEdges(db).where('edges.id', '=', edgeId).limit(callsPerStep).execute();
    webhooksQueued = (await closeForGood(db, lost, calls, now)) || webhooksQueued;
    closed = calls.length;
  }
  return webhooksQueued;
}

/** What an edge says about its calls. */
export interface RunningOnEdge {
  readonly edgeId: string;
  readonly outboxId: string;
  readonly callIds: readonly string[];
}

/**
 * Closes the calls that an edge has reported as running and no longer has, in the transaction of its report. They were up
 * when its reports before this one were stored.
 * @param now ISO
 */
export async function closeCallsNotRunning(
  db: Db,
  { edgeId, outboxId, callIds }: RunningOnEdge,
  now: string,
): Promise<ClosedCalls> {
  const running = new Set(callIds);
  const before = await db
    .selectFrom('outboxes')
    .select('reported_at')
    .where('outbox_id', '=', outboxId)
    .executeTakeFirst();
  let closed = 0;
  let webhooksQueued = false;
  let after = '';
  for (;;) {
    const calls = await callsOfEdges(db)
      .where('edges.id', '=', edgeId)
      .where('sip_call_id', '!=', '')
      .where('calls.id', '>', after)
      .orderBy('calls.id')
      .limit(callsPerStep)
      .execute();
    const gone = calls
      .filter(({ id }) => !running.has(id))
      .map((call) => ({ ...call, last_seen_at: before?.reported_at ?? call.last_seen_at }));
    webhooksQueued = (await closeForGood(db, endLost, gone, now)) || webhooksQueued;
    closed += gone.length;
    after = calls.at(-1)?.id ?? '';
    if (calls.length < callsPerStep) return { closed, webhooksQueued };
  }
}

/** Running calls with what closing them needs. */
function callsOfEdges(db: Db) {
  return runningCalls(db)
    .innerJoin('edges', 'edges.id', 'calls.edge_id')
    .select(['calls.id', 'calls.org_id', 'number', 'parent_id', 'test_run_id'])
    .select(['direction', 'from_number', 'to_number', 'conference'])
    .select(['started_at', 'answered_at', 'last_seen_at']);
}

type RunningCall = Pick<
  CallRow,
  | 'id'
  | 'org_id'
  | 'number'
  | 'parent_id'
  | 'test_run_id'
  | 'direction'
  | 'from_number'
  | 'to_number'
  | 'conference'
  | 'started_at'
  | 'answered_at'
> & { readonly last_seen_at: string };

/** The same for calls of which no edge will say anything more: they have left their conferences, too. */
async function closeForGood(
  db: Db,
  termination: typeof lost | typeof endLost,
  calls: readonly RunningCall[],
  now: string,
): Promise<boolean> {
  const left = calls.flatMap((call): ReportedEvent[] => {
    if (call.conference === null) return [];
    const { id: conference_id, name } = fromJson(call.conference);
    const { id, org_id, direction, from_number: from, to_number: to } = call;
    const at = endTime(call);
    return [
      {
        event: { id: newId(), what: 'left', at, conference_id, name },
        call: { id, org_id, direction, from, to },
      },
    ];
  });
  const isTold = await queueConferenceEvents(db, left, now);
  return (await closeAs(db, termination, calls, now)) || isTold;
}

function endTime({ answered_at, started_at, last_seen_at }: RunningCall): string {
  const begun_at = answered_at ?? started_at;
  return last_seen_at > begun_at ? last_seen_at : begun_at;
}

async function closeAs(
  db: Db,
  termination: typeof lost | typeof endLost,
  calls: readonly RunningCall[],
  now: string,
): Promise<boolean> {
  const ended = calls.map((call) => ({ ...call, ended_at: endTime(call) }));
  const webhooksQueued = await queueCallsCompleted(db, ended, now);
  const closed = ended.map(({ id, ended_at, answered_at, last_seen_at }) => ({
    id,
    ended_at,
    termination,
    ...endOf(answered_at, detailOf[termination](last_seen_at)),
  }));
  await closeCalls(db, closed, now);
  return webhooksQueued;
}

/** Running calls, found by the index over organization and outcome. */
export function runningCalls(db: Db) {
  return db
    .selectFrom('calls')
    .where('calls.org_id', 'in', (eb) => eb.selectFrom('organizations').select('organizations.id'))
    .where('outcome', '=', 'in_progress')
    .where('ended_at', 'is', null);
}

type Closed = Pick<
  CallRow,
  'id' | 'ended_at' | 'status' | 'outcome' | 'sip_code' | 'sip_reason' | 'termination' | 'termination_detail'
>;

const updateClosed = builtOnce((db, { id, ...end }: Closed & Pick<CallRow, 'end_stored_at'>) =>
  db
    .updateTable('calls')
    .set({ ...end, hangup_by: 'error' })
    .where('id', '=', id)
    .returning(toldColumns),
);

/** Stores the end of calls that their edge does not report. @param now ISO */
export async function closeCalls(db: Db, closed: readonly Closed[], now: string): Promise<void> {
  const ended: ToldCall[] = [];
  const ids = closed.map(({ id }) => id);
  await withSums(db, ids, async () => {
    for (const one of closed) ended.push(...(await updateClosed(db, { ...one, end_stored_at: now })));
  });
  await recordEvents(db, endsOf(ended, now));
}

const detailOf = {
  [lost]: (at: string) => `The edge was last seen at ${at}; how the call ended is unknown.`,
  [endLost]: (at: string) =>
    `The edge no longer has the call; its last report before was written at ${at}. How the call ended is unknown.`,
};

/** An unanswered call is canceled, so it does not count as a trunk failure. */
function endOf(answeredAt: string | null, termination_detail: string) {
  if (answeredAt === null)
    return { status: 'canceled', outcome: 'canceled', sip_code: null, sip_reason: null, termination_detail };
  return { status: 'completed', outcome: 'completed', sip_code: 200, sip_reason: 'OK', termination_detail };
}
