/** A tool's body is sealed in its row: customers write keys of their own systems into its URL and headers. */
import { sql } from 'kysely';
import {
  type Database,
  type Db,
  openJson,
  type SealedJson,
  type SecretBox,
  sealEarlier,
  sealJson,
  sealText,
  type ToolRow,
} from '../db/index.ts';
import type { ToolDraft } from './rules.ts';

const context = (id: string) => `tool:${id}:body`;

/** A template as the customer wrote it; null: none. */
type ToolBody = ToolDraft['body'];

export function sealBody(secrets: SecretBox, id: string, body: ToolBody): SealedJson | null {
  return body === null ? null : sealJson(secrets, body, context(id));
}

export function openBody(secrets: SecretBox, { id, body }: Pick<ToolRow, 'id' | 'body'>): ToolBody {
  return body === null ? null : openJson<ToolBody>(secrets, body, context(id));
}

/** Seals the bodies that earlier versions stored in plain text. Returns how many there were. */
export function sealEarlierBodies(database: Database, secrets: SecretBox): Promise<number> {
  return sealEarlier(database, (db, most) => sealSome(db, most, secrets));
}

async function sealSome(db: Db, most: number, secrets: SecretBox): Promise<number> {
  const rows = await db
    .selectFrom('tools')
    .select(['id', 'body'])
    .where(sql.ref<string>('body'), 'not like', 'v1.%')
    .limit(most)
    .$narrowType<{ body: SealedJson }>()
    .execute();
  for (const { id, body } of rows) {
    const sealed = sealText(secrets, body, context(id));
    await db.updateTable('tools').set({ body: sealed }).where('id', '=', id).execute();
  }
  return rows.length;
}
