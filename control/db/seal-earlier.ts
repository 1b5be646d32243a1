/** Sealing what earlier versions stored in clear, so that nothing of it is left in the database's files. */
import type SqliteFile from 'better-sqlite3';
import type { Database } from './open.ts';

/** Rows of one transaction. */
const atATime = 100;

/**
 * @param sealSome seals at most so many rows of each table, and returns how many it found
 * @returns how many rows there were
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
  // The log still has the pages as they were.
  if (all > 0) await exclusive((connection) => connection.pragma('wal_checkpoint(TRUNCATE)'));
  return all;
}

function written(
  connection: SqliteFile.Database,
  sealSome: (connection: SqliteFile.Database, most: number) => number,
): number {
  // What a row gives up is written over with zeros.
  connection.pragma('secure_delete = ON');
  try {
    return connection.transaction(() => sealSome(connection, atATime)).immediate();
  } finally {
    connection.pragma('secure_delete = OFF');
  }
}
