/**
 * Loads as stored, and how they go on (contract 6.16):
 *
 *     a run of it ends ──> its level is not over: the next run
 *                     └──> it is, and all runs have ended: the next level, or the end
 *
 * In the transaction of the run's end, so that a crash leaves no load that nobody continues: its runs are taken over, and
 * the load goes on with them.
 */
import type { LoadFigures, LoadLevelView } from '#shared/api/agent-testing/loads.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import {
  type Db,
  fromJson,
  type TestLoadRow,
  type TestRunRecordRow,
  type TestRunRow,
  toJson,
} from '../../db/index.ts';
import { type NewestPage, newestPage } from '../../http/index.ts';
import type { Ending } from '../judging/ports.ts';
import { figuresOf, type LoadedCall } from './load-rules.ts';
import { insertSet } from './set-store.ts';
import type { OwnOfRun, WaitingRun } from './waiting-run.ts';

/** What a run of the load is made of. */
export interface LoadedRun {
  readonly run: WaitingRun;
  readonly scenario: Scenario;
  readonly evaluator: object;
}

type InsertRun = (
  db: Db,
  run: WaitingRun & OwnOfRun,
  record: Pick<TestRunRecordRow, 'scenario' | 'evaluator'>,
) => Promise<void>;

/** Of one load, as of one simulation set. */
export const mostRuns = 1000;
const seeds = 2 ** 31;

/** @throws ApiError TEST_LOAD_NOT_FOUND */
export async function requireLoad(db: Db, orgId: string, id: string): Promise<TestLoadRow> {
  const row = await db
    .selectFrom('test_loads')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!row) throw ApiError.of('TEST_LOAD_NOT_FOUND');
  return row;
}

export async function runningLoad(db: Db, orgId: string): Promise<TestLoadRow | undefined> {
  return db
    .selectFrom('test_loads')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('status', '=', 'RUNNING')
    .executeTakeFirst();
}

