/** Turns scenario ids into waiting runs (contract 6.4, 6.6 and 6.7). */
import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Weather } from '#shared/agent-test-weather.ts';
import type { RunStart, TriggerSource } from '#shared/api/agent-testing/runs.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type Db, toJson } from '../../db/index.ts';
import { checkUrl, isoTime } from '../../organizations/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { checkStoredCaller } from '../noises/caller-check.ts';
import { withCall } from '../over-call/settings.ts';
import type { WaitingRun } from '../records/waiting-run.ts';
import { insertRun } from '../records/write.ts';
import { type AnySubject, scenarioView } from '../scenarios/rules.ts';
import { findScenario, listAssertions } from '../scenarios/store.ts';
import { type TestedVersion, testedVersion } from './agent-store.ts';
import { isSameCall, isSameData } from './as-is.ts';
import { evaluatorsOf } from './evaluators.ts';
import { subjectOf } from './execute.ts';

/** Announced when runs were queued; announce it after the commit. */
export const testRunsSubject = 'test-runs';

export interface PlannedRun {
  readonly scenario: Scenario;
  readonly version: TestedVersion;
  /** Whether the scenario is as it is stored (as-is.ts). */
  readonly asIs: boolean;
}

/**
 * Loads scenarios with the version that each is to test.
 * @param wanted a version for all of them, which must then have one pathway or persona
 * @throws ApiError SCENARIO_NOT_FOUND with every unknown id, VERSION_NOT_FOUND, INVALID_PARAMETER at /version_number
 */
export async function planRuns(
  db: Db,
  orgId: string,
  scenarioIds: readonly string[],
  wanted: number | undefined,
): Promise<PlannedRun[]> {
  const scenarios: Scenario[] = [];
  const unknown: string[] = [];
  for (const id of scenarioIds) {
    const row = await findScenario(db, orgId, id);
    if (row) scenarios.push(scenarioView(row, await listAssertions(db, id)));
    else unknown.push(id);
  }
  if (unknown.length > 0) throw ApiError.of('SCENARIO_NOT_FOUND', { scenario_ids: unknown });
  const subjects = new Map<string, AnySubject>(scenarios.map((one) => [subjectKey(one), subjectOf(one)]));
  if (wanted !== undefined && subjects.size > 1) {
    throw ApiError.invalid('/version_number', 'needs scenarios of one pathway or persona');
  }
  const versions = new Map<string, TestedVersion>();
  for (const [key, subject] of subjects) versions.set(key, await testedVersion(db, orgId, subject, wanted));
  return scenarios.flatMap((scenario) => {
    const version = versions.get(subjectKey(scenario));
    return version ? [{ scenario, version, asIs: true }] : [];
  });
}

/**
 * Of runs without a number: those of an agent of others may be calls.
 * @param ids as the request has them, at /scenario_ids @throws ApiError INVALID_PARAMETER
 */
export async function checkCallers(
  { edges }: Pick<TestingDeps, 'edges'>,
  db: Db,
  orgId: string,
  planned: readonly PlannedRun[],
  ids: readonly string[],
): Promise<void> {
  for (const { scenario, version } of planned)
    if (version.spoken && scenario.scenario_type !== 'HISTORICAL')
      await checkStoredCaller({ edges, db, orgId }, scenario, `/scenario_ids/${ids.indexOf(scenario.id)}`);
}

function subjectKey({ pathway_id, persona_id, agent_id }: Scenario): string {
  return `${pathway_id} ${persona_id} ${agent_id}`;
}

/** What all of them test; null: several. */
export function onlySubject(planned: readonly PlannedRun[]): AnySubject | null {
  const [first, ...others] = planned.map(({ scenario }) => scenario);
  if (!first || others.some((one) => subjectKey(one) !== subjectKey(first))) return null;
  return subjectOf(first);
}

/** Common parameters of the runs of one request. */
export interface RunOrder {
  readonly orgId: string;
  readonly triggerSource: TriggerSource;
  readonly batchId?: string | null;
  readonly simulationSetId?: string | null;
  readonly tornadoSessionId?: string | null;
  readonly webhookUrl?: string | null;
  readonly requestDataOverride?: Record<string, unknown> | null;
  /** For a run over a call; null: in text. */
  readonly phoneNumber?: string | null;
}

/** Seeds have 31 bits. */
const seeds = 2 ** 31;

/** @param span how many seeds follow it: a random one leaves room for them */
export function startSeed(wanted: number | undefined, span: number): number {
  return wanted ?? randomInt(0, seeds - span);
}

