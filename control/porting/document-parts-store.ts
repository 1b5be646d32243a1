/** The encrypted files of documents as rows, in parts, so that no statement and no page of a copy is large. */
import type { Db } from '../db/index.ts';

const partBytes = 65_536;
/** Parts in one statement. */
const partsAtOnce = 16;

export async function insertParts(db: Db, file_name: string, content: Buffer): Promise<void> {
  const rows = [];
  for (let begin = 0; begin < content.length; begin += partBytes)
    rows.push({ file_name, number: rows.length, bytes: content.subarray(begin, begin + partBytes) });
  for (let from = 0; from < rows.length; from += partsAtOnce)
    await db
      .insertInto('port_document_parts')
      .values(rows.slice(from, from + partsAtOnce))
      .execute();
}

/** Null: the file is not in the database. */
export async function readParts(db: Db, fileName: string): Promise<Buffer | null> {
  const parts = await db
    .selectFrom('port_document_parts')
    .select('bytes')
    .where('file_name', '=', fileName)
    .orderBy('number')
    .execute();
  return parts.length === 0 ? null : Buffer.concat(parts.map(({ bytes }) => bytes));
}

export async function deleteParts(db: Db, fileName: string): Promise<void> {
  await db.deleteFrom('port_document_parts').where('file_name', '=', fileName).execute();
}
