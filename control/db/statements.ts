/**
 * Prepared statements, cached by text: SQLite takes several times as long to prepare most queries as to run them.
 * SQLite itself re-prepares a statement when a change of the schema or statistics invalidates its plan
 * (sqlite3_prepare_v3), and the values of a run are cleared at its end.
 */
import type SqliteFile from 'better-sqlite3';
import type { SqliteDatabase } from 'kysely';

/** All queries of the program, with room for varying ones; a statement takes 3 to 50 KiB. */
const mostStatements = 500;

/** Longer ones list values by the hundred: each number of values gives another text, rarely reused. */
const longestText = 8192;

/** A connection for Kysely that keeps the most recently used statements. @param most statements kept */
export function keepStatements(connection: SqliteFile.Database, most = mostStatements): SqliteDatabase {
  /** Least recently used first. */
  const kept = new Map<string, SqliteFile.Statement<unknown[]>>();
  return {
    prepare: (sql) => {
      const known = kept.get(sql);
      // A statement cannot run again while its rows are being read.
      if (sql.length > longestText || known?.busy) return connection.prepare(sql);
      const statement = known ?? connection.prepare(sql);
      kept.delete(sql);
      kept.set(sql, statement);
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break;
        kept.delete(oldest);
      }
      return statement;
    },
    close: () => {
      connection.close();
    },
  };
}
