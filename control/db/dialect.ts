/** Kysely's SQLite dialect here: cached statements, with texts that can be cached. */
import type SqliteFile from 'better-sqlite3';
import {
  type BinaryOperationNode,
  type DatabaseConnection,
  type Driver,
  type LimitNode,
  OperatorNode,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
  ValueNode,
} from 'kysely';
import { keepStatements } from './statements.ts';

export class KeptStatementsDialect extends SqliteDialect {
  readonly #connection: SqliteFile.Database;

  /** @param connection is closed with Kysely */
  constructor(connection: SqliteFile.Database) {
    super({ database: keepStatements(connection) });
    this.#connection = connection;
  }

  override createDriver(): Driver {
    return new OnceRolledBack(this.#connection);
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new LastingPlans();
  }
}

/**
 * SQLite rolls back on its own when the disk is full or fails (https://sqlite.org/lang_transaction.html). A second
 * rollback would throw, and hide why the transaction failed.
 */
class OnceRolledBack extends SqliteDriver {
  readonly #connection: SqliteFile.Database;

  constructor(connection: SqliteFile.Database) {
    super({ database: keepStatements(connection) });
    this.#connection = connection;
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}

/**
 * Writes queries so that SQLite plans them once. Where a parameter stands alone as a limit or beside `=`, the planner
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
