/**
 * For the queries of nearly every request and report: Kysely takes several times as long to build a query as SQLite to
 * find one row.
 */
import type { Compilable, CompiledQuery, DatabaseConnection } from 'kysely';
import { type DialectName, dialectOf } from './dialect-name.ts';
import type { Db } from './tables.ts';

/**
 * A query with a fixed text, built at its first run on each dialect and later only given its values: each is a plain value or a row,
 * whose members become parameters, or a list, which is one parameter (many.ts). It sees placeholders, so it may use a value
 * anywhere a parameter is allowed, any number of times, but not look at it; other values in it are constants.
 * @param build a row's members are those of the first run; each later row needs the same ones
 * @returns runs the query and returns its rows
 */
export function builtOnce<Row, Values extends readonly unknown[]>(
  build: (db: Db, ...values: Values) => Compilable<Row>,
): (db: Db, ...values: Values) => Promise<Row[]> {
  const builtOn: Partial<Record<DialectName, CompiledQuery<Row>>> = {};
  return async (db, ...values) => {
    const dialect = dialectOf(db);
    builtOn[dialect] ??= (build as Build<Row>)(db, ...placeholders(values)).compile();
    const built = builtOn[dialect];
    const { query, queryId, sql } = built;
    const parameters = built.parameters.map((parameter) =>
      parameter instanceof Placeholder ? listed(parameter.of(values), dialect) : parameter,
    );
    const compiled = { query, queryId, sql, parameters };
    const on = db.isTransaction ? (connections.get(db) ?? (await connectionOf(db))) : db;
    const { rows } = await on.executeQuery<Row>(compiled);
    return rows;
  };
}

const connections = new WeakMap<Db, DatabaseConnection>();

/**
 * The connection of a transaction, asked for once: asking again for each query would take longer than most queries of
 * a report.
 */
function connectionOf(transaction: Db): Promise<DatabaseConnection> {
  return transaction.getExecutor().provideConnection(async (connection) => {
    connections.set(transaction, connection);
    return connection;
  });
}

/** Stands for a value of a run while the query is built. */
class Placeholder {
  readonly #at: number;
  readonly #member: string | null;

  /** @param at index among the values @param member of the row there; null: the value itself */
  constructor(at: number, member: string | null) {
    this.#at = at;
    this.#member = member;
  }

  of(values: readonly unknown[]): unknown {
    const value = values[this.#at];
    return this.#member === null || !isRow(value) ? value : value[this.#member];
  }
}

type Members = Readonly<Record<string, unknown>>;

function isRow(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** SQLite has no arrays. */
function listed(value: unknown, dialect: DialectName): unknown {
  return dialect === 'sqlite' && Array.isArray(value) ? JSON.stringify(value) : value;
}

/** The query builder takes anything as a parameter, so placeholders pass where the types ask for values. */
type Build<Result> = (db: Db, ...values: readonly unknown[]) => Compilable<Result>;

function placeholders(values: readonly unknown[]): unknown[] {
  return values.map((value, at) =>
    isRow(value)
      ? Object.fromEntries(Object.keys(value).map((member) => [member, new Placeholder(at, member)]))
      : new Placeholder(at, null),
  );
}
