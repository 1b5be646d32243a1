/**
 * Background work is recorded before it starts and removed when it ends:
 *
 *     no row --claimed--> owned by a replica --ended--> no row
 *                            |   ^
 *              failed, or    |   | claimed again after the wait
 *           the replica died v   |
 *                          waiting
 *
 * What was running on a replica that died may have caused it: it counts as an attempt and waits.
 */
import { sql } from 'kysely';
import { type Claimant, claimIsAlive } from './leases.ts';
import type { Db } from './tables.ts';

/** How long work ended by a crash waits before its retry, ms: the program is up by then. */
const crashPauseMs = 5_000;
/** Most crashes during one piece of work; then it is not retried. */
export const mostCrashes = 5;
/**
 * Delay between restarts of work ended by one crash, ms: all of it is suspect, one of it is the cause. Earlier work is
 * done when the cause crashes the program again; later work has not started and loses no attempt.
 */
const staggerMs = 200;
/** Pauses of work without an attempt limit that must not be dropped, by failed attempts, ms. */
const pausesMs = [crashPauseMs, 20_000, 80_000, 320_000] as const;
/** After that: someone has read the log by then. */
const longestPauseMs = 24 * 3_600_000;

/** @param tries failed attempts, from 1 @returns ms until the next */
export function pauseAfter(tries: number): number {
  return pausesMs[tries - 1] ?? longestPauseMs;
}

/** @param place index among the work ended by the crash, from 0 @returns ms until it may start */
export function pauseAfterCrash(place: number, tries = 1): number {
  return pauseAfter(tries) + place * staggerMs;
}

/** One row of a queue, as everybody sees it. */
export interface UnderWay {
  readonly id: string;
  readonly org_id: string | null;
  readonly owner: string | null;
  readonly tries: number;
  readonly waits_until: string | null;
  /** Whether the replica that works on it lives. */
  readonly isAlive: boolean;
}

/** A queue's recorded work, in order of its start. */
export async function underWay(db: Db, queue: string): Promise<UnderWay[]> {
  const rows = await db
    .selectFrom('work_under_way')
    .select(['id', 'org_id', 'owner', 'tries', 'waits_until'])
    .select(sql<number>`case when ${claimIsAlive(db, 'work_under_way')} then 1 else 0 end`.as('alive'))
    .where('queue', '=', queue)
    .orderBy('began_at')
    .orderBy('id')
    .execute();
  return rows.map(({ alive, ...row }) => ({ ...row, isAlive: alive === 1 }));
}

/**
 * Records that a replica works on these, in a transaction that has checked that nobody does. Resolves with the number of
 * starts without an end of each, including this one.
 */
export async function claimWork(
  db: Db,
  queue: string,
  items: readonly { readonly id: string; readonly org_id: string }[],
  { owner, fence }: Claimant,
  now: number,
): Promise<Map<string, number>> {
  const claim = { owner, fence, began_at: new Date(now).toISOString(), waits_until: null };
  const rows = await db
    .insertInto('work_under_way')
    .values(items.map(({ id, org_id }) => ({ queue, id, org_id, tries: 1, ...claim })))
    .onConflict((conflict) =>
      conflict
        .columns(['queue', 'id'])
        .doUpdateSet((eb) => ({ ...claim, tries: eb('work_under_way.tries', '+', 1) })),
    )
    .returning(['id', 'tries'])
    .execute();
  return new Map(rows.map(({ id, tries }) => [id, tries]));
}

/** Ends work, unless another replica has taken it over. */
export async function endWork(db: Db, queue: string, id: string, { owner, fence }: Claimant): Promise<void> {
  await db
    .deleteFrom('work_under_way')
    .where((eb) => eb.and({ queue, id, owner, fence }))
    .execute();
}

/** Keeps claimed work from starting again before a time, ISO; unless another replica has taken it over. */
export async function postponeWork(
  db: Db,
  queue: string,
  id: string,
  { owner, fence }: Claimant,
  waits_until: string,
): Promise<void> {
  await db
    .updateTable('work_under_way')
    .set({ owner: null, fence: null, waits_until })
    .where((eb) => eb.and({ queue, id, owner, fence }))
    .execute();
}

/** Ends work that waits. */
export async function endWaiting(db: Db, queue: string, id: string): Promise<void> {
  await db
    .deleteFrom('work_under_way')
    .where((eb) => eb.and({ queue, id }))
    .where('waits_until', 'is not', null)
    .execute();
}

/** Work that a crash interrupted, and when it may start again, ms. */
export interface Interrupted {
  readonly id: string;
  readonly tries: number;
  readonly until: number;
}

/**
 * Lets the work of replicas that have died wait: it counts as an attempt. Only one replica gets each piece.
 * @param work the queue's, as it was read last @param isAbandoned whether this replica's own claim is left over @param pause ms, by the place among them from 0
 */
export async function takeOver(
  database: Db,
  queue: string,
  work: readonly UnderWay[],
  isAbandoned: (row: UnderWay) => boolean,
  now: number,
  pause: (place: number, tries: number) => number,
): Promise<Interrupted[]> {
  const isLeft = (row: UnderWay) => row.waits_until === null && (!row.isAlive || isAbandoned(row));
  if (!work.some(isLeft)) return [];
  return database.transaction().execute(async (db) => {
    const left = (await underWay(db, queue)).filter(isLeft);
    const over = left.map(({ id, tries }, place) => ({ id, tries, until: now + pause(place, tries) }));
    for (const { id, until } of over)
      await db
        .updateTable('work_under_way')
        .set({ owner: null, fence: null, waits_until: new Date(until).toISOString() })
        .where((eb) => eb.and({ queue, id }))
        .execute();
    return over;
  });
}
