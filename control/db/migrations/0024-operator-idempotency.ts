/** Idempotency-Keys for operators: what is kept under one belongs to an organization or to an operator's key. */
import { type Kysely, sql } from 'kysely';

/** SQLite cannot drop a foreign key from a table, so each table is rebuilt with its rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withoutReference(db, 'idempotent_answers', [
    ['body_hash', 'text'],
    ['status', 'integer'],
    ['content_type', 'text'],
    ['answer', 'text'],
    ['created_at', 'text'],
  ]);
  await withoutReference(db, 'idempotent_work', [
    ['body_hash', 'text'],
    ['work_id', 'text'],
    ['instance', 'text'],
    ['created_at', 'text'],
  ]);
}

async function withoutReference(
  db: Kysely<unknown>,
  name: string,
  columns: readonly (readonly [name: string, type: 'text' | 'integer'])[],
): Promise<void> {
  let table = db.schema
    .createTable(`${name}_new`)
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${name}_place`, ['org_id', 'path', 'key']);
  for (const [column, type] of columns) table = table.addColumn(column, type, (one) => one.notNull());
  await table.execute();
  const all = sql.join(
    ['org_id', 'path', 'key', ...columns.map(([column]) => column)].map((column) => sql.ref(column)),
  );
  await sql`insert into ${sql.table(`${name}_new`)} (${all}) select ${all} from ${sql.table(name)}`.execute(
    db,
  );
  await db.schema.dropTable(name).execute();
  await db.schema.alterTable(`${name}_new`).renameTo(name).execute();
  await db.schema.createIndex(`${name}_created`).on(name).column('created_at').execute();
}
