/** Watches and their calls, as stored. */
import type { AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { WatchAlarm, WatchedCall, WatchedStatus, WatchLine } from '#shared/api/agent-testing/watches.ts';
import { ApiError } from '#shared/errors.ts';
import {
  type CallRow,
  type Db,
  endKnownAt,
  fromJson,
  type TestWatchedCallRow,
  type TestWatchRow,
} from '../../db/index.ts';
import type { JudgedCall } from './rules.ts';

/** Of one organization. */
const mostWatches = 50;
/** Calls of a watch that are kept. */
const mostCalls = 5000;
/** The newest calls that shares and drift are about. */
const mostCounted = 2000;

/** @throws ApiError TEST_WATCH_NOT_FOUND */
export async function requireWatch(db: Db, orgId: string, id: string): Promise<TestWatchRow> {
  const row = await db
    .selectFrom('test_watches')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!row) throw ApiError.of('TEST_WATCH_NOT_FOUND');
  return row;
}

export function listWatches(db: Db, orgId: string): Promise<TestWatchRow[]> {
  return db
    .selectFrom('test_watches')
    .selectAll()
    .where('org_id', '=', orgId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(mostWatches)
    .execute();
}

/** Call it in the transaction that writes. @throws ApiError QUOTA_EXCEEDED */
export async function watchRoom(db: Db, orgId: string): Promise<void> {
  const { count } = await db
    .selectFrom('test_watches')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow();
  if (Number(count) < mostWatches) return;
  throw ApiError.of(
    'QUOTA_EXCEEDED',
    { quota: 'test_watches', limit: mostWatches },
    `An organization has at most ${mostWatches} watches: delete one.`,
  );
}

export function assertionsOf(watch: Pick<TestWatchRow, 'assertions'>): AssertionView[] {
  return fromJson<AssertionView[]>(watch.assertions);
}

export function alarmOf(watch: Pick<TestWatchRow, 'alarm'>): WatchAlarm | null {
  return watch.alarm === null ? null : fromJson<WatchAlarm>(watch.alarm);
}

/** @param today `2030-01-31` */
export function watchLine(watch: TestWatchRow, today: string): WatchLine {
  const { id, name, pathway_id, persona_id, number, sample_rate, calls_per_day, enabled } = watch;
  const { model_tokens_per_day, drift_min_calls, created_at, updated_at } = watch;
  const isToday = watch.day === today;
  return {
    id,
    name,
    pathway_id,
    persona_id,
    phone_number: number,
    assertions: assertionsOf(watch),
    sample_rate,
    calls_per_day,
    model_tokens_per_day,
    drift_min_calls,
    enabled: enabled === 1,
    today: {
      judged: isToday ? watch.judged : 0,
      skipped: isToday ? watch.skipped : 0,
      model_tokens: isToday ? watch.model_tokens : 0,
    },
    alarm: alarmOf(watch),
    created_at,
    updated_at,
  };
}

export interface WatchedFilter {
  readonly status?: WatchedStatus;
  readonly version?: number;
}

/** One page, newest first, and the total. */
export async function pageOfCalls(
  db: Db,
  watchId: string,
  { status, version }: WatchedFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: TestWatchedCallRow[]; total: number }> {
  let all = db.selectFrom('test_watched_calls').where('watch_id', '=', watchId);
  if (status !== undefined) all = all.where('status', '=', status);
  if (version !== undefined) all = all.where('version', '=', version);
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all
    .selectAll()
    .orderBy('ended_at', 'desc')
    .orderBy('call_id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: Number(total) };
}

export function watchedCallView(row: TestWatchedCallRow): WatchedCall {
  const { watch_id: _, conversation: __, results, ...rest } = row;
  return { ...rest, assertion_results: fromJson<WatchedCall['assertion_results']>(results) };
}

/** Those judged by the watch's assertions, newest first. */
export function countedCalls(db: Db, watch: TestWatchRow): Promise<JudgedCall[]> {
  return db
    .selectFrom('test_watched_calls')
    .select(['version', 'status', 'conversation', 'ended_at'])
    .where('watch_id', '=', watch.id)
    .where('judged_at', '>', watch.assertions_at)
    .orderBy('ended_at', 'desc')
    .orderBy('call_id', 'desc')
    .limit(mostCounted)
    .execute();
}

export interface EndedCall extends CallRow {
  readonly end_known_at: string;
}

/**
 * Calls whose end became known after the watch's cursor, in that order: an edge that was cut off reports them late. One
 * that is judged comes no more when its edge reports it again.
 * @param until ISO
 */
export function endedCalls(db: Db, watch: TestWatchRow, until: string, limit: number): Promise<EndedCall[]> {
  const { cursor_at, cursor_id, ends_from, id } = watch;
  const knownAt = endKnownAt();
  let calls = db
    .selectFrom('calls')
    .selectAll()
    .select(knownAt.as('end_known_at'))
    .where('org_id', '=', watch.org_id)
    .where('test_run_id', 'is', null)
    .where('parent_id', 'is', null)
    .where('answered_at', 'is not', null)
    .where('ended_at', 'is not', null)
    .where('ended_at', '>=', ends_from ?? '')
    .where(knownAt, '>=', cursor_at)
    .where(knownAt, '<=', until)
    .where((eb) => eb.or([eb(knownAt, '>', cursor_at), eb('id', '>', cursor_id)]))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('test_watched_calls')
            .select('call_id')
            .where('watch_id', '=', id)
            .whereRef('call_id', '=', 'calls.id'),
        ),
      ),
    )
    // Test calls of trunks: nobody spoke.
    .where('id', 'not like', 'tc_%');
  if (watch.pathway_id !== null) calls = calls.where('pathway_id', '=', watch.pathway_id);
  if (watch.persona_id !== null) calls = calls.where('persona_id', '=', watch.persona_id);
  if (watch.number !== null) calls = calls.where('number', '=', watch.number);
  return calls.orderBy(knownAt).orderBy('id').limit(limit).execute();
}

/** The oldest beyond the most, and those of calls that are deleted. */
export async function forgetCalls(db: Db, watchId: string): Promise<void> {
  const [oldest] = await db
    .selectFrom('test_watched_calls')
    .select('ended_at')
    .where('watch_id', '=', watchId)
    .orderBy('ended_at', 'desc')
    .limit(1)
    .offset(mostCalls)
    .execute();
  if (oldest)
    await db
      .deleteFrom('test_watched_calls')
      .where('watch_id', '=', watchId)
      .where('ended_at', '<=', oldest.ended_at)
      .execute();
  await db
    .deleteFrom('test_watched_calls')
    .where('watch_id', '=', watchId)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('calls').select('id').whereRef('calls.id', '=', 'test_watched_calls.call_id'),
        ),
      ),
    )
    .execute();
}
