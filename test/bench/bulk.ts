/** Bulk insert into a database of the newest schema that nothing else uses meanwhile. */
import SqliteFile from 'better-sqlite3';

export function writeInBulk(file: string, work: (connection: SqliteFile.Database) => void): void {
  const connection = new SqliteFile(file);
  try {
    // The data need not survive a crash, and each page is written once instead of to a log first.
    connection.pragma('journal_mode = MEMORY');
    connection.pragma('synchronous = OFF');
    connection.pragma('cache_size = -400000');
    connection.pragma('threads = 2');
    work(connection);
  } finally {
    connection.close();
  }
}
