/** Simulation sets as stored, and their completion (contract 6.7). */
import type { AssertionType } from '#shared/api/agent-testing/assertions.ts';
import type { ScenarioStatistics, SimulationLine } from '#shared/api/agent-testing/batches.ts';
import { ApiError } from '#shared/errors.ts';
import { type Db, fromJson, type TestSimulationSetRow } from '../../db/index.ts';
import { type NewestPage, newestPage } from '../../http/index.ts';
import { queueEvent } from '../../webhooks/index.ts';
import { overallStatistics, type SimulatedRun, scenarioStatistics, setStatus } from './set-rules.ts';

export async function insertSet(db: Db, set: TestSimulationSetRow): Promise<void> {
  await db.insertInto('test_simulation_sets').values(set).execute();
}

/** @throws ApiError SIMULATION_SET_NOT_FOUND */
export async function requireSet(db: Db, orgId: string, id: string): Promise<TestSimulationSetRow> {
  const row = await db
    .selectFrom('test_simulation_sets')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!row) throw ApiError.of('SIMULATION_SET_NOT_FOUND');
  return row;
}

/** The cells of a matrix that are not deleted, in their order. */
export function setsOfMatrix(db: Db, orgId: string, matrixId: string): Promise<TestSimulationSetRow[]> {
  return db
    .selectFrom('test_simulation_sets')
    .selectAll()
    .where('matrix_id', '=', matrixId)
    .where('org_id', '=', orgId)
    .orderBy('matrix_place')
    .execute();
}

/** A matrix without its figures, from the sets of its cells. */
export interface MatrixLine {
  readonly id: string;
  readonly created_at: string;
  readonly sets: readonly Pick<
    TestSimulationSetRow,
    'scenario_ids' | 'simulations_per_scenario' | 'status'
  >[];
}

/** One page of matrices, newest first. @param after the last one of the page before */
export async function listMatrices(
  db: Db,
  orgId: string,
  after: { readonly at: string; readonly id: string } | null,
  limit: number,
): Promise<MatrixLine[]> {
  const cells = db.selectFrom('test_simulation_sets').where('org_id', '=', orgId);
  let page = cells
    .select(['matrix_id', 'created_at'])
    .where('matrix_id', 'is not', null)
    // All cells of a matrix are of one time.
    .groupBy(['created_at', 'matrix_id']);
  if (after)
    page = page
      .where('created_at', '<=', after.at)
      .where((eb) => eb.or([eb('created_at', '<', after.at), eb('matrix_id', '<', after.id)]));
  const found = await page.orderBy('created_at', 'desc').orderBy('matrix_id', 'desc').limit(limit).execute();
  const lines = found.flatMap(({ created_at, matrix_id: id }) => (id === null ? [] : [{ created_at, id }]));
  if (lines.length === 0) return [];
  const sets = await cells
    .select(['matrix_id', 'scenario_ids', 'simulations_per_scenario', 'status'])
    .where(
      'matrix_id',
      'in',
      lines.map(({ id }) => id),
    )
    .execute();
  const byMatrix = Map.groupBy(sets, ({ matrix_id }) => matrix_id);
  return lines.map((line) => ({ ...line, sets: byMatrix.get(line.id) ?? [] }));
}

