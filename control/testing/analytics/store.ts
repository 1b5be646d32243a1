/**
 * Queries of analytics. Months and days entirely in the window come from counters (test_run_periods, test_run_days);
 * the day in which it begins comes from stored runs, and so does the weekly trend, which begins at the current time of
 * day. So deleted runs stay in the former and disappear from the latter; `leftInAnalytics` tells customers. Runs are
 * counted when they end (records/write.ts), by their creation, and only those of the scenario as it is (runs/as-is.ts).
 */
import { sql } from 'kysely';
import { type Db, fromJson, type TestRunRow } from '../../db/index.ts';
import type { DayCount, RunGroup, ScenarioCount, StatusCount, WeekCounts } from './rules.ts';

const dayMs = 24 * 60 * 60 * 1000;
const ended = ['PASSED', 'FAILED', 'ERROR', 'CANCELLED'] as const;
const mostRuns = 500;
/** Groups of runs with the same path and failed node, largest first. */
export const mostGroups = 10_000;
/** JSON of their paths, characters. */
const mostPathChars = 8 * 1_048_576;

/** A window that ends now. */
export interface Span {
  /** ISO 8601, inclusive */
  readonly from: string;
  /** First UTC day entirely in it, `2030-01-31`, and its start. */
  readonly firstDay: string;
  readonly firstDayAt: string;
  /** The months and days after that, each day once: `2030-01-31`, `2030-02`. */
  readonly periods: readonly string[];
}

/** @param now ms */
export function spanOf(now: number, days: number): Span {
  const start = now - days * dayMs;
  const firstDay = Math.ceil(start / dayMs) * dayMs;
  const firstDayAt = new Date(firstDay).toISOString();
  return {
    from: new Date(start).toISOString(),
    firstDay: firstDayAt.slice(0, 10),
    firstDayAt,
    periods: periodsBetween(firstDay, now),
  };
}

/** Nothing is created after now, so the current month counts as complete. */
function periodsBetween(firstDay: number, now: number): string[] {
  const periods: string[] = [];
  for (let at = firstDay; at <= now; ) {
    const date = new Date(at);
    const day = date.toISOString().slice(0, 10);
    const whole = date.getUTCDate() === 1;
    periods.push(whole ? day.slice(0, 7) : day);
    at = whole ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) : at + dayMs;
  }
  return periods;
}

/** Ended runs per status. */
export function statusCounts(db: Db, pathwayId: string, span: Span): Promise<StatusCount[]> {
  const days = db
    .selectFrom('test_run_days')
    .select(['status', 'runs', 'scored', 'score_sum'])
    .where('pathway_id', '=', pathwayId)
    .where('day', '>=', span.firstDay);
  const runs = runsOfFirstDay(db, pathwayId, span).select('status');
  return db
    .selectFrom(days.unionAll(runs.select(single)).as('part'))
    .select('status')
    .select(summed)
    .groupBy('status')
    .execute();
}

const single = [
  sql<number>`1`.as('runs'),
  sql<number>`case when overall_score is null then 0 else 1 end`.as('scored'),
  sql<number>`coalesce(overall_score, 0.0)`.as('score_sum'),
] as const;

const summed = [
  sql<number>`sum(runs)`.as('runs'),
  sql<number>`sum(scored)`.as('scored'),
  sql<number>`sum(score_sum)`.as('score_sum'),
] as const;

function runsOfFirstDay(db: Db, pathwayId: string, { from, firstDayAt }: Span) {
  return db
    .selectFrom('test_runs')
    .where('pathway_id', '=', pathwayId)
    .where('created_at', '>=', from)
    .where('created_at', '<', firstDayAt)
    .where('as_is', '=', 1)
    .where('status', 'in', ended);
}

/** Ended runs per scenario and status, by scenario. */
export function scenarioCounts(db: Db, pathwayId: string, span: Span): Promise<ScenarioCount[]> {
  const kind = ['scenario_id', 'status'] as const;
  return runsBy(db, pathwayId, span, kind).orderBy('scenario_id').$castTo<ScenarioCount>().execute();
}

/**
 * Ended runs with the same scenario, path, failed node and status: largest groups first, and at most one more than
 * `mostGroups`, which shows that there are more.
 */
export function runGroups(db: Db, pathwayId: string, span: Span): Promise<RunGroup[]> {
  const kind = ['scenario_id', 'path_id', 'failed_node_id', 'status'] as const;
  return runsBy(db, pathwayId, span, kind)
    .orderBy('runs', 'desc')
    .orderBy('scenario_id')
    .orderBy('path_id')
    .limit(mostGroups + 1)
    .$castTo<RunGroup>()
    .execute();
}

