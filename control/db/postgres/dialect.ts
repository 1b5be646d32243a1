/** Kysely's PostgreSQL dialect here: pooled connections, prepared statements, and one order of all writes. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type DataTypeNode,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import { shownAddress } from '../address.ts';
import { checkFence, presentFence } from '../fence.ts';
import { connectionOf } from './connections.ts';
import { withoutNul } from './text.ts';
import { columnTypes } from './types.ts';
import type { Unanswered } from './unanswered.ts';
import { unreachable } from './unreachable.ts';
import { ofServer } from './words.ts';

/**
 * How writes are ordered, see `writers`. `shared`: transactions run beside others that share, as single statements always
 * do. `unordered`: single statements wait for nobody.
 */
type Order = 'ordered' | 'shared' | 'unordered';

interface Statements {
  /** Receives the error of each statement that failed. */
  failed(error: unknown): void;
  readonly order: Order;
  /** Ends the wait for an answer that will not come; null: the pool has a time limit for each statement. */
  readonly unanswered: Unanswered | null;
}

export class PooledPostgresDialect implements Dialect {
  readonly #pool: pg.Pool;
  readonly #statements: Statements;

  /** @param pool is ended with Kysely */
  constructor(
    pool: pg.Pool,
    { failed = () => undefined, order = 'ordered', unanswered = null }: Partial<Statements> = {},
  ) {
    this.#pool = pool;
    this.#statements = { failed, order, unanswered };
  }

  createDriver(): Driver {
    return new PooledDriver(this.#pool, this.#statements);
  }

  createQueryCompiler(): QueryCompiler {
    return new PlainTypes();
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }
}

/**
 * SQLite has one writer at a time, and the areas rely on it: what a transaction read is still true when it writes. An
 * advisory lock gives the same order here. A transaction holds it alone; a single statement outside of transactions
 * shares it with others of its kind, because each row it changes is locked by PostgreSQL itself. So do transactions that
 * store reports about calls, each of its own edges (edge-link/reports.ts). Isolation stays at READ
 * COMMITTED, so each statement after the lock sees what the transactions before it wrote.
 * https://www.postgresql.org/docs/15/explicit-locking.html#ADVISORY-LOCKS
 */
const writers = 7_261_002;
const beginAlone = `begin; select pg_advisory_xact_lock(${writers})`;
const beginShared = `begin; select pg_advisory_xact_lock_shared(${writers})`;
/** All its statements see one state, as in SQLite. It keeps nobody from writing, so it may pause (session.ts). */
const beginReading =
  'begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = 0';

class PooledDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #statements: Statements;
  readonly #connections = new WeakMap<pg.PoolClient, PostgresConnection>();

