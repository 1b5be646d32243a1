/** Cancels what has not ended of a simulation set (contract 6.7, 6.16). */
import { isoTime } from '../../organizations/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { openRunsOf } from '../records/set-store.ts';
import { cancelledEnd, finishRun } from '../records/write.ts';
import type { TestRuns } from './start.ts';

/** @returns how many runs were cancelled */
export async function cancelRunsOfSet(
  { clock, database: { db } }: Pick<TestingDeps, 'clock' | 'database'>,
  setId: string,
  stopped: TestRuns['stopped'],
): Promise<number> {
  const now = isoTime(clock);
  let cancelled = 0;
  // One after the other: a thousand in one transaction would block everything else.
  for (const runId of await openRunsOf(db, setId)) {
    const ended = await db.transaction().execute((trx) => finishRun(trx, runId, cancelledEnd(now)));
    if (!ended) continue;
    cancelled++;
    stopped([runId]);
  }
  return cancelled;
}
