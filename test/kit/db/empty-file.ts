/** SQLite files at the newest schema, without rows: the migrations take longer than most tests do afterwards. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { migrations } from '../../../control/db/migrations/index.ts';
import { migrate } from '../../../control/db/open.ts';

/** Made once by a process. */
let empty: Promise<Buffer> | null = null;

/** What a first start would make there. Tests of first starts and of upgrades let the program make its own. */
export async function writeEmptyFile(path: string): Promise<void> {
  empty ??= migrated();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, await empty, { mode: 0o600, flag: 'wx' });
}

async function migrated(): Promise<Buffer> {
  const file = new SqliteFile(':memory:');
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
  await migrate(db, migrations);
  const bytes = file.serialize();
  await db.destroy();
  return bytes;
}
