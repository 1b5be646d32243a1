import { Kysely } from 'kysely';
import { systemClock } from '#shared/clock.ts';
import { isServer } from './address.ts';
import { hasTable } from './has-table.ts';
import { readFileUnmigrated } from './sqlite/files.ts';
import type { Db, Tables } from './tables.ts';

/**
 * Reads a database of any version without migrating it.
 * @param address of a PostgreSQL database, or an SQLite file
 * @returns null for a database without a schema
 * @throws Error that names the file or the server
 */
export async function readUnmigrated<T>(address: string, read: (db: Db) => Promise<T>): Promise<T | null> {
  if (!isServer(address)) return readFileUnmigrated(address, read);
  const { openPostgres } = await import('./postgres/open.ts');
  const db = new Kysely<Tables>({ dialect: openPostgres(address, systemClock, 1).dialect });
  try {
    return (await hasTable(db, 'organizations')) ? await read(db) : null;
  } finally {
    await db.destroy();
  }
}