/** One page, newest first, and the total. */
export function listSets(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<NewestPage<TestSimulationSetRow>> {
  return newestPage(db.selectFrom('test_simulation_sets').selectAll().where('org_id', '=', orgId), page);
}

/** A set without its statistics. */
export function setLine(set: TestSimulationSetRow): SimulationLine {
  const { id, status, simulations_per_scenario, pass_threshold, created_at, completed_at } = set;
  const scenarioIds: string[] = fromJson(set.scenario_ids);
  const total_scenarios = scenarioIds.length;
  return { id, status, simulations_per_scenario, total_scenarios, pass_threshold, created_at, completed_at };
}

/** Ids of the unfinished runs of a set. */
export async function openRunsOf(db: Db, setId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('test_runs')
    .select('id')
    .where('simulation_set_id', '=', setId)
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .execute();
  return rows.map(({ id }) => id);
}

export async function beginSet(db: Db, id: string): Promise<void> {
  await db
    .updateTable('test_simulation_sets')
    .set({ status: 'RUNNING' })
    .where('id', '=', id)
    .where('status', '=', 'PENDING')
    .execute();
}

export async function setView(db: Db, set: TestSimulationSetRow) {
  const { id, status, simulations_per_scenario, pass_threshold, created_at, completed_at } = set;
  const { runs, scenarios } = await statisticsOf(db, set);
  return {
    id,
    status,
    simulations_per_scenario,
    total_scenarios: scenarios.length,
    pass_threshold,
    statistics: {
      per_scenario: Object.fromEntries(scenarios.map((one) => [one.scenario_id, one])),
      overall: overallStatistics(scenarios, runs),
    },
    created_at,
    completed_at,
  };
}

/** Ends a set whose runs have all ended, and queues its event. @param now ISO */
export async function settleSet(db: Db, id: string, now: string): Promise<void> {
  if (await hasOpenRuns(db, id)) return beginSet(db, id);
  const open = await db
    .selectFrom('test_simulation_sets')
    .selectAll()
    .where('id', '=', id)
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .executeTakeFirst();
  if (!open) return;
  const { scenarios } = await statisticsOf(db, open);
  const status = setStatus(scenarios, open.pass_threshold);
  await db
    .updateTable('test_simulation_sets')
    .set({ status, completed_at: now })
    .where('id', '=', id)
    .execute();
  await queueEvent(
    db,
    { now: () => Date.parse(now) },
    {
      orgId: open.org_id,
      type: 'simulation_set.completed',
      url: open.webhook_url,
      subjectId: id,
      data: await setView(db, { ...open, status, completed_at: now }),
    },
  );
}

async function hasOpenRuns(db: Db, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('test_runs')
    .select('id')
    .where('simulation_set_id', '=', id)
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** In the order of the request, over the ended runs. Deleted scenarios keep their names. */
async function statisticsOf(
  db: Db,
  set: TestSimulationSetRow,
): Promise<{ scenarios: ScenarioStatistics[]; runs: SimulatedRun[] }> {
  const ids: string[] = fromJson(set.scenario_ids);
  const rows = await db.selectFrom('test_scenarios').select(['id', 'name']).where('id', 'in', ids).execute();
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  const runs = await simulatedRuns(db, set.id);
  return {
    scenarios: ids.map((id) => scenarioStatistics({ id, name: names.get(id) ?? id }, runs.get(id) ?? [])),
    runs: [...runs.values()].flat(),
  };
}

/** By scenario, oldest first. */
async function simulatedRuns(db: Db, id: string): Promise<Map<string, SimulatedRun[]>> {
  const runs = await db
    .selectFrom('test_runs')
    .select(['id', 'scenario_id', 'status', 'overall_score', 'conversation', 'usage'])
    .where('simulation_set_id', '=', id)
    .where('status', 'not in', ['PENDING', 'RUNNING'])
    .orderBy('created_at')
    .orderBy('seed')
    .orderBy('id')
    .execute();
  const unmet = await db
    .selectFrom('test_assertion_results')
    .innerJoin('test_runs', 'test_runs.id', 'test_assertion_results.run_id')
    .select([
      'test_assertion_results.run_id',
      'test_assertion_results.type',
      'test_assertion_results.name',
      'test_assertion_results.assertion_id',
    ])
    .where('test_runs.simulation_set_id', '=', id)
    .where('test_runs.status', '=', 'FAILED')
    .where('test_assertion_results.passed', '=', 0)
    .execute();
  const byRun = Map.groupBy(unmet, ({ run_id }) => run_id);
  const byScenario = Map.groupBy(runs, ({ scenario_id }) => scenario_id);
  return new Map(
    [...byScenario].map(([scenarioId, own]) => [
      scenarioId,
      own.map((run) => ({
        id: run.id,
        status: run.status,
        score: run.overall_score,
        conversation: run.conversation,
        usage: run.usage === null ? null : fromJson(run.usage),
        results: (byRun.get(run.id) ?? []).map(({ type, name, assertion_id }) => ({
          type: type as AssertionType,
          name,
          assertion_id,
          passed: false,
        })),
      })),
    ]),
  );
}
