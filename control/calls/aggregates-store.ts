/**
 * Reads aggregates of calls from their sums (call-sums.ts): a page costs the same however many calls there are, because
 * one statement reads a bounded number of sums in the order of the key, and a page ends before the cell that it does not
 * have as a whole. Of all trunks together there are sums, too.
 */
import { type RawBuilder, sql } from 'kysely';
import { type CallSumRow, type Db, isListed } from '../db/index.ts';
import { allTrunks, periodChars } from './call-sums.ts';

export interface AggregateFilter {
  readonly orgId: string;
  readonly unit: CallSumRow['unit'];
  /** A cell for each trunk of a period, or one for all. */
  readonly byTrunk: boolean;
  readonly trunkId?: string;
  readonly direction?: CallSumRow['direction'];
  /** Periods, both inclusive. */
  readonly first?: string;
  readonly last?: string;
  /** Only cells after this one. */
  readonly after?: Position;
}

export interface Position {
  readonly period: string;
  /** Empty where a cell has all trunks. */
  readonly trunk_id: string;
}

/** Of a period and a trunk. */
export interface CellRow extends Position {
  readonly calls: number;
  readonly answered: number;
  readonly talk_ms: number;
  /** Calls with a MOS. */
  readonly measured: number;
  /** Percentiles of the MOS by nearest rank, hundredths; null: no call was measured. */
  readonly p1: number | null;
  readonly p5: number | null;
  readonly p25: number | null;
  readonly p50: number | null;
  readonly p75: number | null;
  readonly p95: number | null;
}

export interface AggregatePage {
  readonly cells: readonly CellRow[];
  /** The cell after which the next page begins; null: this one is the last. */
  readonly next: Position | null;
}

interface AggregateLimits {
  /** Sums that are read for a page; more than a cell can have. */
  readonly sums: number;
  /** Periods in which a page looks for the sums of one trunk. */
  readonly periods: number;
}

const mostSums = 16_000;
const mostPeriods = 1_000;
/** Both directions, and a MOS from 0 (none) to 5 with two decimals. */
const sumsOfCell = 2 * 501;

type Sum = Pick<CallSumRow, 'period' | 'trunk_id' | 'mos' | 'calls' | 'answered' | 'talk_ms'>;

/** In the order of period and trunk. */
export async function readAggregates(
  db: Db,
  filter: AggregateFilter,
  limit: number,
  limits: AggregateLimits = { sums: mostSums, periods: mostPeriods },
): Promise<AggregatePage> {
  const most = Math.min(limits.sums, limit * sumsOfCell);
  const trunk = filter.trunkId ?? (filter.byTrunk ? null : allTrunks);
  const { where, end } =
    trunk === null ? { where: rangeOf(filter), end: null } : await seekOf(db, filter, trunk, limits.periods);
  if (where === null) return { cells: [], next: null };
  const { rows } = await sql<Sum>`select period, trunk_id, mos, calls, answered, talk_ms from call_sums
    where ${where} order by org_id, unit, period, trunk_id, direction, mos limit ${most + 1}`.execute(db);
  return pageOf(rows, filter.byTrunk, limit, rows.length > most, end);
}

/**
 * @param cut whether there are more sums than these: the last cell may be a part of one
 * @param end after which the search goes on; null: it has come to the end
 */
function pageOf(
  rows: readonly Sum[],
  byTrunk: boolean,
  limit: number,
  cut: boolean,
  end: Position | null,
): AggregatePage {
  const positionOf = ({ period, trunk_id }: Sum) => ({ period, trunk_id: byTrunk ? trunk_id : '' });
  const cells: CellRow[] = [];
  let from = 0;
  let passed: Position | null = null;
  while (from < rows.length) {
    const first = rows[from] as Sum;
    let to = from + 1;
    while (rows[to]?.period === first.period && rows[to]?.trunk_id === first.trunk_id) to += 1;
    if (cut && to === rows.length) return { cells, next: passed };
    passed = positionOf(first);
    const cell = cellOf(passed, rows.slice(from, to));
    from = to;
    // Sums of calls that were counted elsewhere afterwards.
    if (cell.calls > 0) cells.push(cell);
    if (cells.length === limit) return { cells, next: from < rows.length || cut ? passed : end };
  }
  return { cells, next: end };
}

