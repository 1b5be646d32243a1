/** Deletes many rows without blocking writers: the database allows one writer at a time. */
import { setImmediate } from 'node:timers/promises';
import type { DeleteResult } from 'kysely';

/** A few ms of work, also for rows of many kilobytes. */
const batchRows = 200;

/** Most rows that one call of `deleteInBatches` deletes, so that its end can be waited for at a shutdown. */
export const mostDeletedAtOnce = 20_000;

/**
 * Deletes batch after batch until one is not full, or `mostDeletedAtOnce` rows were deleted. Between two batches others
 * get their turn at the database.
 * @param deleteSome deletes at most `limit` rows
 * @returns how many rows were deleted
 */
export async function deleteInBatches(
  deleteSome: (limit: number) => Promise<Pick<DeleteResult, 'numDeletedRows'>>,
): Promise<number> {
  let deleted = 0;
  while (deleted < mostDeletedAtOnce) {
    const count = Number((await deleteSome(batchRows)).numDeletedRows);
    deleted += count;
    if (count < batchRows) break;
    await setImmediate();
  }
  return deleted;
}
