/** Kysely's SQLite dialect here: one connection, cached statements, with texts that can be cached. */
import type SqliteFile from 'better-sqlite3';
import {
  type BinaryOperationNode,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type LimitNode,
  OperatorNode,
  type QueryResult,
  SqliteDialect,
  SqliteQueryCompiler,
  type TransactionSettings,
  ValueNode,
} from 'kysely';
import { checkFence, presentFence } from '../fence.ts';
import { KeptStatements } from './statements.ts';

/** What the statements of a connection tell. */
export interface StatementEvents {
  /** A statement failed. */
  failed(error: unknown): void;
  /** Something may have been committed. */
  committed(): void;
}

const noEvents: StatementEvents = { failed: () => undefined, committed: () => undefined };

export class KeptStatementsDialect extends SqliteDialect {
  readonly #connection: SqliteFile.Database;
  readonly #events: StatementEvents;

  /** @param connection is closed with Kysely */
  constructor(connection: SqliteFile.Database, events: StatementEvents = noEvents) {
    super({ database: connection });
    this.#connection = connection;
    this.#events = events;
  }

  override createDriver(): Driver {
    return new OneConnection(this.#connection, this.#events);
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new LastingPlans();
  }
}

class OneConnection implements Driver {
  readonly #connection: SqliteConnection;

  constructor(file: SqliteFile.Database, events: StatementEvents) {
    this.#connection = new SqliteConnection(file, events);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {}

  /**
   * Takes the write lock at once: a transaction that reads before it writes would otherwise fail, without waiting, when
   * another program wrote in between (https://sqlite.org/lang_transaction.html, SQLITE_BUSY_SNAPSHOT).
   */
  async beginTransaction(_: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    if (accessMode === 'read only') return this.#connection.run('begin');
    await this.#connection.begin();
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('commit');
  }

  /**
   * SQLite rolls back on its own when the disk is full or fails (https://sqlite.org/lang_transaction.html). A second
   * rollback would throw, and hide why the transaction failed.
   */
  async rollbackTransaction(): Promise<void> {
    if (this.#connection.file.inTransaction) this.#connection.run('rollback');
  }

  async destroy(): Promise<void> {
    this.#connection.file.close();
  }
}

/** The statement of a query that may write. */
const writing = /^\s*(?:insert|update|delete)\b/i;

/** The one connection of a database. */
export class SqliteConnection implements DatabaseConnection {
  readonly file: SqliteFile.Database;
  readonly #statements: KeptStatements;
  readonly #events: StatementEvents;

  constructor(file: SqliteFile.Database, events: StatementEvents) {
    this.file = file;
    this.#statements = new KeptStatements(file);
    this.#events = events;
  }

  /** Runs a statement without values. */
  run(sql: string): void {
    this.#execute(sql, []);
  }

  /** Begins a transaction that writes. @throws FenceLost when the work that begins it may no longer write */
  async begin(): Promise<void> {
    this.run('begin immediate');
    const fence = presentFence();
    if (fence === null) return;
    try {
      await checkFence(this, fence);
    } catch (error) {
      if (this.file.inTransaction) this.run('rollback');
      throw error;
    }
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    // What its columns are is the promise of the query builder.
    if (this.file.inTransaction || presentFence() === null || !writing.test(sql))
      return this.#execute(sql, parameters) as QueryResult<R>;
    await this.begin();
    try {
      const result = this.#execute(sql, parameters) as QueryResult<R>;
      this.run('commit');
      return result;
    } catch (error) {
      if (this.file.inTransaction) this.run('rollback');
      throw error;
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  #execute(sql: string, parameters: readonly unknown[]): QueryResult<unknown> {
    try {
      const statement = this.#statements.prepare(sql);
      const result = resultOf(statement, parameters);
      // SQLite counts `commit` itself among the statements that only read.
      if ((sql === 'commit' || !statement.readonly) && !this.file.inTransaction) this.#events.committed();
      return result;
    } catch (error) {
      this.#events.failed(error);
      throw error;
    }
  }
}

function resultOf(
  statement: SqliteFile.Statement<unknown[]>,
  parameters: readonly unknown[],
): QueryResult<unknown> {
  if (statement.reader) return { rows: statement.all(parameters) };
  const { changes, lastInsertRowid } = statement.run(parameters);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
}

/**
 * Writes queries so that SQLite plans them once. Where a parameter is used alone as a limit or beside `=`, the planner
 * looks at its value (sqlite3ExprIsInteger), and each binding then re-prepares the whole statement, which takes a third
 * of the time of a list page. A partial index, such as `where open = 1`, is matched by the query's text: queries that
 * need it write the value with `sql.lit`.
 */
class LastingPlans extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node;
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) this.append(`limit ${limit.value}`);
    else super.visitLimit(node);
  }

  /** `likely(X)` is X, with no code of its own (https://sqlite.org/lang_corefunc.html#likely). */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, operator, rightOperand } = node;
    const isEquality = OperatorNode.is(operator) && operator.operator === '=';
    if (isEquality && ValueNode.is(rightOperand) && !rightOperand.immediate) {
      this.visitNode(leftOperand);
      this.append(' = likely(');
      this.visitNode(rightOperand);
      this.append(')');
    } else {
      super.visitBinaryOperation(node);
    }
  }
}
