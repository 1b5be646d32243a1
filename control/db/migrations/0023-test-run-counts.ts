import { type Kysely, type RawBuilder, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';
import { withoutRowid } from './dialects.ts';

/**
 * For lists of very many test runs: indexes for a status together with their owner, and counts per kind, because a list
 * includes its total (contract 6.4) and counting hundreds of thousands takes longer than reading a page. Triggers keep
 * the counts, so that no write is missed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const whose of ['scenario_id', 'pathway_id', 'persona_id']) {
    await db.schema
      .createIndex(`test_runs_by_${whose}_status`)
      .on('test_runs')
      .columns(['org_id', whose, 'status', 'created_at', 'id'])
      .execute();
  }
  await countRuns(db);
}

async function countRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('test_run_counts')
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('scenario_id', 'text', (column) => column.notNull())
    .addColumn('pathway_id', 'text', (column) => column.notNull())
    .addColumn('persona_id', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('runs', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('test_run_counts_key', [
      'org_id',
      'scenario_id',
      'pathway_id',
      'persona_id',
      'status',
    ])
    .$call(withoutRowid(db))
    .execute();
  await sql`insert into test_run_counts
    select org_id, scenario_id, coalesce(pathway_id, ''), coalesce(persona_id, ''), status, count(*)
    from test_runs group by 1, 2, 3, 4, 5`.execute(db);
  await (dialectOf(db) === 'sqlite' ? countBySqlite(db) : countByPostgres(db));
}

async function countBySqlite(db: Kysely<unknown>): Promise<void> {
  const added = sql`insert into test_run_counts values (new.org_id, new.scenario_id,
    coalesce(new.pathway_id, ''), coalesce(new.persona_id, ''), new.status, 1)
    on conflict do update set runs = runs + 1;`;
  const of = sql`org_id = old.org_id and scenario_id = old.scenario_id
    and pathway_id = coalesce(old.pathway_id, '') and persona_id = coalesce(old.persona_id, '')
    and status = old.status`;
  const removed = sql`update test_run_counts set runs = runs - 1 where ${of};
    delete from test_run_counts where ${of} and runs = 0;`;
  await sql`create trigger test_runs_counted_insert after insert on test_runs begin ${added} end`.execute(db);
  await sql`create trigger test_runs_counted_delete after delete on test_runs begin ${removed} end`.execute(
    db,
  );
  await sql`create trigger test_runs_counted_update
    after update of org_id, scenario_id, pathway_id, persona_id, status on test_runs
    begin ${removed} ${added} end`.execute(db);
}

async function countByPostgres(db: Kysely<unknown>): Promise<void> {
  const added = sql`insert into test_run_counts values (new.org_id, new.scenario_id,
    coalesce(new.pathway_id, ''), coalesce(new.persona_id, ''), new.status, 1)
    on conflict on constraint test_run_counts_key do update set runs = test_run_counts.runs + 1;`;
  const of = sql`org_id = old.org_id and scenario_id = old.scenario_id
    and pathway_id = coalesce(old.pathway_id, '') and persona_id = coalesce(old.persona_id, '')
    and status = old.status`;
  const removed = sql`update test_run_counts set runs = runs - 1 where ${of};
    delete from test_run_counts where ${of} and runs = 0;`;
  const counting = (name: string, steps: RawBuilder<unknown>) =>
    sql`create function ${sql.ref(name)}() returns trigger language plpgsql as $$
      begin ${steps} return null; end $$`.execute(db);
  await counting('count_added_test_run', added);
  await counting('count_removed_test_run', removed);
  await counting('count_changed_test_run', sql`${removed} ${added}`);
  await sql`create trigger test_runs_counted_insert after insert on test_runs
    for each row execute function count_added_test_run()`.execute(db);
  await sql`create trigger test_runs_counted_delete after delete on test_runs
    for each row execute function count_removed_test_run()`.execute(db);
  await sql`create trigger test_runs_counted_update
    after update of org_id, scenario_id, pathway_id, persona_id, status on test_runs
    for each row execute function count_changed_test_run()`.execute(db);
}
