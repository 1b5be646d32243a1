/** Whose turn it is: organizations one after the other, in the order of their ids, and within one the oldest run. */

import type { Db, TestRunRow } from '../../db/index.ts';
import { nextWaitingOrganization, oldestWaiting } from '../records/run-store.ts';

/**
 * The run that comes after one of `last`; undefined when nobody waits who may have more.
 * @param last id of the organization whose turn it was before
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
