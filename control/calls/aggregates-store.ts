/**
 * Reads aggregates of calls from their sums (call-sums.ts): a page costs the same however many calls there are. Where
 * many trunks and values of MOS make many sums, the page ends early, at the start of a cell.
 */
import { type RawBuilder, sql } from 'kysely';
import type { CallSumRow, Db } from '../db/index.ts';

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

/** Sums that are read for a page. */
const mostSums = 20_000;

/** In the order of period and trunk. @param most sums to read */
export async function readAggregates(
  db: Db,
  filter: AggregateFilter,
  limit: number,
  most = mostSums,
): Promise<AggregatePage> {
  const range = rangeOf(filter);
  // Sums that a filter leaves out are read, too.
  const { trunkId: _trunk, direction: _direction, ...unfiltered } = filter;
  const end = await endOf(db, filter, rangeOf(unfiltered), most);
  const bounded = end ? sql<boolean>`${range} and ${end.isBefore}` : range;
  const last = await lastOf(db, filter, bounded, limit);
  const within = last ? sql<boolean>`${bounded} and ${upTo(filter, last)}` : bounded;
  const cell = filter.byTrunk ? sql`period, trunk_id` : sql`period`;
  const measured = sql`case when mos > 0 then calls else 0 end`;
  const { rows } = await sql<CellRow>`
    select period, ${filter.byTrunk ? sql`trunk_id` : sql`''`} as trunk_id, ${whole(sql`sum(calls)`)} as calls,
      ${whole(sql`sum(answered)`)} as answered, ${whole(sql`sum(talk_ms)`)} as talk_ms,
      ${whole(sql`max(measured)`)} as measured, ${percentile(1)} as p1, ${percentile(5)} as p5,
      ${percentile(25)} as p25, ${percentile(50)} as p50, ${percentile(75)} as p75, ${percentile(95)} as p95
    from (
      select ${cell}, mos, sum(calls) as calls, sum(answered) as answered, sum(talk_ms) as talk_ms,
        sum(sum(${measured})) over (partition by ${cell}) as measured,
        100 * sum(sum(${measured})) over (partition by ${cell} order by mos) as passed
      from call_sums where ${within} group by ${cell}, mos having sum(calls) > 0) as sums_of_page
    group by ${cell} order by ${cell}`.execute(db);
  return { cells: rows, next: last ?? end?.last ?? null };
}

/** The numeric sums of PostgreSQL as numbers. */
function whole(sum: RawBuilder<unknown>): RawBuilder<number> {
  return sql`cast(${sum} as bigint)`;
}

function percentile(percent: number): RawBuilder<number | null> {
  return sql`min(case when mos > 0 and passed >= measured * ${sql.lit(percent)} then mos end)`;
}

function rangeOf(filter: AggregateFilter): RawBuilder<boolean> {
  const { orgId, unit, byTrunk, trunkId, direction, first, last, after } = filter;
  const conditions = [sql`org_id = ${orgId}`, sql`unit = ${unit}`];
  if (first !== undefined) conditions.push(sql`period >= ${first}`);
  if (last !== undefined) conditions.push(sql`period <= ${last}`);
  if (direction !== undefined) conditions.push(sql`direction = ${direction}`);
  if (trunkId !== undefined) conditions.push(sql`trunk_id = ${trunkId}`);
  if (after)
    conditions.push(
      byTrunk
        ? sql`(period, trunk_id) > (${after.period}, ${after.trunk_id})`
        : sql`period > ${after.period}`,
    );
  return sql`${sql.join(conditions, sql` and `)}`;
}

function upTo({ byTrunk }: AggregateFilter, { period, trunk_id }: Position): RawBuilder<boolean> {
  return byTrunk ? sql`(period, trunk_id) <= (${period}, ${trunk_id})` : sql`period <= ${period}`;
}

/** The last cell of a full page. */
async function lastOf(
  db: Db,
  { byTrunk }: AggregateFilter,
  range: RawBuilder<boolean>,
  limit: number,
): Promise<Position | null> {
  const cell = byTrunk ? sql`period, trunk_id` : sql`period`;
  const { rows } = await sql<Position>`select period, ${byTrunk ? sql`trunk_id` : sql`''`} as trunk_id
    from call_sums where ${range} group by ${cell} having sum(calls) > 0
    order by ${cell} limit 1 offset ${limit - 1}`.execute(db);
  return rows[0] ?? null;
}

/** Where a page ends because it has read enough; null: it reads all that is left. */
async function endOf(db: Db, filter: AggregateFilter, range: RawBuilder<boolean>, most: number) {
  const { rows } = await sql<Position>`select period, trunk_id from call_sums where ${range}
    order by period, trunk_id limit 1 offset ${most}`.execute(db);
  const [beyond] = rows;
  if (!beyond) return null;
  const isBefore = filter.byTrunk
    ? sql`(period, trunk_id) < (${beyond.period}, ${beyond.trunk_id})`
    : sql`period < ${beyond.period}`;
  const before = await sql<Position>`select period, trunk_id from call_sums where ${range} and ${isBefore}
    order by period desc, trunk_id desc limit 1`.execute(db);
  const [last] = before.rows;
  if (last) return { isBefore, last: filter.byTrunk ? last : { ...last, trunk_id: '' } };
  // A cell is read as a whole, however many sums it has.
  return {
    isBefore: upTo(filter, beyond),
    last: filter.byTrunk ? beyond : { ...beyond, trunk_id: '' },
  };
}
