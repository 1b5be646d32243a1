/**
 * The call log by filters that have no index of their own for each combination. The one that matches fewest calls as a
 * rule leads, and the others are looked for in a bounded number of its calls, so a page costs the same however many
 * calls there are; when that number is reached, the page says where to go on.
 *
 *     the other party           calls_by_other_party
 *     why the call ended        calls_by_termination
 *     a MOS of 3.6 or less      calls_by_poor_sound
 *     otherwise                 calls_by_number, calls_by_time (a trunk, a pathway, a persona, a status)
 */
import { sql } from 'kysely';
import { type CallRow, type Db, meanOpinion, onIndex, otherParty, poorSound } from '../db/index.ts';
import { type CallFilter, type ListedRow, listColumns } from './log-store.ts';

/** A page of a search with rare matches: about 20 ms of the database's time. */
const mostRead = 5_000;

export interface SearchFilter extends CallFilter {
  readonly otherParty?: string;
  readonly termination?: string;
  readonly maxMos?: number;
  readonly trunkId?: string;
  readonly pathwayId?: string;
  readonly personaId?: string;
}

export interface SearchPage {
  readonly rows: readonly ListedRow[];
  /** Id of the call after which the next page begins; null: this one is the last. */
  readonly next: string | null;
}

/** Whether it needs a search; the call log has an index for each combination of its other filters. */
export function isSearch(filter: SearchFilter): boolean {
  const { maxMos, otherParty: other, outcome, pathwayId, personaId, status, termination, trunkId } = filter;
  const searched = [other, termination, maxMos, trunkId, pathwayId, personaId];
  return searched.some((value) => value !== undefined) || (status !== undefined && outcome === undefined);
}

/** Newest first. @param most calls read for the page */
export async function searchCalls(
  db: Db,
  orgId: string,
  filter: SearchFilter,
  limit: number,
  most = mostRead,
): Promise<SearchPage> {
  const end = await readCalls(db, orgId, filter)
    .select(['started_at', 'id'])
    .offset(most - 1)
    .limit(1)
    .executeTakeFirst();
  const rows = await matching(db, orgId, filter, end).select(listColumns).limit(limit).execute();
  const last = rows.length === limit ? rows.at(-1) : end;
  return { rows, next: last?.id ?? null };
}

type Position = Pick<CallRow, 'started_at' | 'id'>;

function indexOf({ otherParty: other, termination, maxMos, number }: SearchFilter): string {
  if (other !== undefined) return 'calls_by_other_party';
  if (termination !== undefined) return 'calls_by_termination';
  if (maxMos !== undefined && maxMos <= poorSound) return 'calls_by_poor_sound';
  return number === undefined ? 'calls_by_time' : 'calls_by_number';
}

/** The calls of the leading filter, in list order. @param end the last one to read, if not all are */
function readCalls(db: Db, orgId: string, filter: SearchFilter, end?: Position) {
  const { from, to, after } = filter;
  const index = indexOf(filter);
  let query = db
    .selectFrom(onIndex<CallRow, 'calls'>(db, 'calls', index))
    .where('org_id', '=', orgId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc');
  if (index === 'calls_by_other_party') query = query.where(otherParty(), '=', filter.otherParty ?? '');
  if (index === 'calls_by_termination') query = query.where('termination', '=', filter.termination ?? '');
  if (index === 'calls_by_poor_sound') query = query.where(meanOpinion(db), '<=', sql.lit(poorSound));
  if (index === 'calls_by_number') query = query.where('number', '=', filter.number ?? '');
  // An index range takes one bound on each side, and SQLite does not know which of two is nearer.
  if (after && (to === undefined || after.started_at < to))
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('started_at', 'id'), '<', tuple(after.started_at, after.id)),
    );
  else if (to !== undefined) query = query.where('started_at', '<', to);
  if (end)
    return query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('started_at', 'id'), '>=', tuple(end.started_at, end.id)),
    );
  return from === undefined ? query : query.where('started_at', '>=', from);
}

function matching(db: Db, orgId: string, filter: SearchFilter, end: Position | undefined) {
  const { direction, maxMos, number, otherParty: other, outcome, pathwayId, personaId, sipCode } = filter;
  const { status, termination, trunkId } = filter;
  let query = readCalls(db, orgId, filter, end);
  if (number !== undefined) query = query.where('number', '=', number);
  if (direction !== undefined) query = query.where('direction', '=', direction);
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (sipCode !== undefined) query = query.where('sip_code', '=', sipCode);
  if (status !== undefined) query = query.where('status', '=', status);
  if (trunkId !== undefined) query = query.where('trunk_id', '=', trunkId);
  if (pathwayId !== undefined) query = query.where('pathway_id', '=', pathwayId);
  if (personaId !== undefined) query = query.where('persona_id', '=', personaId);
  if (other !== undefined) query = query.where(otherParty(), '=', other);
  if (termination !== undefined) query = query.where('termination', '=', termination);
  return maxMos === undefined ? query : query.where(meanOpinion(db), '<=', maxMos);
}