function runsBy(
  db: Db,
  pathwayId: string,
  span: Span,
  kind: readonly ('scenario_id' | 'path_id' | 'failed_node_id' | 'status')[],
) {
  const counted = db
    .selectFrom('test_run_periods')
    .select([...kind, 'runs', 'scored', 'score_sum'])
    .where('pathway_id', '=', pathwayId)
    .where('period', 'in', span.periods);
  const runs = runsOfFirstDay(db, pathwayId, span).select(kind).select(single);
  return db.selectFrom(counted.unionAll(runs).as('part')).select(kind).select(summed).groupBy(kind);
}

/** Passed and failed runs per UTC day, ascending. */
export async function dayCounts(db: Db, pathwayId: string, span: Span): Promise<DayCount[]> {
  const whole = await db
    .selectFrom('test_run_days')
    .select(({ fn }) => [
      'day',
      fn.sum<number>('runs').as('count'),
      fn.sum<number>(sql`case when status = 'PASSED' then runs else 0 end`).as('passed'),
    ])
    .where('pathway_id', '=', pathwayId)
    .where('day', '>=', span.firstDay)
    .where('status', 'in', ['PASSED', 'FAILED'])
    .groupBy('day')
    .orderBy('day')
    .execute();
  const first = await countBetween(db, pathwayId, span.from, span.firstDayAt);
  return first.count === 0 ? whole : [{ day: span.from.slice(0, 10), ...first }, ...whole];
}

/** Different conversations of the stored runs of a window that passed or failed. */
export async function distinctConversations(db: Db, pathwayId: string, { from }: Span): Promise<number> {
  const { distinct } = await countBetween(db, pathwayId, from, null);
  return Number(distinct);
}

/** The last seven days, and the seven before. @param now ms */
export async function weekCounts(db: Db, pathwayId: string, now: number): Promise<WeekCounts> {
  const at = (days: number) => new Date(now - days * dayMs).toISOString();
  return {
    recent: await countBetween(db, pathwayId, at(7), null),
    prior: await countBetween(db, pathwayId, at(14), at(7)),
  };
}

async function countBetween(db: Db, pathwayId: string, from: string, to: string | null) {
  let query = db
    .selectFrom('test_runs')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn
        .coalesce(fn.sum<number>(sql`case when status = 'PASSED' then 1 else 0 end`), sql<number>`0`)
        .as('passed'),
      // A run from before conversations were compared counts as one of its own.
      sql<number>`count(distinct coalesce(conversation, id))`.as('distinct'),
    ])
    .where('pathway_id', '=', pathwayId)
    .where('created_at', '>=', from)
    .where('as_is', '=', 1)
    .where('status', 'in', ['PASSED', 'FAILED']);
  if (to !== null) query = query.where('created_at', '<', to);
  return query.executeTakeFirstOrThrow();
}

/** The paths of a pathway's runs: node ids by path id; only the first of many large ones. */
export async function pathsOf(
  db: Db,
  pathwayId: string,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  let room = mostPathChars;
  const found = new Map<string, readonly string[]>();
  const wanted = [...ids];
  const step = 100;
  for (let from = 0; from < wanted.length && room > 0; from += step) {
    const rows = await db
      .selectFrom('test_paths')
      .select(['id', 'nodes'])
      .where('pathway_id', '=', pathwayId)
      .where('id', 'in', wanted.slice(from, from + step))
      .execute();
    for (const { id, nodes } of rows) {
      room -= nodes.length;
      found.set(id, fromJson(nodes));
    }
  }
  return found;
}

/** Names of a pathway's scenarios, including deleted ones. */
export async function scenarioNames(db: Db, orgId: string, pathwayId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('test_scenarios')
    .select(['id', 'name'])
    .where('org_id', '=', orgId)
    .where('pathway_id', '=', pathwayId)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Newest ended runs of a window, newest first. */
export function newestRuns(
  db: Db,
  pathwayId: string,
  from: string,
): Promise<Pick<TestRunRow, 'id' | 'scenario_id' | 'status' | 'overall_score' | 'created_at'>[]> {
  return db
    .selectFrom('test_runs')
    .select(['id', 'scenario_id', 'status', 'overall_score', 'created_at'])
    .where('pathway_id', '=', pathwayId)
    .where('created_at', '>=', from)
    .where('as_is', '=', 1)
    .where('status', 'in', ended)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(mostRuns)
    .execute();
}
