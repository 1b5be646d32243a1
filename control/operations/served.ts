import { type Db, livingReplicas, shownAddress } from '../db/index.ts';
import { OperationError } from './operation-error.ts';

/** @throws OperationError while control planes work on the database, whose rows are about to be replaced */
export async function refuseWhileServed(db: Db, address: string): Promise<void> {
  const { length } = await livingReplicas(db);
  if (length === 0) return;
  const who = length === 1 ? 'A control plane works' : `${length} control planes work`;
  throw new OperationError(
    `${who} on ${shownAddress(address)}. Stop all, and try again; one that was killed counts for up to four seconds.`,
  );
}