export function listLoads(
  db: Db,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<NewestPage<TestLoadRow>> {
  return newestPage(db.selectFrom('test_loads').selectAll().where('org_id', '=', orgId), page);
}

export function levelsOf(load: Pick<TestLoadRow, 'levels'>): LoadLevelView[] {
  return fromJson<LoadLevelView[]>(load.levels);
}

/** The level that is under way begins: its simulation set, and as many runs as calls at once. @param now ISO */
export async function beginLevel(
  db: Db,
  load: TestLoadRow,
  now: string,
  insertRun: InsertRun,
): Promise<TestLoadRow> {
  const levels = levelsOf(load);
  const level = levels[load.level];
  const [first] = plannedOf(load);
  if (!level || !first) throw new Error('a load has no such level');
  const setId = newId();
  const most = load.runs_per_level ?? mostRuns;
  await insertSet(db, {
    id: setId,
    org_id: load.org_id,
    pathway_id: first.run.pathway_id,
    persona_id: first.run.persona_id,
    status: 'PENDING',
    scenario_ids: load.scenario_ids,
    simulations_per_scenario: Math.ceil(most / plannedOf(load).length),
    pass_threshold: 0.5,
    version_number: load.version_number,
    webhook_url: null,
    created_at: now,
    completed_at: null,
    matrix_id: null,
    matrix_place: null,
    matrix_cell: null,
    load_id: load.id,
  });
  levels[load.level] = { ...level, simulation_set_id: setId, began_at: now };
  const begin = Math.min(level.concurrency, most, mostRuns - load.runs);
  for (let index = 0; index < begin; index++) await insertNext(db, load, setId, index, now, insertRun);
  const runs = load.runs + begin;
  await db
    .updateTable('test_loads')
    .set({ levels: toJson(levels), runs })
    .where('id', '=', load.id)
    .execute();
  return { ...load, levels: toJson(levels), runs };
}

/** @param index of the run in its level: the same in each level has the same seed and scenario */
async function insertNext(
  db: Db,
  load: TestLoadRow,
  setId: string,
  index: number,
  now: string,
  insertRun: InsertRun,
): Promise<void> {
  const planned = plannedOf(load);
  const one = planned[index % planned.length];
  if (!one) throw new Error('a load has no scenario');
  const seed = (load.seed + index) % seeds;
  const run = { ...one.run, simulation_set_id: setId, id: newId(), created_at: now, seed };
  await insertRun(db, run, { scenario: toJson(one.scenario), evaluator: toJson(one.evaluator) });
}

function plannedOf({ planned }: TestLoadRow): LoadedRun[] {
  return fromJson<LoadedRun[]>(planned);
}

/** Call it in the transaction in which a run of the set ends. @param now ISO */
export async function loadRunEnded(
  db: Db,
  setId: string,
  status: TestRunRow['status'],
  now: string,
  insertRun: InsertRun,
): Promise<void> {
  const load = await db
    .selectFrom('test_loads')
    .innerJoin('test_simulation_sets', 'test_simulation_sets.load_id', 'test_loads.id')
    .selectAll('test_loads')
    .where('test_simulation_sets.id', '=', setId)
    .executeTakeFirst();
  const level = load && levelsOf(load)[load.level];
  if (!load || level?.simulation_set_id !== setId) return;
  if (load.status === 'RUNNING' && status === 'CANCELLED') {
    const reason = 'A run of it was cancelled, or its scenario was deleted.';
    await endLoad(db, load.id, 'CANCELLED', reason, now);
    load.status = 'CANCELLED';
  }
  const { begun, open } = await countsOf(db, setId);
  if (load.status === 'RUNNING' && wantsMore(load, level, begun, now)) {
    await insertNext(db, load, setId, begun, now, insertRun);
    await db
      .updateTable('test_loads')
      .set({ runs: load.runs + 1 })
      .where('id', '=', load.id)
      .execute();
    return;
  }
  if (open > 0) return;
  const levels = levelsOf(load);
  levels[load.level] = { ...level, ended_at: now, figures: await figuresOfSet(db, setId) };
  const next = load.level + 1;
  const goesOn = load.status === 'RUNNING' && next < levels.length && load.runs < mostRuns;
  await db
    .updateTable('test_loads')
    .set({ levels: toJson(levels), ...(goesOn && { level: next }) })
    .where('id', '=', load.id)
    .execute();
  if (goesOn) {
    await beginLevel(db, { ...load, level: next, levels: toJson(levels) }, now, insertRun);
  } else if (load.status === 'RUNNING') {
    const reason = next < levels.length ? `It reached the limit of ${mostRuns} runs of one load.` : null;
    await endLoad(db, load.id, 'COMPLETED', reason, now);
  }
}

/** Whether the level has another run, now that one has ended. */
function wantsMore(load: TestLoadRow, level: LoadLevelView, begun: number, now: string): boolean {
  if (load.runs >= mostRuns) return false;
  if (load.runs_per_level !== null) return begun < load.runs_per_level;
  const until = Date.parse(level.began_at ?? now) + (load.seconds_per_level ?? 0) * 1000;
  return Date.parse(now) < until;
}

async function countsOf(db: Db, setId: string): Promise<{ begun: number; open: number }> {
  const rows = await db
    .selectFrom('test_runs')
    .select(['status', (eb) => eb.fn.countAll<number>().as('runs')])
    .where('simulation_set_id', '=', setId)
    .groupBy('status')
    .execute();
  const sum = (some: typeof rows) => some.reduce((total, { runs }) => total + Number(runs), 0);
  const open = rows.filter(({ status }) => status === 'PENDING' || status === 'RUNNING');
  return { begun: sum(rows), open: sum(open) };
}

/** Ends a load that is running. @returns whether it was @param now ISO */
export async function endLoad(
  db: Db,
  id: string,
  status: 'COMPLETED' | 'CANCELLED',
  reason: string | null,
  now: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('test_loads')
    .set({ status, reason, completed_at: now })
    .where('id', '=', id)
    .where('status', '=', 'RUNNING')
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Over the runs of a level that have ended. */
export async function figuresOfSet(db: Db, setId: string): Promise<LoadFigures> {
  const runs = await db
    .selectFrom('test_runs')
    .innerJoin('test_run_records', 'test_run_records.run_id', 'test_runs.id')
    .select([
      'test_runs.id',
      'test_runs.status',
      'test_runs.conversation',
      'test_run_records.voice',
      'test_run_records.ending',
      'test_run_records.error_message',
    ])
    .where('test_runs.simulation_set_id', '=', setId)
    .where('test_runs.status', 'in', ['PASSED', 'FAILED', 'ERROR'])
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
    .where('test_runs.simulation_set_id', '=', setId)
    .where('test_assertion_results.passed', '=', 0)
    .execute();
  const byRun = Map.groupBy(unmet, ({ run_id }) => run_id);
  return figuresOf(
    runs.map(({ conversation, ending, error_message, id, status, voice }): LoadedCall => {
      const own = (byRun.get(id) ?? []).map((one) => `${one.type}:${one.name || one.assertion_id}`);
      return {
        status: status as LoadedCall['status'],
        voice: voice === null ? null : fromJson<Voice>(voice),
        answered: ending !== null && fromJson<Ending>(ending).answered === true,
        conversation: conversation ?? id,
        reasons: error_message === null ? own : [error_message],
      };
    }),
  );
}
