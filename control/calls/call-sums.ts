/**
 * Sums of calls by hour and day, trunk, direction and MOS, and of all trunks together. They are exact whatever comes: each
 * write of calls takes out what the stored rows had counted for, and puts in what they count for afterwards, in its own
 * transaction. Calls that are not
 * counted yet (earlier-calls.ts) are left out on both sides.
 */
import { sql } from 'kysely';
import {
  builtOnce,
  type CallRow,
  type CallSumRow,
  type Db,
  deleteInBatches,
  fromJson,
  insertsMany,
  isAmong,
} from '../db/index.ts';

export const countedColumns = [
  'id',
  'org_id',
  'started_at',
  'answered_at',
  'ended_at',
  'trunk_id',
  'direction',
  'media',
] as const;

type Counted = Pick<CallRow, (typeof countedColumns)[number]>;

const findCounted = builtOnce((db, ids: readonly string[]) =>
  db
    .selectFrom('calls')
    .select(countedColumns)
    .where(isAmong(db, 'id', ids))
    .where('ended_at', 'is not', null)
    .where(sql<boolean>`id >= coalesce((select max(before_id) from uncounted_calls), '')`),
);

/** Writes calls, and their sums. @param ids of all calls that are written */
export async function withSums<T>(db: Db, ids: readonly string[], write: () => Promise<T>): Promise<T> {
  if (ids.length === 0) return write();
  const before = await findCounted(db, ids);
  const result = await write();
  await addSums(db, await findCounted(db, ids), before);
  return result;
}

/** @param more counted from now on @param fewer no longer counted */
export async function addSums(
  db: Db,
  more: readonly Counted[],
  fewer: readonly Counted[] = [],
): Promise<void> {
  const sums = new Sums();
  for (const call of fewer) sums.add(call, -1);
  for (const call of more) sums.add(call, 1);
  await saveSums(db, sums.rows());
}

const saveSums = insertsMany<CallSumRow>(
  'call_sums',
  {
    org_id: 'text',
    unit: 'text',
    period: 'text',
    trunk_id: 'text',
    direction: 'text',
    mos: 'bigint',
    calls: 'bigint',
    answered: 'bigint',
    talk_ms: 'bigint',
  },
  {
    key: ['org_id', 'unit', 'period', 'trunk_id', 'direction', 'mos'],
    columns: [],
    added: ['calls', 'answered', 'talk_ms'],
  },
);

/** As `trunk_id`: the sums of all calls, also those without a trunk. No configuration has this id. */
export const allTrunks = '*';

/** Characters of an ISO time that name its period. */
export const periodChars = { hour: 13, day: 10 } as const;

class Sums {
  readonly #rows = new Map<string, CallSumRow>();

  add(call: Counted, sign: 1 | -1): void {
    const { answered_at, ended_at, started_at, media } = call;
    const talk = answered_at && ended_at ? Math.max(0, Date.parse(ended_at) - Date.parse(answered_at)) : 0;
    const mos = Math.round((media === null ? 0 : (fromJson(media)?.mos ?? 0)) * 100);
    for (const unit of ['hour', 'day'] as const)
      for (const trunk_id of [call.trunk_id ?? '', allTrunks]) {
        const period = started_at.slice(0, periodChars[unit]);
        const of = { org_id: call.org_id, unit, period, trunk_id, direction: call.direction, mos };
        const key = JSON.stringify(of);
        const row = this.#rows.get(key) ?? { ...of, calls: 0, answered: 0, talk_ms: 0 };
        row.calls += sign;
        row.answered += answered_at === null ? 0 : sign;
        row.talk_ms += sign * talk;
        this.#rows.set(key, row);
      }
  }

  /** In one order, so that no two transactions wait for each other's rows; without those that change nothing. */
  rows(): CallSumRow[] {
    const changed = [...this.#rows].filter(
      ([, { calls, answered, talk_ms }]) => calls !== 0 || answered !== 0 || talk_ms !== 0,
    );
    return changed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }
}

/** Deletes the sums of periods that were over before `time` (ISO). Returns how many rows. */
export async function deleteSumsBefore(db: Db, time: string): Promise<number> {
  let deleted = 0;
  for (const unit of ['hour', 'day'] as const)
    deleted += await deleteInBatches(async (limit) => {
      const key = sql`org_id, unit, period, trunk_id, direction, mos`;
      const { numAffectedRows = 0n } = await sql`delete from call_sums where (${key}) in (select ${key}
        from call_sums where unit = ${unit} and period < ${time.slice(0, periodChars[unit])}
        limit ${sql.lit(limit)})`.execute(db);
      return { numDeletedRows: numAffectedRows };
    });
  return deleted;
}
