/** Scenarios and their assertions as stored. */
import { ApiError } from '#shared/errors.ts';
import type { Db, TestAssertionRow, TestScenarioRow } from '../db/tables.ts';
import { findPathway } from '../pathways/store.ts';
import type { Subject } from './rules.ts';
import { cancelWaitingRuns } from './runs-store.ts';

/** @throws ApiError PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND */
export async function requireSubject(db: Db, orgId: string, { kind, id }: Subject): Promise<void> {
  if (kind === 'pathway') {
    if (!(await findPathway(db, orgId, id))) throw ApiError.of('PATHWAY_NOT_FOUND');
    return;
  }
  const persona = await db
    .selectFrom('personas')
    .select('id')
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!persona) throw ApiError.of('PERSONA_NOT_FOUND');
}

export function findScenario(db: Db, orgId: string, id: string): Promise<TestScenarioRow | undefined> {
  return db
    .selectFrom('test_scenarios')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** @throws ApiError SCENARIO_NOT_FOUND */
export async function requireScenario(db: Db, orgId: string, id: string): Promise<TestScenarioRow> {
  const row = await findScenario(db, orgId, id);
  if (!row) throw ApiError.of('SCENARIO_NOT_FOUND');
  return row;
}

/** In their order. */
export function listAssertions(db: Db, scenarioId: string): Promise<TestAssertionRow[]> {
  return db
    .selectFrom('test_assertions')
    .selectAll()
    .where('scenario_id', '=', scenarioId)
    .orderBy('position')
    .orderBy('place')
    .execute();
}

export interface ScenarioFilter {
  readonly pathway_id?: string;
  readonly persona_id?: string;
  readonly category?: string;
  readonly enabled?: boolean;
}

interface Listed {
  readonly row: TestScenarioRow;
  readonly assertions: readonly TestAssertionRow[];
  readonly recent: {
    readonly id: string;
    readonly status: string;
    readonly overall_score: number | null;
    readonly completed_at: string | null;
  } | null;
}

function filtered(db: Db, orgId: string, filter: ScenarioFilter) {
  let query = db
    .selectFrom('test_scenarios')
    .where('test_scenarios.org_id', '=', orgId)
    .where('test_scenarios.deleted_at', 'is', null);
  if (filter.pathway_id !== undefined)
    query = query.where('test_scenarios.pathway_id', '=', filter.pathway_id);
  if (filter.persona_id !== undefined)
    query = query.where('test_scenarios.persona_id', '=', filter.persona_id);
  if (filter.category !== undefined) query = query.where('test_scenarios.category', '=', filter.category);
  if (filter.enabled !== undefined)
    query = query.where('test_scenarios.enabled', '=', filter.enabled ? 1 : 0);
  return query;
}

/** Newest first, each with its assertions and newest run: two queries, however many there are. */
export async function listScenarios(db: Db, orgId: string, filter: ScenarioFilter): Promise<Listed[]> {
  const rows = await filtered(db, orgId, filter)
    .selectAll('test_scenarios')
    .leftJoin('test_runs as recent', (join) =>
      join.on((eb) =>
        eb(
          'recent.id',
          '=',
          eb
            .selectFrom('test_runs as run')
            .select('run.id')
            .whereRef('run.org_id', '=', 'test_scenarios.org_id')
            .whereRef('run.scenario_id', '=', 'test_scenarios.id')
            .orderBy('run.created_at', 'desc')
            .orderBy('run.id', 'desc')
            .limit(1),
        ),
      ),
    )
    .select([
      'recent.id as run_id',
      'recent.status as run_status',
      'recent.overall_score as run_score',
      'recent.completed_at as run_completed_at',
    ])
    .orderBy('test_scenarios.created_at', 'desc')
    .orderBy('test_scenarios.id', 'desc')
    .execute();
  const assertions = await db
    .selectFrom('test_assertions')
    .selectAll()
    .where('scenario_id', 'in', filtered(db, orgId, filter).select('test_scenarios.id'))
    .orderBy('scenario_id')
    .orderBy('position')
    .orderBy('place')
    .execute();
  const of = Map.groupBy(assertions, ({ scenario_id }) => scenario_id);
  return rows.map(({ run_id, run_status, run_score, run_completed_at, ...row }) => ({
    row,
    assertions: of.get(row.id) ?? [],
    recent:
      run_id === null || run_status === null
        ? null
        : { id: run_id, status: run_status, overall_score: run_score, completed_at: run_completed_at },
  }));
}

/** Names of a subject's scenarios. */
export async function takenNames(db: Db, { kind, id }: Subject): Promise<Set<string>> {
  const rows = await db
    .selectFrom('test_scenarios')
    .select('name')
    .where(kind === 'pathway' ? 'pathway_id' : 'persona_id', '=', id)
    .where('deleted_at', 'is', null)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

/** @throws ApiError SCENARIO_NAME_TAKEN. Call it in the transaction that writes. */
export async function requireFreeName(
  db: Db,
  row: Pick<TestScenarioRow, 'id' | 'pathway_id' | 'persona_id' | 'name'>,
): Promise<void> {
  const column = row.pathway_id === null ? 'persona_id' : 'pathway_id';
  const other = await db
    .selectFrom('test_scenarios')
    .select('id')
    .where(column, '=', row[column])
    .where('name', '=', row.name)
    .where('deleted_at', 'is', null)
    .where('id', '!=', row.id)
    .executeTakeFirst();
  if (other) throw ApiError.of('SCENARIO_NAME_TAKEN', { name: row.name });
}

export async function insertScenario(
  db: Db,
  row: TestScenarioRow,
  assertions: readonly TestAssertionRow[],
): Promise<void> {
  await db.insertInto('test_scenarios').values(row).execute();
  await insertAssertions(db, assertions);
}

export async function updateScenario(
  db: Db,
  id: string,
  change: Partial<TestScenarioRow> & Pick<TestScenarioRow, 'updated_at'>,
): Promise<void> {
  await db.updateTable('test_scenarios').set(change).where('id', '=', id).execute();
}

export async function replaceAssertions(
  db: Db,
  scenarioId: string,
  assertions: readonly TestAssertionRow[],
): Promise<void> {
  await db.deleteFrom('test_assertions').where('scenario_id', '=', scenarioId).execute();
  await insertAssertions(db, assertions);
}

async function insertAssertions(db: Db, assertions: readonly TestAssertionRow[]): Promise<void> {
  if (assertions.length > 0)
    await db
      .insertInto('test_assertions')
      .values([...assertions])
      .execute();
}

/** Its runs stay; those that wait are cancelled. Returns the cancelled ones. */
export async function deleteScenario(db: Db, id: string, now: string): Promise<string[]> {
  await db.updateTable('test_scenarios').set({ deleted_at: now }).where('id', '=', id).execute();
  return cancelWaitingRuns(db, [id], now);
}

/**
 * Deletes the scenarios of a pathway or persona that goes (contract 11.3), and what analytics keep of it.
 * @returns the waiting runs that this cancelled
 */
export async function dropScenarios(db: Db, { kind, id }: Subject, now: string): Promise<string[]> {
  const gone = await db
    .updateTable('test_scenarios')
    .set({ deleted_at: now })
    .where(kind === 'pathway' ? 'pathway_id' : 'persona_id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  const cancelled = await cancelWaitingRuns(
    db,
    gone.map((row) => row.id),
    now,
  );
  if (kind === 'persona') return cancelled;
  await db.deleteFrom('test_run_days').where('pathway_id', '=', id).execute();
  await db.deleteFrom('test_run_periods').where('pathway_id', '=', id).execute();
  await db.deleteFrom('test_paths').where('pathway_id', '=', id).execute();
  return cancelled;
}
