/** The next turn: organizations one after the other, by id, and the oldest run of each. */

import type { Db, TestRunRow } from '../../db/index.ts';
import { nextWaitingOrganization, oldestWaiting } from '../records/run-store.ts';

/**
 * The next run after one of `last`; undefined when no organization below its limit has one waiting.
 * @param last id of the organization that had the previous turn
 */
export async function nextFairly(
  db: Db,
  last: string,
  isFull: (orgId: string) => boolean,
): Promise<TestRunRow | undefined> {
  for (const [from, to] of [
    [last, null],
    ['', last],
  ] as const) {
    let org = await nextWaitingOrganization(db, from);
    while (org !== null && (to === null || org <= to)) {
      if (!isFull(org)) return oldestWaiting(db, org);
      org = await nextWaitingOrganization(db, org);
    }
  }
  return undefined;
}
