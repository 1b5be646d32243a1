/**
 * What the background works on is written down before it begins and struck out when it ends. What a start finds
 * here was under way when the program died, and may be what ended it: it counts as a try and waits.
 */
import type { Db, WorkUnderWayRow } from './tables.ts';

/** How long work that a crash has ended waits before it is tried again, ms: the program is up by then. */
export const crashPauseMs = 5_000;
/** Crashes during one piece of work after which it is not tried again. */
export const mostCrashes = 5;

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

/** What a crash has left of a queue. */
export function interruptedWork(db: Db, queue: string): Promise<WorkUnderWayRow[]> {
  return db.selectFrom('work_under_way').selectAll().where('queue', '=', queue).execute();
}
