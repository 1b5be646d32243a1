/** Deletes old ended port requests with all their data. */
import { type Db, deleteInBatches, type PortStatus } from '../db/index.ts';

const ended: PortStatus[] = ['completed', 'failed', 'canceled'];

/**
 * Deletes requests that ended before `before`, and unsigned ones that ended before `unsignedBefore`. Their documents
 * become unused, and expire like other unused ones (expiry.ts).
 * @param before ISO
 * @param unsignedBefore ISO
 * @returns how many requests were deleted
 */
export function deletePortsBefore(db: Db, before: string, unsignedBefore: string): Promise<number> {
  return deleteInBatches((limit) =>
    db.transaction().execute(async (trx) => {
      const old = await trx
        .selectFrom('port_requests')
        .select('id')
        .where('status', 'in', ended)
        .where(({ eb, and, or }) =>
          or([
            eb('updated_at', '<', before),
            and([eb('signed_at', 'is', null), eb('updated_at', '<', unsignedBefore)]),
          ]),
        )
        .limit(limit)
        .execute();
      const ids = old.map(({ id }) => id);
      if (ids.length > 0) await deleteRequests(trx, ids);
      return { numDeletedRows: BigInt(ids.length) };
    }),
  );
}

async function deleteRequests(db: Db, ids: readonly string[]): Promise<void> {
  const named = await db
    .deleteFrom('port_request_documents')
    .where('request_id', 'in', ids)
    .returning('document_id')
    .execute();
  const freed = named.map(({ document_id }) => document_id);
  if (freed.length > 0) {
    await db
      .updateTable('port_documents')
      .set({ referenced: 0 })
      .where('id', 'in', freed)
      .where('id', 'not in', db.selectFrom('port_request_documents').select('document_id'))
      .execute();
  }
  for (const table of ['port_numbers', 'port_history', 'port_letters', 'port_mails'] as const) {
    await db.deleteFrom(table).where('request_id', 'in', ids).execute();
  }
  await db.deleteFrom('port_orders').where('id', 'in', ids).execute();
  await db.deleteFrom('port_requests').where('id', 'in', ids).execute();
}
