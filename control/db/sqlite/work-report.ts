/** Running background work, for a fault report. */
import SqliteFile from 'better-sqlite3';

/** Most entries in a report. */
const mostListed = 100;

/** Reads at once and on a separate connection: a crashing program cannot wait, and its own connection may be in use. */
export function workUnderWay(file: string): unknown[] {
  const connection = new SqliteFile(file, { readonly: true, timeout: 1000 });
  try {
    const sql = 'select queue, id, tries, began_at from work_under_way order by began_at limit ?';
    return connection.prepare(sql).all(mostListed);
  } finally {
    connection.close();
  }
}
