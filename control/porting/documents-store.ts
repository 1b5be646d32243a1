/** Proofs of ownership, as stored: rows here, the encrypted files next to the database (documents.ts). */
import type { Db, PortDocumentRow, Without } from '../db/index.ts';

/** Documents without a request are kept this long (contract 5.2). */
const keptMs = 90 * 24 * 60 * 60 * 1000;

/** Pause before retrying the deletion of a file. */
const retryMs = 24 * 60 * 60 * 1000;

/** Announced when a document was stored (edge-link/announcements.ts). */
export const documentSubject = 'port_documents';

export async function insertDocument(db: Db, row: PortDocumentRow): Promise<void> {
  await db.insertInto('port_documents').values(row).execute();
}

export async function deleteDocument(db: Db, id: string): Promise<void> {
  await db.deleteFrom('port_documents').where('id', '=', id).execute();
}

/** One page, newest first, and the total. */
export async function listDocuments(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: PortDocumentRow[]; total: number }> {
  const all = db.selectFrom('port_documents').where('org_id', '=', orgId).where('expired_at', 'is', null);
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total };
}

export function findDocument(db: Db, orgId: string, id: string): Promise<PortDocumentRow | undefined> {
  return db
    .selectFrom('port_documents')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('expired_at', 'is', null)
    .executeTakeFirst();
}

/** Port requests that reference a document. */
export async function requestsNaming(db: Db, documentId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('port_request_documents')
    .select('request_id')
    .where('document_id', '=', documentId)
    .orderBy('request_id')
    .limit(100)
    .execute();
  return rows.map(({ request_id }) => request_id);
}

export async function countUnused(db: Db, orgId: string): Promise<number> {
  const row = await db
    .selectFrom('port_documents')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('referenced', '=', 0)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** The ids that are not documents of the organization. */
export async function missingDocuments(db: Db, orgId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('port_documents')
    .select('id')
    .where('org_id', '=', orgId)
    .where('id', 'in', [...ids])
    .where('expired_at', 'is', null)
    .execute();
  return ids.filter((id) => !rows.some((row) => row.id === id));
}

/** Adds references from a request to documents, which are then kept. */
export async function referDocuments(db: Db, requestId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = ids.map((document_id, position) => ({ request_id: requestId, document_id, position }));
  await db.insertInto('port_request_documents').values(rows).execute();
  await db
    .updateTable('port_documents')
    .set({ referenced: 1 })
    .where('id', 'in', [...ids])
    .execute();
}

/** Documents of a request, in order. */
export function documentsOf(db: Db, requestId: string): Promise<PortDocumentRow[]> {
  return db
    .selectFrom('port_request_documents')
    .innerJoin('port_documents', 'port_documents.id', 'port_request_documents.document_id')
    .selectAll('port_documents')
    .where('port_request_documents.request_id', '=', requestId)
    .orderBy('port_request_documents.position')
    .execute();
}

/** Whether a row references the file; used for files that a crash left unfinished. */
export async function isKnownFile(db: Db, fileName: string): Promise<boolean> {
  const row = await db
    .selectFrom('port_documents')
    .select('id')
    .where('file_name', '=', fileName)
    .executeTakeFirst();
  return row !== undefined;
}

/** Unreferenced documents expired at `now` (ISO), oldest first. */
export function expiredDocuments(
  db: Db,
  now: string,
  { ids, organizations }: Without,
  limit: number,
): Promise<PortDocumentRow[]> {
  const again = new Date(Date.parse(now) - retryMs).toISOString();
  let query = db
    .selectFrom('port_documents')
    .selectAll()
    .where('referenced', '=', 0)
    .where('created_at', '<=', before(now))
    .where((eb) => eb.or([eb('expired_at', 'is', null), eb('expired_at', '<=', again)]));
  if (ids.length > 0) query = query.where('id', 'not in', [...ids]);
  if (organizations.length > 0) query = query.where('org_id', 'not in', [...organizations]);
  return query.orderBy('created_at').limit(limit).execute();
}

/** When to check again for expired unreferenced documents, ISO; null if there are none at all. */
export async function nextExpiry(db: Db, now: string): Promise<string | null> {
  const row = await db
    .selectFrom('port_documents')
    .select('created_at')
    .where('referenced', '=', 0)
    .orderBy('created_at')
    .executeTakeFirst();
  if (!row) return null;
  const end = Date.parse(row.created_at) + keptMs;
  // It has expired, but its file could not be deleted.
  return new Date(end > Date.parse(now) ? end : Date.parse(now) + retryMs).toISOString();
}

/** Marks a document as deleted before its file is. False when a request has referenced it meanwhile. */
export async function expireDocument(db: Db, id: string, now: string): Promise<boolean> {
  const result = await db
    .updateTable('port_documents')
    .set({ expired_at: now })
    .where('id', '=', id)
    .where('referenced', '=', 0)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

function before(now: string): string {
  return new Date(Date.parse(now) - keptMs).toISOString();
}
