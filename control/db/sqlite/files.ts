/** Database files that this program does not keep open: read, copied and checked. */
import { chmodSync, renameSync } from 'node:fs';
import SqliteFile from 'better-sqlite3';
import { Kysely } from 'kysely';
import { pathExists } from '#shared/path-exists.ts';
import { namedPath } from '#shared/storage-fault.ts';
import { hasTable } from '../has-table.ts';
import type { Db, Tables } from '../tables.ts';
import { KeptStatementsDialect } from './dialect.ts';

/**
 * A database file and those that SQLite keeps beside it. They go together: SQLite plays a log that is beside a file back
 * into it, whichever database it was of (https://sqlite.org/howtocorrupt.html, 1.4).
 */
export function withCompanions(file: string): readonly string[] {
  return ['', '-wal', '-shm', '-journal'].map((ending) => file + ending);
}

/**
 * Gives a database file another name, or only what an earlier one of its name has left beside it.
 * @returns whether there was a database
 */
export function renameDatabase(from: string, to: string): boolean {
  const was = pathExists(from);
  const names = withCompanions(to);
  for (const [index, file] of withCompanions(from).entries()) {
    const name = names[index];
    if (name !== undefined && pathExists(file)) renameSync(file, name);
  }
  return was;
}

/** @returns null for a file without a schema @throws Error that names the file */
export async function readFileUnmigrated<T>(file: string, read: (db: Db) => Promise<T>): Promise<T | null> {
  try {
    const connection = new SqliteFile(file, { readonly: true, timeout: 5000 });
    const db = new Kysely<Tables>({ dialect: new KeptStatementsDialect(connection) });
    try {
      return (await hasTable(db, 'organizations')) ? await read(db) : null;
    } finally {
      await db.destroy();
    }
  } catch (error) {
    throw namedPath(file, error);
  }
}

/**
 * Copies a database that may be in use: one step of SQLite's online backup, a consistent snapshot while others keep
 * reading and writing.
 * @returns what `damageOf` returns for the copy
 */
export async function copyDatabase(from: string, to: string): Promise<string | null> {
  const source = new SqliteFile(from, { fileMustExist: true, timeout: 5000 });
  try {
    // A copy in many steps would restart with every write of another process.
    await source.backup(to, { progress: () => 2 ** 31 - 1 });
  } finally {
    source.close();
  }
  chmodSync(to, 0o600);
  const copy = new SqliteFile(to);
  try {
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
  return damageOf(to);
}

/** What is wrong with a database file, in words that follow its name; null: nothing. */
export function damageOf(file: string): string | null {
  const database = new SqliteFile(file);
  try {
    const found: unknown = database.pragma('integrity_check', { simple: true });
    if (found !== 'ok') return `is damaged: ${String(found)}`;
    const dangling: unknown = database.pragma('foreign_key_check');
    if (!Array.isArray(dangling) || dangling.length === 0) return null;
    return `has ${dangling.length} references to missing rows`;
  } finally {
    database.close();
  }
}

/** As `damageOf`, in less time and without a write: indexes are not compared with their tables. */
export function quickDamageOf(file: string): string | null {
  const database = new SqliteFile(file, { readonly: true, timeout: 5000 });
  try {
    const found: unknown = database.pragma('quick_check(1)', { simple: true });
    return found === 'ok' ? null : `is damaged: ${String(found)}`;
  } finally {
    database.close();
  }
}
