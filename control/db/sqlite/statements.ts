/**
 * Prepared statements, cached by text: SQLite takes several times as long to prepare most queries as to run them.
 * SQLite itself re-prepares a statement when a change of the schema or statistics invalidates its plan
 * (sqlite3_prepare_v3), and the values of a run are cleared at its end.
 */
import type SqliteFile from 'better-sqlite3';

/** All queries of the program, with room for varying ones; a statement takes 3 to 50 KiB. */
const mostStatements = 500;

/** Longer ones list values by the hundred: each number of values gives another text, rarely reused. */
const longestText = 8192;

export class KeptStatements {
  readonly #connection: SqliteFile.Database;
  readonly #most: number;
  readonly #kept = new Map<string, Kept>();
  #uses = 0;

  /** @param most statements kept */
  constructor(connection: SqliteFile.Database, most = mostStatements) {
    this.#connection = connection;
    this.#most = most;
  }

  prepare(sql: string): SqliteFile.Statement<unknown[]> {
    const known = this.#kept.get(sql);
    this.#uses += 1;
    if (known) {
      known.usedAt = this.#uses;
      // A statement cannot run again while its rows are being read.
      return known.statement.busy ? this.#connection.prepare(sql) : known.statement;
    }
    const statement = this.#connection.prepare(sql);
    if (sql.length > longestText) return statement;
    if (this.#kept.size >= this.#most) this.#drop();
    this.#kept.set(sql, { statement, usedAt: this.#uses });
    return statement;
  }

  /** Drops the least recently used one. */
  #drop(): void {
    const [oldest] = [...this.#kept].reduce((a, b) => (b[1].usedAt < a[1].usedAt ? b : a));
    this.#kept.delete(oldest);
  }
}

interface Kept {
  readonly statement: SqliteFile.Statement<unknown[]>;
  /** Which use of all of them was its last; ordering a map at each use would take longer than many queries. */
  usedAt: number;
}