  constructor(pool: pg.Pool, statements: Statements) {
    this.#pool = pool;
    this.#statements = statements;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const client = await this.#connect();
    const known = this.#connections.get(client);
    if (known) return known;
    const connection = new PostgresConnection(client, addressOf(this.#pool), this.#statements);
    this.#connections.set(client, connection);
    return connection;
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await connectionOf(this.#pool);
    } catch (error) {
      const failure = unreachable(error);
      this.#statements.failed(failure);
      throw ofServer(failure, addressOf(this.#pool));
    }
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  async beginTransaction(connection: PostgresConnection, { accessMode }: TransactionSettings): Promise<void> {
    if (accessMode === 'read only') return connection.begin(beginReading);
    await connection.begin(this.#statements.order === 'shared' ? beginShared : beginAlone);
    await connection.checkFence();
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** Uses of a text before it is prepared, and most texts that are: each takes memory in every connection. */
const usesBeforePrepared = 3;
const mostPrepared = 1_000;
/** Longer ones list values by the hundred: each number of values gives another text, rarely reused. */
const longestPrepared = 8_192;

/** Names of prepared statements by text, the same in all connections. */
class StatementNames {
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || text.length > longestPrepared || this.#names.size >= mostPrepared)
      return known;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < usesBeforePrepared) {
      if (this.#uses.size >= mostPrepared) this.#uses.clear();
      this.#uses.set(text, uses);
      return undefined;
    }
    this.#uses.delete(text);
    const name = `s${this.#names.size + 1}`;
    this.#names.set(text, name);
    return name;
  }
}

const names = new StatementNames();

/** The statement of a query that may write. */
const writing = /^\s*(?:insert|update|delete|merge)\b/i;

class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  /** Of the server, for people. */
  readonly #address: string;
  readonly #statements: Statements;
  #inTransaction = false;
  /** A connection in an unknown state goes, instead of back to the pool. */
  #broken = false;

  constructor(client: pg.PoolClient, address: string, statements: Statements) {
    this.#client = client;
    this.#address = address;
    this.#statements = statements;
    // Without a listener, a server that ends the connection between two statements would end the program.
    client.on('error', (error) => {
      this.#broken = true;
      statements.failed(unreachable(error));
    });
  }

  async begin(text: string): Promise<void> {
    await this.#run(text);
    this.#inTransaction = true;
  }

  /** Ends the transaction when the work that began it may no longer write. @throws FenceLost */
  async checkFence(): Promise<void> {
    const fence = presentFence();
    if (fence === null) return;
    try {
      await checkFence(this, fence);
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  async commit(): Promise<void> {
    this.#inTransaction = false;
    const { command } = await this.#run('commit');
    // So PostgreSQL ends a transaction in which a statement failed, even when the failure was caught.
    if (command === 'ROLLBACK')
      throw new Error('A statement of the transaction failed, so it was rolled back.');
  }

  async rollback(): Promise<void> {
    this.#inTransaction = false;
    await this.#run('rollback');
  }

  release(): void {
    this.#client.release(this.#broken || this.#inTransaction);
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#inTransaction || this.#statements.order === 'unordered' || !writing.test(sql))
      return this.#execute<R>(sql, parameters);
    await this.begin(beginShared);
    await this.checkFence();
    try {
      const result = await this.#execute<R>(sql, parameters);
      await this.commit();
      return result;
    } catch (error) {
      if (this.#inTransaction) await this.rollback();
      throw error;
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async #execute<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    const { command, rows, rowCount } = await this.#run(sql, parameters.map(storable));
    // What its columns are is the promise of the query builder.
    const result: QueryResult<R> = { rows: rows as R[] };
    return command === 'SELECT' ? result : { ...result, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  async #run(text: string, values: unknown[] = []): Promise<pg.QueryResult<Record<string, unknown>>> {
    const name = values.length === 0 ? undefined : names.of(text);
    const { unanswered } = this.#statements;
    const query = () =>
      this.#client.query<Record<string, unknown>>({
        text,
        values,
        types: columnTypes,
        ...(name !== undefined && { name }),
      });
    try {
      return await (unanswered === null ? query() : unanswered.whileWaiting(this.#client, query));
    } catch (error) {
      const failure = unreachable(error);
      if (failure !== error) this.#broken = true;
      this.#statements.failed(failure);
      throw ofServer(failure, this.#address);
    }
  }
}

function addressOf(pool: pg.Pool): string {
  return shownAddress(pool.options.connectionString ?? '');
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return withoutNul(value);
  return Array.isArray(value) ? value.map(storable) : value;
}

/**
 * Column types of the migrations in PostgreSQL's words, with SQLite's meaning: integers of 64 bits, floating point of
 * 64 bits, and text that sorts by its octets, whatever the locale of the database.
 */
class PlainTypes extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    const { dataType } = node;
    if (dataType === 'integer') this.append('bigint');
    else if (dataType === 'real') this.append('double precision');
    else if (dataType === 'blob') this.append('bytea');
    else if (dataType === 'text') this.append('text collate "C"');
    else super.visitDataType(node);
  }

  protected override getAutoIncrement(): string {
    return 'generated by default as identity';
  }
}
