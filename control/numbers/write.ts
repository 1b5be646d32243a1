/** Stores a change of what answers a number, with all that follows from it. */

import type { Clock } from '#shared/clock.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import type { Altered } from '../catalogue/index.ts';
import type { Db, NumberRow } from '../db/index.ts';
import { isoTime } from '../organizations/index.ts';
import type { NumberChange } from './rules.ts';
import { updateNumber } from './store.ts';

/** @param row the number before the change */
export async function storeChange(
  db: Db,
  clock: Clock,
  by: Actor,
  altered: Altered,
  row: NumberRow,
  change: NumberChange,
): Promise<void> {
  await updateNumber(db, row.org_id, row.number, { ...change.row, updated_at: isoTime(clock) });
  altered.numbers.add(row.number);
  // Versions of the previous pathway may no longer be needed by any number.
  if (row.pathway_id !== null) altered.pathways.add(row.pathway_id);
  await recordChange(db, clock, by, {
    orgId: row.org_id,
    area: 'numbers',
    subject: row.number,
    action: 'update',
    fields: Object.keys(change.updates).sort(),
  });
}
