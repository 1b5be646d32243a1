/** A tool's body is sealed in its row: customers write keys of their own systems into its URL and headers. */
import { type Database, type Db, type SecretBox, sealEarlier, type ToolRow } from '../db/index.ts';

const context = (id: string) => `tool:${id}:body`;

/** @param body any JSON value; null: none */
export function sealBody(secrets: SecretBox, id: string, body: unknown): string | null {
  return body === null ? null : secrets.seal(JSON.stringify(body), context(id));
}

export function openBody(secrets: SecretBox, { id, body }: Pick<ToolRow, 'id' | 'body'>) {
  return body === null ? null : JSON.parse(secrets.open(body, context(id)));
}

/** Seals the bodies that earlier versions stored in plain text. Returns how many there were. */
export function sealEarlierBodies(database: Database, secrets: SecretBox): Promise<number> {
  return sealEarlier(database, (db, most) => sealSome(db, most, secrets));
}

async function sealSome(db: Db, most: number, secrets: SecretBox): Promise<number> {
  const rows = await db
    .selectFrom('tools')
    .select(['id', 'body'])
    .where('body', 'not like', 'v1.%')
    .limit(most)
    .$narrowType<{ body: string }>()
    .execute();
  for (const { id, body } of rows) {
    const sealed = secrets.seal(body, context(id));
    await db.updateTable('tools').set({ body: sealed }).where('id', '=', id).execute();
  }
  return rows.length;
}
