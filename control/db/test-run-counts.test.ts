import SqliteFile from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrations } from './migrations/index.ts';
import { migrate } from './open.ts';

let file: SqliteFile.Database;
let db: Kysely<unknown>;
beforeEach(() => {
  file = new SqliteFile(':memory:');
  db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
});
afterEach(() => db.destroy());

function addRun(id: string, scenario: string, pathway: string | null, status: string): void {
  file
    .prepare(
      `insert into test_runs (id, org_id, scenario_id, pathway_id, status, trigger_source, content_hash, transport,
       created_at, path_id, failed_node_id, version_number, seed, attempts, turn_count)
       values (?, 'org', ?, ?, ?, 'api', '', 'text', '2030', '', '', 0, 1, 1, 0)`,
    )
    .run(id, scenario, pathway, status);
}

const counts = () =>
  file
    .prepare('select scenario_id, pathway_id, status, runs from test_run_counts order by 1, 2, 3')
    .raw()
    .all();

it('counts runs from before the counters', async () => {
  const earlier = Object.entries(migrations).filter(([name]) => name < '0023');
  await migrate(db, Object.fromEntries(earlier));
  for (const id of ['a', 'b']) addRun(id, 'one', 'pathway', 'PASSED');
  addRun('c', 'two', null, 'FAILED');
  await migrate(db, migrations);
  expect(counts()).toEqual([
    ['one', 'pathway', 'PASSED', 2],
    ['two', '', 'FAILED', 1],
  ]);
});

it('counts runs as they are created, change and are deleted, and keeps nothing of deleted ones', async () => {
  await migrate(db, migrations);
  addRun('a', 'one', 'pathway', 'PENDING');
  addRun('b', 'one', 'pathway', 'PENDING');
  file.exec(`update test_runs set status = 'RUNNING' where id = 'a'`);
  expect(counts()).toEqual([
    ['one', 'pathway', 'PENDING', 1],
    ['one', 'pathway', 'RUNNING', 1],
  ]);
  file.exec(`update test_runs set status = 'PASSED', turn_count = 3`);
  expect(counts()).toEqual([['one', 'pathway', 'PASSED', 2]]);
  file.exec(`delete from test_runs where id = 'a'`);
  expect(counts()).toEqual([['one', 'pathway', 'PASSED', 1]]);
  file.exec('delete from test_runs');
  expect(counts()).toEqual([]);
});
