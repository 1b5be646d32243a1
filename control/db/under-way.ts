/**
 * What the background works on is written down before it begins and struck out when it ends. What a start finds
 * here was under way when the program died, and may be what ended it: it counts as a try and waits.
 */
import type { Db, WorkUnderWayRow } from './tables.ts';

/** How long work that a crash has ended waits before it is tried again, ms: the program is up by then. */
const crashPauseMs = 5_000;
/** Crashes during one piece of work after which it is not tried again. */
export const mostCrashes = 5;
/**
 * Between the beginnings of what one crash has ended, ms: all of it is suspect and one of it is guilty. What comes
 * before that one is done when it ends the program again, what comes after it has not begun and loses no try.
 */
const staggerMs = 200;
/** Of work without a limit of tries of its own, which nobody may drop: by tries that came to nothing, ms. */
const pausesMs = [crashPauseMs, 20_000, 80_000, 320_000] as const;
/** Beyond them: somebody has read the log by then. */
const longestPauseMs = 24 * 3_600_000;

/** @param tries that came to nothing, from 1 @returns ms until the next */
export function pauseAfter(tries: number): number {
  return pausesMs[tries - 1] ?? longestPauseMs;
}

/** @param place in what the crash has ended, from 0 @returns ms until it may begin */
export function pauseAfterCrash(place: number, tries = 1): number {
  return pauseAfter(tries) + place * staggerMs;
}

/** Resolves with how often the work has begun without an end, this time included. */
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

/** What a crash has left of a queue, in the order in which it had begun. */
export function interruptedWork(db: Db, queue: string): Promise<WorkUnderWayRow[]> {
  return db
    .selectFrom('work_under_way')
    .selectAll()
    .where('queue', '=', queue)
    .orderBy('began_at')
    .orderBy('id')
    .execute();
}