function cellOf(position: Position, rows: readonly Sum[]): CellRow {
  const counts = new Map<number, number>();
  let [calls, answered, talk_ms, measured] = [0, 0, 0, 0];
  for (const row of rows) {
    calls += row.calls;
    answered += row.answered;
    talk_ms += row.talk_ms;
    if (row.mos === 0) continue;
    measured += row.calls;
    counts.set(row.mos, (counts.get(row.mos) ?? 0) + row.calls);
  }
  const sorted = [...counts].sort(([a], [b]) => a - b);
  /** By nearest rank. */
  const percentile = (percent: number): number | null => {
    let below = 0;
    for (const [mos, count] of sorted) {
      below += count;
      if (count > 0 && below * 100 >= measured * percent) return mos;
    }
    return null;
  };
  const [p1, p5, p25, p50, p75, p95] = [1, 5, 25, 50, 75, 95].map(percentile);
  const of = (value: number | null | undefined) => value ?? null;
  return {
    ...position,
    ...{ calls, answered, talk_ms, measured },
    ...{ p1: of(p1), p5: of(p5), p25: of(p25), p50: of(p50), p75: of(p75), p95: of(p95) },
  };
}

/** The sums of each trunk of all periods in a row. */
function rangeOf({ orgId, unit, direction, first, last, after }: AggregateFilter): RawBuilder<boolean> {
  const conditions = [sql`org_id = ${orgId}`, sql`unit = ${unit}`, sql`trunk_id <> ${allTrunks}`];
  if (first !== undefined) conditions.push(sql`period >= ${first}`);
  if (last !== undefined) conditions.push(sql`period <= ${last}`);
  if (direction !== undefined) conditions.push(sql`direction = ${direction}`);
  if (after) conditions.push(sql`(period, trunk_id) > (${after.period}, ${after.trunk_id})`);
  return sql`${sql.join(conditions, sql` and `)}`;
}

/** One trunk: the database goes to its sums in each period, and reads no others. @returns `where` null: there is none */
async function seekOf(db: Db, filter: AggregateFilter, trunk: string, most: number) {
  const { orgId, unit, direction } = filter;
  const own = sql<boolean>`org_id = ${orgId} and unit = ${unit}`;
  const { rows } = await sql<{ first: string | null; last: string | null }>`select
    (select min(period) from call_sums where ${own}) as first,
    (select max(period) from call_sums where ${own}) as last`.execute(db);
  const [{ first = null, last = null } = {}] = rows;
  if (first === null || last === null) return { where: null, end: null };
  const from = latest(first, filter.first, filter.after && periodAfter(filter.after, unit));
  const to = filter.last !== undefined && filter.last < last ? filter.last : last;
  const periods: string[] = [];
  for (let at = startOf(from); periods.length < most; at += periodMs[unit]) {
    const period = periodOf(at, unit);
    if (period > to) break;
    periods.push(period);
  }
  const end = periods.at(-1);
  if (end === undefined) return { where: null, end: null };
  const conditions = [own, sql`trunk_id = ${trunk}`, isListed(db, 'period', periods)];
  if (direction !== undefined) conditions.push(sql`direction = ${direction}`);
  return {
    where: sql<boolean>`${sql.join(conditions, sql` and `)}`,
    end: end < to ? { period: end, trunk_id: filter.byTrunk ? trunk : '' } : null,
  };
}

const hourMs = 3_600_000;
const periodMs = { hour: hourMs, day: 24 * hourMs } as const;

/** ms since 1970 */
function startOf(period: string): number {
  return Date.parse(period.length === periodChars.day ? `${period}T00:00:00Z` : `${period}:00:00Z`);
}

function periodOf(ms: number, unit: CallSumRow['unit']): string {
  return new Date(ms).toISOString().slice(0, periodChars[unit]);
}

/** Pages of one trunk go on with the next period. */
function periodAfter({ period }: Position, unit: CallSumRow['unit']): string {
  return periodOf(startOf(period) + periodMs[unit], unit);
}

function latest(...periods: readonly (string | undefined)[]): string {
  return periods.reduce<string>((a, b) => (b !== undefined && b > a ? b : a), '');
}
