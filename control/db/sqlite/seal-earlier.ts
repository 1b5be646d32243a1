/** Seals what earlier versions stored in plain text, so that none of it is left in the database's files. */
import { sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';
import type { Database } from '../open.ts';
import type { Db } from '../tables.ts';

/** Rows per transaction. */
const atATime = 100;

/** Seals at most this many rows of each table, and returns how many it found. */
type SealSome = (db: Db, most: number) => Promise<number>;

/** @returns how many rows were sealed */
export async function sealEarlier({ db }: Pick<Database, 'db'>, sealSome: SealSome): Promise<number> {
  // On PostgreSQL no version stored plain text.
  if (dialectOf(db) !== 'sqlite') return 0;
  let all = 0;
  for (;;) {
    const rows = await db.connection().execute((one) => written(one, sealSome));
    all += rows;
    if (rows === 0) break;
  }
  // The write-ahead log still has the old pages.
  if (all > 0) await sql`pragma wal_checkpoint(TRUNCATE)`.execute(db);
  return all;
}

async function written(one: Db, sealSome: SealSome): Promise<number> {
  // Freed content is overwritten with zeros.
  await sql`pragma secure_delete = ON`.execute(one);
  try {
    return await one.transaction().execute((db) => sealSome(db, atATime));
  } finally {
    await sql`pragma secure_delete = OFF`.execute(one);
  }
}
