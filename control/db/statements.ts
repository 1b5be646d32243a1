/**
 * Prepared statements, kept by their text: SQLite takes several times as long to prepare most queries as to run them.
 * One whose plan a change of the schema or of the statistics makes wrong is prepared anew by SQLite itself
 * (sqlite3_prepare_v3), and the values of a run are forgotten at its end.
 */
import type SqliteFile from 'better-sqlite3';
import type { SqliteDatabase } from 'kysely';

/** All queries of the program, with room for those whose text varies; a statement takes 3 to 50 KiB. */
const mostStatements = 500;

/** Longer ones list values by the hundred: each number of values is a text of its own, seldom seen again. */
const longestText = 8192;

/** A connection for Kysely that keeps the statements which were used last. @param most statements that are kept */
export function keepStatements(connection: SqliteFile.Database, most = mostStatements): SqliteDatabase {
  /** The longest unused first. */
  const kept = new Map<string, SqliteFile.Statement<unknown[]>>();
  return {
    prepare: (sql) => {
      const known = kept.get(sql);
      // While its rows are still read, a statement cannot run a second time.
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
