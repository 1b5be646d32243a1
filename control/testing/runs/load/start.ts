/** Starts a load: scenarios as calls at once, level by level (contract 6.16). */
import { type LoadLevelView, type LoadStart, mostLevels } from '#shared/api/agent-testing/loads.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Actor } from '../../../audit/index.ts';
import { type Db, type TestLoadRow, toJson } from '../../../db/index.ts';
import { isoTime } from '../../../organizations/index.ts';
import { recordTestingChange } from '../../common/audit.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { mostAtOnce } from '../../foreign/called.ts';
import { isSpoken, settingsOf } from '../../foreign/rules.ts';
import { requireForeignAgent } from '../../foreign/store.ts';
import { beginLevel, type LoadedRun, levelsOf, mostRuns, runningLoad } from '../../records/load-store.ts';
import { insertRun } from '../../records/write.ts';
import { requireScenario } from '../../scenarios/store.ts';
import { evaluatorsOf } from '../evaluators.ts';
import { checkedNumber } from '../over-a-call.ts';
import { onlySubject, planRuns, startSeed, testRunsSubject, waitingRun } from '../plan.ts';

const usualRuns = 20;
/** Of one organization; older ones that have ended are deleted when another one begins. */
const mostKept = 200;

/**
 * @throws ApiError SIMULATION_LIMIT, INVALID_PARAMETER, SCENARIO_NOT_FOUND, VERSION_NOT_FOUND, NUMBER_NOT_TESTABLE,
 * TEST_AGENT_NOT_PROVEN, TEST_LOAD_ACTIVE, QUOTA_EXCEEDED
 */
export async function startLoad(services: TestingDeps, orgId: string, body: LoadStart, by: Actor) {
  const { phone_number, seconds_per_level = null, version_number } = body;
  const scenarioIds = [...new Set(body.scenario_ids)];
  const concurrencies = levelsFrom(body);
  const most = Math.min(services.config.quotas.runsAtOnce, services.limits.testing.concurrent);
  const highest = Math.max(...concurrencies);
  const path = body.ramp ? '/ramp/to' : '/concurrency';
  if (highest > most)
    throw ApiError.invalid(path, `must be at most ${most}, the runs of an organization at a time`);
  await checkTurns(services, orgId, scenarioIds, highest, path);
  const each = seconds_per_level === null ? (body.runs_per_level ?? usualRuns) : null;
  const runs = concurrencies.length * (each ?? 0);
  if (runs > mostRuns) {
    const message = `A load has at most ${mostRuns} runs, and this one would have ${runs}: lower runs_per_level, or take fewer levels.`;
    throw ApiError.of('SIMULATION_LIMIT', { runs, limit: mostRuns }, message);
  }
  let number: string | null = null;
  for (const id of scenarioIds) {
    const asked = {
      transport: body.transport ?? ((await isChat(services, orgId, id)) ? 'text' : 'sip'),
      ...(phone_number !== undefined && { phone_number }),
      ...(version_number !== undefined && { version_number }),
    };
    const named = `/scenario_ids/${body.scenario_ids.indexOf(id)}`;
    number = await checkedNumber(services, orgId, id, asked, { path: named });
  }
  const created_at = isoTime(services.clock);
  const load = await services.database.db.transaction().execute(async (db) => {
    const active = await runningLoad(db, orgId);
    if (active) throw ApiError.of('TEST_LOAD_ACTIVE', { load_id: active.id });
    const planned = await planRuns(db, orgId, scenarioIds, version_number);
    if (!onlySubject(planned))
      throw ApiError.invalid('/scenario_ids', 'must be of one pathway, persona or agent');
    await services.quotas.waitingRunRoom(db, orgId, highest);
    const order = { orgId, triggerSource: 'load' as const, phoneNumber: number };
    const loaded = planned.map(
      (one): LoadedRun => ({
        // Many calls at once say how the service bears them.
        run: waitingRun(order, { ...one, asIs: false }),
        scenario: one.scenario,
        evaluator: evaluatorsOf(services.models, one.scenario),
      }),
    );
    const row: TestLoadRow = {
      id: newId(),
      org_id: orgId,
      status: 'RUNNING',
      reason: null,
      scenario_ids: toJson(scenarioIds),
      version_number: version_number ?? null,
      phone_number: number,
      runs_per_level: each,
      seconds_per_level,
      seed: startSeed(body.seed, mostRuns),
      runs: 0,
      level: 0,
      levels: toJson(concurrencies.map(waitingLevel)),
      planned: toJson(loaded),
      created_at,
      completed_at: null,
    };
    await db.insertInto('test_loads').values(row).execute();
    const begun = await beginLevel(db, row, created_at, insertRun);
    await forgetOld(db, orgId);
    await recordTestingChange(db, services, by, { orgId, subject: row.id, action: 'load_start' });
    return begun;
  });
  services.announcements.announce(testRunsSubject);
  return {
    load_id: load.id,
    status: 'RUNNING' as const,
    levels: levelsOf(load).map(({ concurrency }) => concurrency),
    created_at,
  };
}

