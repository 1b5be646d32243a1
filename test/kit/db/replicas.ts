/** Replicas of tests: several in one process, which die when a test says so. */

import type { Database } from '../../../control/db/open.ts';
import { Replica } from '../../../control/db/replica.ts';
import { newId } from '../../../shared/ids.ts';

const log = { error: () => undefined, info: () => undefined };

export function testReplica(database: Pick<Database, 'apart'>, id: string = newId()): Replica {
  return new Replica({ db: database.apart, id, log });
}

/** It does nothing more, and its leases have expired: as if its process had been killed a while ago. */
export async function killReplica(database: Pick<Database, 'db'>, replica: Replica): Promise<void> {
  replica.freeze();
  await database.db
    .updateTable('leases')
    .set({ owner: '', expires_at: 0 })
    .where('owner', '=', replica.id)
    .execute();
}
