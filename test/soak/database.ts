/** What control has stored, read beside the running program. Reads only. */
import Sqlite from 'better-sqlite3';
import pg from 'pg';

export interface Stored {
  /** Rows by table. */
  readonly rows: ReadonlyMap<string, number>;
  /** Octets of the database on PostgreSQL; on SQLite its files are measured. */
  readonly bytes: number | null;
}

export interface CallCheck {
  /** Call-IDs with more than one record in one direction. */
  readonly doubled: readonly string[];
  /** Calls without an end. */
  readonly open: readonly string[];
  readonly calls: number;
}

export interface StoredData {
  read(): Promise<Stored>;
  check(): Promise<CallCheck>;
}

/** Ids of each fault that are read, for the report. */
const mostIds = 20;
const doubled = `select sip_call_id as id from calls where sip_call_id <> ''
  group by sip_call_id, direction having count(*) > 1 limit ${mostIds}`;
const open = `select id from calls where ended_at is null limit ${mostIds}`;
const count = 'select count(*) as n from';

export class SqliteData implements StoredData {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<Stored> {
    return this.#with((db) => {
      const tables = db
        .prepare<[], { name: string }>(
          `select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
        )
        .all();
      const rows = tables.map(({ name }): [string, number] => [
        name,
        db.prepare<[], { n: number }>(`${count} "${name}"`).get()?.n ?? 0,
      ]);
      return { rows: new Map(rows), bytes: null };
    });
  }

  async check(): Promise<CallCheck> {
    return this.#with((db) => {
      const ids = (sql: string) =>
        db
          .prepare<[], { id: string }>(sql)
          .all()
          .map(({ id }) => id);
      const calls = db.prepare<[], { n: number }>(`${count} calls`).get()?.n ?? 0;
      return { doubled: ids(doubled), open: ids(open), calls };
    });
  }

  /** Opened for each reading, so that the soak holds back no checkpoint. */
  #with<T>(read: (db: Sqlite.Database) => T): T {
    const db = new Sqlite(this.#file, { readonly: true, timeout: 10_000 });
    try {
      return read(db);
    } finally {
      db.close();
    }
  }
}

export class PostgresData implements StoredData {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  read(): Promise<Stored> {
    return this.#with(async (client) => {
      const tables = await client.query<{ name: string }>(
        `select relname as name from pg_class join pg_namespace n on n.oid = relnamespace
         where nspname = current_schema() and relkind in ('r', 'p') and not relispartition`,
      );
      const rows = new Map<string, number>();
      for (const { name } of tables.rows) {
        const counted = await client.query<{ n: string }>(`${count} "${name}"`);
        rows.set(name, Number(counted.rows[0]?.n));
      }
      const size = await client.query<{ n: string }>('select pg_database_size(current_database()) as n');
      return { rows, bytes: Number(size.rows[0]?.n) };
    });
  }

  check(): Promise<CallCheck> {
    return this.#with(async (client) => {
      const ids = async (sql: string) => (await client.query<{ id: string }>(sql)).rows.map(({ id }) => id);
      const counted = await client.query<{ n: string }>(`${count} calls`);
      return { doubled: await ids(doubled), open: await ids(open), calls: Number(counted.rows[0]?.n) };
    });
  }

  async #with<T>(read: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    try {
      return await read(client);
    } finally {
      await client.end();
    }
  }
}
