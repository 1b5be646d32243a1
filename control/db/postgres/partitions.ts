/**
 * The call log in partitions, on PostgreSQL: retention drops a whole partition in the place of deleting its rows one by
 * one, and the newest partition's indexes stay small. Bounds are ids of calls (UUID v7), so every row of one call is
 * found in one partition of each table.
 *
 *     calls               by month   \  calls_2030_01, calls_2030_02, …
 *     transcript_parts    by month    |
 *     quality_parts       by month    > and for any other id: calls_undated
 *     turn_parts          by month    |
 *     trace_parts         by day     /
 *
 * Ids without a time in them (of edges and databases of earlier versions), or with the time of a wrong clock, are in the
 * `_undated` partition, where retention deletes row by row.
 */
import { sql } from 'kysely';
import { timedIdsFrom } from '#shared/ids.ts';
import { dialectOf } from '../dialect-name.ts';
import type { Db } from '../tables.ts';

export type PartitionedTable = 'calls' | 'transcript_parts' | 'trace_parts' | 'quality_parts' | 'turn_parts';

interface Partitioning {
  readonly table: PartitionedTable;
  /** The column with the call's id. */
  readonly key: string;
  readonly unit: 'month' | 'day';
  /** Partitions that exist beyond the current one. */
  readonly ahead: number;
}

const partitionings: readonly Partitioning[] = [
  { table: 'calls', key: 'id', unit: 'month', ahead: 2 },
  { table: 'transcript_parts', key: 'call_id', unit: 'month', ahead: 2 },
  { table: 'quality_parts', key: 'call_id', unit: 'month', ahead: 2 },
  { table: 'turn_parts', key: 'call_id', unit: 'month', ahead: 2 },
  { table: 'trace_parts', key: 'call_id', unit: 'day', ahead: 7 },
];

/** How long a partition may wait for running queries before it gives up, ms: all other queries queue behind it. */
const lockWaitMs = 2_000;

/** The partition with the rows that have no partition of their own; on SQLite the table itself. */
export function undatedRows(db: Db, table: PartitionedTable): string {
  return dialectOf(db) === 'postgres' ? `${table}_undated` : table;
}

/** Creates the partitions of the current month or day and of those to come. @param now ms since 1970 */
export async function addPartitions(db: Db, now: number): Promise<void> {
  if (dialectOf(db) !== 'postgres') return;
  for (const partitioning of partitionings) {
    const { table, unit, ahead } = partitioning;
    const existing = new Set((await partitionsOf(db, partitioning)).map(({ name }) => name));
    for (let step = 0; step <= ahead; step++) {
      const from = startOf(unit, now, step);
      if (!existing.has(nameOf(table, unit, from))) await addPartition(db, partitioning, from);
    }
  }
}

/** In one transaction, which moves rows of its time that came before it. */
async function addPartition(db: Db, partitioning: Partitioning, from: Date): Promise<void> {
  const { table, key, unit } = partitioning;
  const to = startOf(unit, from.getTime(), 1);
  const name = sql.table(nameOf(table, unit, from));
  const [first, end] = [sql.lit(timedIdsFrom(from.getTime())), sql.lit(timedIdsFrom(to.getTime()))];
  await db.transaction().execute(async (trx) => {
    // Another replica may have created it before this one got the write lock.
    const existing = await partitionsOf(trx, partitioning);
    if (existing.some((one) => one.from.getTime() === from.getTime())) return;
    await sql`set local lock_timeout = ${sql.lit(lockWaitMs)}`.execute(trx);
    await sql`create table ${name} (like ${sql.table(table)} including defaults)`.execute(trx);
    await sql`with moved as (
        delete from ${sql.table(`${table}_undated`)}
        where ${sql.ref(key)} >= ${first} and ${sql.ref(key)} < ${end} returning *)
      insert into ${name} select * from moved`.execute(trx);
    await sql`alter table ${sql.table(table)} attach partition ${name}
      for values from (${first}) to (${end})`.execute(trx);
  });
}

/**
 * Drops the partitions that contain only calls from before `time` (ISO).
 * @returns rows dropped, as the server estimates them
 */
export async function dropPartitionsBefore(db: Db, table: PartitionedTable, time: string): Promise<number> {
  const partitioning = partitionings.find((one) => one.table === table);
  if (dialectOf(db) !== 'postgres' || !partitioning) return 0;
  let rows = 0;
  for (const partition of await partitionsOf(db, partitioning)) {
    if (partition.to.toISOString() > time) continue;
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = ${sql.lit(lockWaitMs)}`.execute(trx);
      await sql`drop table if exists ${sql.table(partition.name)}`.execute(trx);
    });
    rows += partition.rows;
  }
  return rows;
}

interface Partition {
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
  readonly rows: number;
}

/** Without the undated one; the oldest first. */
async function partitionsOf(db: Db, { table, unit }: Partitioning): Promise<Partition[]> {
  const { rows } = await sql<{ name: string; rows: number }>`
    select relname as name, greatest(0, pg_stat_get_live_tuples(pg_class.oid)) as rows
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = ${table}::regclass order by relname`.execute(db);
  return rows.flatMap(({ name, rows: count }) => {
    const from = startIn(table, name);
    if (from === null) return [];
    return [{ name, from, to: startOf(unit, from.getTime(), 1), rows: count }];
  });
}

/** The start of the month or day (UTC), `steps` after that of `time`. */
function startOf(unit: Partitioning['unit'], time: number, steps: number): Date {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return new Date(unit === 'month' ? Date.UTC(year, month + steps) : Date.UTC(year, month, day + steps));
}

/** `calls_2030_01`, `trace_parts_2030_01_31` */
function nameOf(table: string, unit: Partitioning['unit'], from: Date): string {
  const date = from.toISOString().slice(0, unit === 'month' ? 7 : 10);
  return `${table}_${date.replaceAll('-', '_')}`;
}

/** The reverse of `nameOf`; null for the undated one. */
function startIn(table: string, name: string): Date | null {
  const [, year, month, day = '01'] = /^(\d{4})_(\d\d)(?:_(\d\d))?$/.exec(name.slice(table.length + 1)) ?? [];
  return year === undefined ? null : new Date(`${year}-${month}-${day}T00:00:00.000Z`);
}
