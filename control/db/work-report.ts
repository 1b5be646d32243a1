/** Which background work is under way, for the report of a fault. */
import SqliteFile from 'better-sqlite3';

/** Work that a report lists. */
const mostListed = 100;

/**
 * Reads at once and on a connection of its own: a program that ends cannot wait, and its own connection may be in the
 * middle of something.
 */
export function workUnderWay(file: string): unknown[] {
  const connection = new SqliteFile(file, { readonly: true, timeout: 1000 });
  try {
    const sql = 'select queue, id, tries, began_at from work_under_way order by began_at limit ?';
    return connection.prepare(sql).all(mostListed);
  } finally {
    connection.close();
  }
}
