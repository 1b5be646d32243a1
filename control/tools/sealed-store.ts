/** A tool's body is sealed in its row: customers write keys of their own systems into its URL and headers. */
import type SqliteFile from 'better-sqlite3';
import { type Database, type SecretBox, sealEarlier, type ToolRow } from '../db/index.ts';

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
  return sealEarlier(database, (connection, most) => sealSome(connection, most, secrets));
}

function sealSome(connection: SqliteFile.Database, most: number, secrets: SecretBox): number {
  const rows = connection
    .prepare<[number], { id: string; body: string }>(
      `select id, body from tools where body not like 'v1.%' limit ?`,
    )
    .all(most);
  const seal = connection.prepare('update tools set body = ? where id = ?');
  for (const { id, body } of rows) seal.run(secrets.seal(body, context(id)), id);
  return rows.length;
}
