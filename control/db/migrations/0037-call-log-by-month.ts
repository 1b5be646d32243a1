/**
 * On PostgreSQL the call log is in partitions (postgres/partitions.ts); here all rows go to the `_undated` ones. SQLite has no
 * partitions.
 */
import { type Kysely, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  if (dialectOf(db) !== 'postgres') return;
  await partition(db, 'calls', 'id', 'id');
  for (const table of ['transcript_parts', 'trace_parts']) {
    await sql`drop index ${sql.ref(`${table}_of_call`)}`.execute(db);
    await sql`drop index ${sql.ref(`${table}_by_age`)}`.execute(db);
    await partition(db, table, 'call_id', 'call_id, id');
    // Copies read the rows in the order of their ids.
    await sql`create index ${sql.ref(`${table}_by_id`)} on ${sql.table(table)} (id)`.execute(db);
    // For retention, which drops all other partitions as a whole.
    await sql`create index ${sql.ref(`${table}_undated_by_age`)}
      on ${sql.table(`${table}_undated`)} (received_at)`.execute(db);
  }
}

/** @param by column of the partitions @param key columns of the new primary key, which must contain it */
async function partition(db: Kysely<unknown>, table: string, by: string, key: string): Promise<void> {
  const former = `${table}_unpartitioned`;
  const { rows: indexes } = await sql<{ name: string; text: string }>`
    select indexname as name, indexdef as text from pg_indexes
    where schemaname = current_schema() and tablename = ${table} and indexname <> ${`${table}_pkey`}`.execute(
    db,
  );
  const { rows: identities } = await sql<{ last: number }>`
    select coalesce(last_value, 0) as last from pg_sequences
    where schemaname = current_schema() and sequencename = ${`${table}_id_seq`}`.execute(db);
  await sql`alter table ${sql.table(table)} rename to ${sql.ref(former)}`.execute(db);
  await sql`alter table ${sql.table(former)} drop constraint ${sql.ref(`${table}_pkey`)}`.execute(db);
  for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(db);
  await sql`create table ${sql.table(table)} (like ${sql.table(former)} including defaults,
    primary key (${sql.raw(key)})) partition by range (${sql.ref(by)})`.execute(db);
  await sql`create table ${sql.table(`${table}_undated`)} partition of ${sql.table(table)} default`.execute(
    db,
  );
  await sql`insert into ${sql.table(table)} select * from ${sql.table(former)}`.execute(db);
  await sql`drop table ${sql.table(former)}`.execute(db);
  for (const { text } of indexes) await sql.raw(text).execute(db);
  const [identity] = identities;
  if (!identity) return;
  // Before version 17, PostgreSQL has no identity columns in partitioned tables.
  const sequence = sql.ref(`${table}_id_seq`);
  await sql`create sequence ${sequence} owned by ${sql.table(table)}.id`.execute(db);
  await sql`alter table ${sql.table(table)} alter id set default nextval(${sql.lit(`${table}_id_seq`)})`.execute(
    db,
  );
  if (identity.last > 0) await sql`select setval(${`${table}_id_seq`}, ${identity.last})`.execute(db);
}
