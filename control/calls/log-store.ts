/**
 * The call log, page by page. Every page is read from the ends of index ranges, so its cost depends neither on the
 * number of calls nor on how many match:
 *
 *     nothing, a number                  one range, by time
 *     a status and a direction           one range
 *     a status                           a range for each direction
 *     a direction                        a range for each outcome
 *
 * Ranges are merged in list order while they are read: SQLite's MERGE of a UNION ALL, PostgreSQL's Merge Append. On
 * SQLite each names its index: with two time bounds, it would prefer the index by time alone.
 */
import { type CallRow, type Db, onIndex } from '../db/index.ts';
import { outcomes } from './outcome.ts';

/** Filters of a page; times are ISO with milliseconds. */
export interface CallFilter {
  readonly number?: string;
  readonly direction?: CallRow['direction'];
  readonly outcome?: string;
  readonly sipCode?: number;
  /** As the edge reported it. Only together with an outcome that few calls have: there is no index of it. */
  readonly status?: string;
  /** inclusive */
  readonly from?: string;
  /** exclusive */
  readonly to?: string;
  /** Only calls after this one in list order. */
  readonly after?: Pick<CallRow, 'started_at' | 'id'>;
}

/** The columns of a log line. The call's input and transcript, which may be long, are left out. */
export const callColumns = [
  'id',
  'sip_call_id',
  'parent_id',
  'direction',
  'from_number',
  'to_number',
  'outcome',
  'sip_code',
  'sip_reason',
  'started_at',
  'answered_at',
  'ended_at',
  'source_ip',
  'edge_id',
  'trunk_id',
  'codec',
  'hangup_by',
  'termination',
  'termination_detail',
  'failover_attempts',
  'media',
] as const;

export type LoggedCall = Pick<CallRow, (typeof callColumns)[number]>;

/** The columns of both lists of calls. */
export const listColumns = [
  ...callColumns,
  'status',
  'pathway_id',
  'pathway_version',
  'persona_id',
  'answered_by',
  'transferred_to',
] as const;

export type ListedRow = Pick<CallRow, (typeof listColumns)[number]>;

/** Newest first: `started_at`, then `id`, both descending. */
export function listCalls(db: Db, orgId: string, filter: CallFilter, limit: number): Promise<ListedRow[]> {
  const [first, ...others] = rangesOf(filter).map((range) => readRange(db, orgId, filter, range));
  const ranges = others.reduce((merged, range) => merged?.unionAll(range), first);
  if (!ranges) return Promise.resolve([]);
  return ranges.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** Values shared by all calls of an index range. */
type Range = Pick<CallFilter, 'direction' | 'outcome' | 'sipCode'>;

const directions = ['inbound', 'outbound'] as const;

function rangesOf({ direction, outcome, sipCode }: CallFilter): readonly Range[] {
  const status = { ...(outcome !== undefined && { outcome }), ...(sipCode !== undefined && { sipCode }) };
  const hasStatus = outcome !== undefined || sipCode !== undefined;
  if (direction === undefined) {
    return hasStatus ? directions.map((one) => ({ ...status, direction: one })) : [{}];
  }
  return hasStatus ? [{ ...status, direction }] : outcomes.map((one) => ({ outcome: one, direction }));
}

function indexOf(number: string | undefined, { direction, outcome }: Range): string {
  if (direction === undefined) return number === undefined ? 'calls_by_time' : 'calls_by_number';
  const status = outcome === undefined ? 'sip_code' : 'outcome';
  return `calls_by_${number === undefined ? '' : 'number_'}${status}_direction`;
}

function readRange(db: Db, orgId: string, { number, status, from, to, after }: CallFilter, range: Range) {
  const calls = onIndex<CallRow, 'calls'>(db, 'calls', indexOf(number, range));
  let query = db.selectFrom(calls).select(listColumns).where('org_id', '=', orgId);
  if (number !== undefined) query = query.where('number', '=', number);
  if (range.outcome !== undefined) query = query.where('outcome', '=', range.outcome);
  if (range.sipCode !== undefined) query = query.where('sip_code', '=', range.sipCode);
  if (range.direction !== undefined) query = query.where('direction', '=', range.direction);
  if (status !== undefined) query = query.where('status', '=', status);
  if (from !== undefined) query = query.where('started_at', '>=', from);
  // An index range takes one upper bound, and SQLite does not know which of two is lower.
  if (after && (to === undefined || after.started_at < to)) {
    return query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('started_at', 'id'), '<', tuple(after.started_at, after.id)),
    );
  }
  return to === undefined ? query : query.where('started_at', '<', to);
}
