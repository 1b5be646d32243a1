/**
 * Counts the calls that were stored before there were sums of calls (migration 0064), newest first, a few at a time. Each
 * step moves `before_id` below the calls that it counted, in the same transaction: a call is counted here or by its
 * report (call-sums.ts), never by both.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Timer } from '#shared/clock.ts';
import type { Db } from '../db/index.ts';
import { addSums, countedColumns } from './call-sums.ts';
import type { CallDeps } from './deps.ts';

/** Calls of a step, in which nothing else is written. */
const callsAtOnce = 1_000;
/** Between two steps others write, ms. */
const pauseMs = 60;

/** @returns calls that it looked at; null: there are none left, or it is too early. @param now ISO */
export function countEarlierCalls(db: Db, now: string, most = callsAtOnce): Promise<number | null> {
  return db.transaction().execute(async (trx) => {
    const left = await trx.selectFrom('uncounted_calls').selectAll().executeTakeFirst();
    if (!left || left.begins_at > now) return null;
    const calls = await trx
      .selectFrom('calls')
      .select(countedColumns)
      .where('id', '<', left.before_id)
      .orderBy('id', 'desc')
      .limit(most)
      .execute();
    await addSums(
      trx,
      calls.filter(({ ended_at }) => ended_at !== null),
    );
    const last = calls.at(-1);
    if (last && calls.length === most)
      await trx.updateTable('uncounted_calls').set({ before_id: last.id }).execute();
    else await trx.deleteFrom('uncounted_calls').execute();
    return calls.length;
  });
}

/** When the counting begins or goes on; null: all calls are counted. */
export async function uncountedSince(db: Db): Promise<string | null> {
  const left = await db.selectFrom('uncounted_calls').select('begins_at').executeTakeFirst();
  return left?.begins_at ?? null;
}

/** Counts until nothing is left. Returns a function that stops it and resolves when no step is running. */
export function startEarlierCalls(
  { clock, database: { db } }: Pick<CallDeps, 'clock' | 'database'>,
  log: Pick<FastifyBaseLogger, 'info' | 'error'>,
): () => Promise<void> {
  let ended = false;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  let counted = 0;
  const step = async (): Promise<number | null> => {
    const now = clock.now();
    const found = await countEarlierCalls(db, new Date(now).toISOString());
    if (found !== null) {
      counted += found;
      return pauseMs;
    }
    const begins = await uncountedSince(db);
    if (begins !== null) return Math.max(pauseMs, Date.parse(begins) - now);
    if (counted > 0) log.info({ calls: counted }, 'calls of earlier versions are in the sums of calls');
    return null;
  };
  const start = () => {
    running = step()
      .catch((error: unknown) => {
        log.error({ err: error }, 'calls of earlier versions could not be counted');
        return retryMs;
      })
      .then((waitMs) => {
        if (!ended && waitMs !== null) timer = clock.after(waitMs, start);
      });
  };
  timer = clock.after(pauseMs, start);
  return async () => {
    ended = true;
    timer.cancel();
    await running;
  };
}

const retryMs = 60_000;