/** Queues runs, run i with seed + i. Call it in a transaction. Returns their ids in the same order. */
export async function insertRuns(
  { clock, models }: Pick<TestingDeps, 'clock' | 'models'>,
  db: Db,
  order: RunOrder,
  planned: readonly PlannedRun[],
  seed: number,
): Promise<string[]> {
  const created_at = isoTime(clock);
  const ids: string[] = [];
  for (const [index, one] of planned.entries()) {
    const { scenario } = one;
    const id = newId();
    const run = { ...waitingRun(order, one), id, created_at, seed: (seed + index) % seeds };
    const evaluator = toJson(evaluatorsOf(models, scenario));
    await insertRun(db, run, { scenario: toJson(scenario), evaluator });
    ids.push(id);
    // A large set takes long enough to yield to others.
    if (index % 50 === 49) await setImmediate();
  }
  return ids;
}

/** A run as it waits, without what is its own. */
export function waitingRun(order: RunOrder, { asIs, scenario, version }: PlannedRun): WaitingRun {
  const { requestDataOverride: override = null, phoneNumber = null } = order;
  return {
    org_id: order.orgId,
    scenario_id: scenario.id,
    pathway_id: scenario.pathway_id,
    persona_id: scenario.persona_id,
    agent_id: scenario.agent_id,
    batch_id: order.batchId ?? null,
    simulation_set_id: order.simulationSetId ?? null,
    tornado_session_id: order.tornadoSessionId ?? null,
    status: 'PENDING',
    trigger_source: order.triggerSource,
    version_number: version.number,
    content_hash: version.contentHash,
    transport: phoneNumber === null && !version.spoken ? 'text' : 'sip',
    phone_number: phoneNumber,
    request_data_override: override && toJson(override),
    as_is: asIs && isSameData(scenario.request_data, override) ? 1 : 0,
    webhook_url: order.webhookUrl ?? null,
    worker: null,
    lease_until: null,
    cancel_requested_at: null,
    started_at: null,
    completed_at: null,
    duration_ms: null,
    overall_score: null,
  };
}

/**
 * Starts the run of one scenario.
 * @param phoneNumber for a run over a call; null: in text
 * @throws ApiError SCENARIO_NOT_FOUND, VERSION_NOT_FOUND, TARGET_NOT_ALLOWED
 */
export async function startRun(
  services: TestingDeps,
  orgId: string,
  scenarioId: string,
  body: RunStart,
  phoneNumber: string | null = null,
): Promise<string> {
  const { webhook_url, version_number, request_data_override, seed, weather } = body;
  checkWebhook(services, webhook_url);
  const [id] = await services.database.db.transaction().execute(async (db) => {
    const asked = await planOne(db, orgId, scenarioId, version_number);
    const planned = weather ? asked.map((one) => withCaller(one, { weather }, services.edges)) : asked;
    await services.quotas.waitingRunRoom(db, orgId, 1);
    const order: RunOrder = {
      orgId,
      triggerSource: 'api',
      webhookUrl: webhook_url ?? null,
      requestDataOverride: request_data_override ?? null,
      phoneNumber,
    };
    return insertRuns(services, db, order, planned, startSeed(seed, 1));
  });
  if (id === undefined) throw new Error('a run was planned but not created');
  services.announcements.announce(testRunsSubject);
  return id;
}

/** The run keeps the scenario as it was at its start, with this weather or voice. */
export function withCaller(
  { asIs, scenario, version }: PlannedRun,
  changes: { readonly weather?: Weather; readonly voice?: string },
  { usualVoice }: Pick<TestingDeps['edges'], 'usualVoice'>,
): PlannedRun {
  const metadata = withCall(scenario.metadata, changes);
  return {
    scenario: { ...scenario, metadata },
    version,
    asIs: asIs && isSameCall(scenario.metadata, metadata, usualVoice),
  };
}

/** The scenario is in the path here, so the error has no list of unknown ids. */
async function planOne(
  db: Db,
  orgId: string,
  scenarioId: string,
  wanted: number | undefined,
): Promise<PlannedRun[]> {
  if (!(await findScenario(db, orgId, scenarioId))) throw ApiError.of('SCENARIO_NOT_FOUND');
  return planRuns(db, orgId, [scenarioId], wanted);
}

/** @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED */
export function checkWebhook({ allowedTargets }: TestingDeps, url: string | undefined): void {
  if (url !== undefined) checkUrl(url, 'https:', '/webhook_url', allowedTargets);
}
