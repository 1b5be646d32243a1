/** Starts simulation sets (contract 6.7). */
import type { SimulationStart } from '#shared/api/agent-testing/batches.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Actor } from '../../../audit/index.ts';
import { type TestSimulationSetRow, toJson } from '../../../db/index.ts';
import { isoTime } from '../../../organizations/index.ts';
import { recordTestingChange } from '../../common/audit.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { insertSet } from '../../records/set-store.ts';
import {
  checkCallers,
  checkWebhook,
  insertRuns,
  onlySubject,
  type PlannedRun,
  planRuns,
  startSeed,
  testRunsSubject,
} from '../plan.ts';

const mostRuns = 1000;

/**
 * @throws ApiError SIMULATION_LIMIT, TARGET_NOT_ALLOWED, SCENARIO_NOT_FOUND, VERSION_NOT_FOUND, INVALID_PARAMETER for a
 * pathway or persona other than the scenarios'
 */
export async function startSimulationSet(
  services: TestingDeps,
  orgId: string,
  body: SimulationStart,
  by: Actor,
): Promise<TestSimulationSetRow> {
  const { simulations_per_scenario: each, version_number, webhook_url, pass_threshold = 0.5 } = body;
  const scenarioIds = [...new Set(body.scenario_ids)];
  if (scenarioIds.length * each > mostRuns) {
    const runs = scenarioIds.length * each;
    const message = `A simulation set has at most ${mostRuns} runs, and this one would have ${runs}: lower simulations_per_scenario, or name fewer scenarios.`;
    throw ApiError.of('SIMULATION_LIMIT', { runs, limit: mostRuns }, message);
  }
  checkWebhook(services, webhook_url);
  const set = await services.database.db.transaction().execute(async (db) => {
    const planned = await planRuns(db, orgId, scenarioIds, version_number);
    checkSubject(body, planned);
    await checkCallers(services, db, orgId, planned, body.scenario_ids);
    await services.quotas.waitingRunRoom(db, orgId, planned.length * each);
    const subject = onlySubject(planned);
    const row: TestSimulationSetRow = {
      id: newId(),
      org_id: orgId,
      pathway_id: subject?.kind === 'pathway' ? subject.id : null,
      persona_id: subject?.kind === 'persona' ? subject.id : null,
      status: 'PENDING',
      scenario_ids: toJson(scenarioIds),
      simulations_per_scenario: each,
      pass_threshold,
      version_number: version_number ?? null,
      webhook_url: webhook_url ?? null,
      created_at: isoTime(services.clock),
      completed_at: null,
      matrix_id: null,
      matrix_place: null,
      matrix_cell: null,
      load_id: null,
    };
    await insertSet(db, row);
    const change = { orgId, subject: row.id, action: 'simulation_set_start' as const };
    await recordTestingChange(db, services, by, change);
    const all = planned.flatMap((one) => Array.from({ length: each }, () => one));
    const order = { orgId, triggerSource: 'simulation' as const, simulationSetId: row.id };
    await insertRuns(services, db, order, all, startSeed(body.seed, all.length));
    return row;
  });
  services.announcements.announce(testRunsSubject);
  return set;
}

function checkSubject({ pathway_id, persona_id }: SimulationStart, planned: readonly PlannedRun[]): void {
  const given = { pathway_id, persona_id };
  for (const name of ['pathway_id', 'persona_id'] as const) {
    const id = given[name];
    if (id !== undefined && planned.some(({ scenario }) => scenario[name] !== id)) {
      throw ApiError.invalid(`/${name}`, 'must be that of every scenario');
    }
  }
}