/** Whether an agent of others is tested that is reached in text only. */
async function isChat(
  { database: { db } }: TestingDeps,
  orgId: string,
  scenarioId: string,
): Promise<boolean> {
  const { agent_id } = await requireScenario(db, orgId, scenarioId);
  return agent_id !== null && !isSpoken(settingsOf(await requireForeignAgent(db, orgId, agent_id)));
}

/**
 * Runs that wait longer for their turn than a run may take would look as if the agent had not answered.
 * @throws ApiError INVALID_PARAMETER
 */
async function checkTurns(
  { database: { db }, limits }: TestingDeps,
  orgId: string,
  scenarioIds: readonly string[],
  highest: number,
  path: string,
): Promise<void> {
  for (const id of scenarioIds) {
    const { agent_id } = await requireScenario(db, orgId, id);
    if (agent_id === null) continue;
    const settings = settingsOf(await requireForeignAgent(db, orgId, agent_id));
    const most = mostAtOnce(settings, limits.testing.timeoutMs);
    if (most !== null && highest > most)
      throw ApiError.invalid(
        path,
        `must be at most ${most}: with ${settings.calls_per_minute} calls_per_minute of the agent, others would wait too long for their turn`,
      );
  }
}

function waitingLevel(concurrency: number): LoadLevelView {
  return { concurrency, simulation_set_id: null, began_at: null, ended_at: null, figures: null };
}

/** @throws ApiError INVALID_PARAMETER, SIMULATION_LIMIT */
function levelsFrom(body: Pick<LoadStart, 'concurrency' | 'ramp' | 'runs_per_level' | 'seconds_per_level'>) {
  const { concurrency, ramp, runs_per_level, seconds_per_level } = body;
  if (runs_per_level !== undefined && seconds_per_level !== undefined)
    throw ApiError.invalid('/seconds_per_level', 'must not be given with runs_per_level');
  if ((concurrency === undefined) === (ramp === undefined))
    throw ApiError.invalid('/concurrency', 'is required, or ramp in its place');
  if (concurrency !== undefined) return [concurrency];
  const { from, step, to } = ramp ?? { from: 1, step: 1, to: 1 };
  if (from > to) throw ApiError.invalid('/ramp/to', 'must not be below from');
  const levels = Math.floor((to - from) / step) + 1;
  if (levels > mostLevels) throw ApiError.invalid('/ramp', `must have at most ${mostLevels} levels`);
  return Array.from({ length: levels }, (_, place) => from + place * step);
}

/** Their runs stay, as simulation sets. */
async function forgetOld(db: Db, orgId: string): Promise<void> {
  const old = await db
    .selectFrom('test_loads')
    .select('id')
    .where('org_id', '=', orgId)
    .where('status', '<>', 'RUNNING')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .offset(mostKept)
    .execute();
  if (old.length === 0) return;
  const ids = old.map(({ id }) => id);
  await db.deleteFrom('test_loads').where('id', 'in', ids).execute();
}
