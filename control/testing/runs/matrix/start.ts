/** Starts a matrix: each cell is a simulation set of one scenario (contract 6.15). */
import type { MatrixStart } from '#shared/api/agent-testing/matrices.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Actor } from '../../../audit/index.ts';
import { toJson } from '../../../db/index.ts';
import { isoTime } from '../../../organizations/index.ts';
import { recordTestingChange } from '../../common/audit.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { isSpoken, settingsOf } from '../../foreign/rules.ts';
import { requireForeignAgent } from '../../foreign/store.ts';
import { checkVoice, checkWeather } from '../../noises/caller-check.ts';
import { insertSet } from '../../records/set-store.ts';
import { requireScenario } from '../../scenarios/store.ts';
import { checkedNumber } from '../over-a-call.ts';
import {
  insertRuns,
  onlySubject,
  type PlannedRun,
  planRuns,
  startSeed,
  testRunsSubject,
  withCaller,
} from '../plan.ts';
import { cellsOf } from './rules.ts';

/** Of one matrix, as of one simulation set. */
const mostRuns = 1000;
const mostCells = 100;
const usualRepeats = 10;

/**
 * @throws ApiError SIMULATION_LIMIT, INVALID_PARAMETER, SCENARIO_NOT_FOUND, VERSION_NOT_FOUND, NUMBER_NOT_TESTABLE,
 * QUOTA_EXCEEDED
 */
export async function startMatrix(services: TestingDeps, orgId: string, body: MatrixStart, by: Actor) {
  const {
    phone_number,
    repeats = usualRepeats,
    scenario_id: scenarioId,
    seed,
    transport,
    voices,
    weathers,
  } = body;
  const { agent_id: agentId } = await requireScenario(services.database.db, orgId, scenarioId);
  const others = agentId === null ? null : await requireForeignAgent(services.database.db, orgId, agentId);
  checkAxes(body, transport === 'sip' || (others !== null && isSpoken(settingsOf(others))));
  const versions = body.versions ?? [null];
  const cells = cellsOf(versions, voices ?? [null], weathers?.map(({ name }) => name) ?? [null]);
  const runs = cells.length * repeats;
  if (cells.length > mostCells || runs > mostRuns) {
    const limit = Math.min(mostCells * repeats, mostRuns);
    const message = `A matrix has at most ${mostCells} cells and ${mostRuns} runs, and this one would have ${cells.length} and ${runs}: lower repeats, or name fewer versions, voices or weathers.`;
    throw ApiError.of('SIMULATION_LIMIT', { runs, limit }, message);
  }
  const checks = { edges: services.edges, db: services.database.db, orgId };
  for (const [place, { weather }] of (weathers ?? []).entries())
    await checkWeather(checks, weather, `/weathers/${place}/weather`);
  for (const [place, voice] of (voices ?? []).entries()) checkVoice(checks, voice, `/voices/${place}`);
  let number: string | null = null;
  for (const version of versions) {
    const asked = {
      ...(phone_number !== undefined && { phone_number }),
      ...(transport && { transport }),
      ...(version !== null && { version_number: version }),
    };
    number = await checkedNumber(services, orgId, scenarioId, asked, {
      path: '/scenario_id',
      replaced: { weather: weathers !== undefined, voice: voices !== undefined },
    });
  }
  const id = newId();
  const created_at = isoTime(services.clock);
  await services.database.db.transaction().execute(async (db) => {
    await services.quotas.waitingRunRoom(db, orgId, runs);
    // The same seeds in each cell, so that only the cell differs.
    const from = startSeed(seed, repeats);
    const plans = new Map<number | null, PlannedRun | undefined>();
    for (const version of versions) {
      const [plan] = await planRuns(db, orgId, [scenarioId], version ?? undefined);
      plans.set(version, plan);
    }
    for (const [place, cell] of cells.entries()) {
      const planned = plans.get(cell.version);
      if (!planned) throw ApiError.of('SCENARIO_NOT_FOUND');
      const weather = weathers?.find(({ name }) => name === cell.weather)?.weather;
      const changes = { ...(cell.voice !== null && { voice: cell.voice }), ...(weather && { weather }) };
      const one = withCaller(planned, changes, services.edges);
      const subject = onlySubject([one]);
      const setId = newId();
      await insertSet(db, {
        id: setId,
        org_id: orgId,
        pathway_id: subject?.kind === 'pathway' ? subject.id : null,
        persona_id: subject?.kind === 'persona' ? subject.id : null,
        status: 'PENDING',
        scenario_ids: toJson([scenarioId]),
        simulations_per_scenario: repeats,
        pass_threshold: 0.5,
        version_number: cell.version,
        webhook_url: null,
        created_at,
        completed_at: null,
        matrix_id: id,
        matrix_place: place,
        matrix_cell: toJson(cell),
        load_id: null,
      });
      const order = {
        orgId,
        triggerSource: 'simulation' as const,
        simulationSetId: setId,
        phoneNumber: number,
      };
      await insertRuns(services, db, order, Array<PlannedRun>(repeats).fill(one), from);
    }
    await recordTestingChange(db, services, by, { orgId, subject: id, action: 'matrix_start' });
  });
  services.announcements.announce(testRunsSubject);
  return { matrix_id: id, status: 'PENDING' as const, total_cells: cells.length, repeats, created_at };
}

/** @param isCall whether its runs are over a call @throws ApiError INVALID_PARAMETER */
function checkAxes({ phone_number, versions, voices, weathers }: MatrixStart, isCall: boolean): void {
  for (const [name, values] of [
    ['versions', versions],
    ['voices', voices],
    ['weathers', weathers?.map((one) => one.name)],
  ] as const) {
    if (values && new Set<string | number>(values).size < values.length)
      throw ApiError.invalid(`/${name}`, 'must not name one twice');
  }
  if (isCall) return;
  for (const [name, value] of Object.entries({ phone_number, voices, weathers }))
    if (value !== undefined) throw ApiError.invalid(`/${name}`, 'needs transport sip');
}
