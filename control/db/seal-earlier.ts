/** Seals what earlier versions stored in plain text, so that none of it is left in the database's files. */
import type SqliteFile from 'better-sqlite3';
import type { Database } from './open.ts';

/** Rows per transaction. */
const atATime = 100;

/**
 * @param sealSome seals at most this many rows of each table, and returns how many it found
 * @returns how many rows were sealed
 */
export async function sealEarlier(
  { exclusive }: Pick<Database, 'exclusive'>,
  sealSome: (connection: SqliteFile.Database, most: number) => number,
): Promise<number> {
  let all = 0;
  for (;;) {
    const rows = await exclusive((connection) => written(connection, sealSome));
    all += rows;
    if (rows === 0) break;
  }
  // The write-ahead log still has the old pages.
  if (all > 0) await exclusive((connection) => connection.pragma('wal_checkpoint(TRUNCATE)'));
  return all;
}

function written(
  connection: SqliteFile.Database,
  sealSome: (connection: SqliteFile.Database, most: number) => number,
): number {
  // Freed content is overwritten with zeros.
  connection.pragma('secure_delete = ON');
  try {
    return connection.transaction(() => sealSome(connection, atATime)).immediate();
  } finally {
    connection.pragma('secure_delete = OFF');
  }
}
