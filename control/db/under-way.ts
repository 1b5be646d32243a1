/**
 * Background work is recorded before it starts and removed when it ends. What a start finds here was running when the
 * program crashed, and may have caused it: it counts as an attempt and waits.
 */
import type { Selectable } from 'kysely';
import type { Db, WorkUnderWayRow } from './tables.ts';

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

/** Resolves with the number of starts without an end, including this one. */
export async function beginWork(db: Db, queue: string, id: string, now: number): Promise<number> {
  const began_at = new Date(now).toISOString();
  const row = await db
    .insertInto('work_under_way')
    .values({ queue, id, tries: 1, began_at })
    .onConflict((conflict) =>
      conflict
        .columns(['queue', 'id'])
        .doUpdateSet((eb) => ({ tries: eb('work_under_way.tries', '+', 1), began_at })),
    )
    .returning('tries')
    .executeTakeFirstOrThrow();
  return row.tries;
}

export async function endWork(db: Db, queue: string, id: string): Promise<void> {
  await db.deleteFrom('work_under_way').where('queue', '=', queue).where('id', '=', id).execute();
}

/** A queue's work left by a crash, in order of its start. */
export function interruptedWork(db: Db, queue: string): Promise<Selectable<WorkUnderWayRow>[]> {
  return db
    .selectFrom('work_under_way')
    .selectAll()
    .where('queue', '=', queue)
    .orderBy('began_at')
    .orderBy('id')
    .execute();
}
