/** Scenarios and their assertions as stored. */
import { sql } from 'kysely';
import { ApiError } from '#shared/errors.ts';
import type { Db, TestAssertionRow, TestScenarioRow } from '../../db/index.ts';
import { findPathway } from '../../pathways/index.ts';
import { requireForeignAgent } from '../foreign/store.ts';
import { cancelWaitingRuns } from '../records/write.ts';
import type { AnySubject, Subject } from './rules.ts';

/** @throws ApiError PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND, TEST_AGENT_NOT_FOUND */
export async function requireSubject(db: Db, orgId: string, { kind, id }: AnySubject): Promise<void> {
  if (kind === 'agent') {
    await requireForeignAgent(db, orgId, id);
    return;
  }
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

/** In order. */
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
  readonly agent_id?: string;
  readonly category?: string;
  readonly enabled?: boolean;
}

/** A scenario of a list. */
export interface ListedScenarioRow {
  readonly row: TestScenarioRow;
  readonly assertions: readonly TestAssertionRow[];
  readonly recent: {
    readonly id: string;
    readonly status: string;
    readonly overall_score: number | null;
    readonly completed_at: string | null;
  } | null;
  /** Members above the size limit; they are empty here. */
  readonly cut: readonly string[];
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
  if (filter.agent_id !== undefined) query = query.where('test_scenarios.agent_id', '=', filter.agent_id);
  if (filter.category !== undefined) query = query.where('test_scenarios.category', '=', filter.category);
  if (filter.enabled !== undefined)
    query = query.where('test_scenarios.enabled', '=', filter.enabled ? 1 : 0);
  return query;
}

/** The ids of one page, newest first, and the total. */
export async function pageOfScenarios(
  db: Db,
  orgId: string,
  filter: ScenarioFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ ids: string[]; total: number }> {
  const all = filtered(db, orgId, filter);
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all
    .select('test_scenarios.id')
    .orderBy('test_scenarios.created_at', 'desc')
    .orderBy('test_scenarios.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { ids: rows.map(({ id }) => id), total };
}

/** Columns that may be large. */
const largeColumns = [
  'request_data',
  'input_messages',
  'metadata',
  'tester_persona_prompt',
  'advanced_instructions',
] as const;

/** One scenario of a list with its assertions and newest run, without members of more than `most` bytes. */
export async function listedScenario(
  db: Db,
  orgId: string,
  id: string,
  most: number,
): Promise<ListedScenarioRow | undefined> {
  // octet_length reads the length that SQLite stores, not the text.
  const large = await db
    .selectFrom('test_scenarios')
    .select(largeColumns.map((column) => sql<0 | 1>`octet_length(${sql.ref(column)}) > ${most}`.as(column)))
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!large) return undefined;
  const cut: string[] = largeColumns.filter((column) => large[column]);
  const kept = largeColumns.filter((column) => !cut.includes(column));
  const row = await db
    .selectFrom('test_scenarios')
    .select([
      'id',
      'org_id',
      'pathway_id',
      'persona_id',
      'agent_id',
      'name',
      'description',
      'category',
      'scenario_type',
    ])
    .select(['tester_persona_name', 'max_turns', 'start_node_id', 'service_tone_enabled'])
    .select([
      'is_required_for_promotion',
      'promotion_repeats',
      'enabled',
      'created_at',
      'updated_at',
      'deleted_at',
    ])
    .select(kept)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const { bytes } = await db
    .selectFrom('test_assertions')
    .select(sql<number>`coalesce(sum(octet_length(config)), 0)`.as('bytes'))
    .where('scenario_id', '=', id)
    .executeTakeFirstOrThrow();
  if (bytes > most) cut.push('assertions');
  const recent = await db
    .selectFrom('test_runs')
    .select(['id', 'status', 'overall_score', 'completed_at'])
    .where('org_id', '=', orgId)
    .where('scenario_id', '=', id)
    .where('as_is', '=', 1)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return {
    row: { ...emptyColumns, ...row },
    assertions: bytes > most ? [] : await listAssertions(db, id),
    recent: recent ?? null,
    cut,
  };
}

const emptyColumns = {
  request_data: null,
  input_messages: null,
  metadata: null,
  tester_persona_prompt: null,
  advanced_instructions: null,
} as const;

/** Names of a subject's scenarios. */
export async function takenNames(db: Db, { kind, id }: AnySubject): Promise<Set<string>> {
  const rows = await db
    .selectFrom('test_scenarios')
    .select('name')
    .where(`${kind}_id`, '=', id)
    .where('deleted_at', 'is', null)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

/** @throws ApiError SCENARIO_NAME_TAKEN. Call it in the transaction that writes. */
export async function requireFreeName(
  db: Db,
  row: Pick<TestScenarioRow, 'id' | 'pathway_id' | 'persona_id' | 'agent_id' | 'name'>,
): Promise<void> {
  const column = (['pathway_id', 'persona_id'] as const).find((name) => row[name] !== null) ?? 'agent_id';
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

/**
 * Its runs stay, with the scenario as of their start, so only the name is kept in the row. Waiting runs are canceled.
 * Returns the canceled ones.
 */
export async function deleteScenario(db: Db, id: string, now: string): Promise<string[]> {
  await db
    .updateTable('test_scenarios')
    .set({ ...emptyColumns, deleted_at: now })
    .where('id', '=', id)
    .execute();
  await db.deleteFrom('test_assertions').where('scenario_id', '=', id).execute();
  return cancelWaitingRuns(db, [id], now);
}

/**
 * Deletes the scenarios of a deleted pathway or persona (contract 11.3), and their analytics.
 * @returns the waiting runs that this canceled
 */
export async function dropScenarios(db: Db, { kind, id }: Subject, now: string): Promise<string[]> {
  const gone = await db
    .updateTable('test_scenarios')
    .set({ ...emptyColumns, deleted_at: now })
    .where(kind === 'pathway' ? 'pathway_id' : 'persona_id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  for (const row of gone) await db.deleteFrom('test_assertions').where('scenario_id', '=', row.id).execute();
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
