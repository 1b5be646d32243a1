/** Checks whether a run over a real call can be started (contract 6.4 `transport: sip`). */
import type { RunStart } from '#shared/api/agent-testing/runs.ts';
import { ApiError } from '#shared/errors.ts';
import type { TestingDeps } from '../common/deps.ts';
import { weatherProblem } from '../over-call/settings.ts';
import { scenarioView } from '../scenarios/rules.ts';
import { requireScenario } from '../scenarios/store.ts';
import { testedVersion } from './agent-store.ts';
import { subjectOf } from './execute.ts';
import { requireTestableNumber } from './number.ts';

/**
 * @returns the number that the run calls, E.164 with plus
 * @throws ApiError NUMBER_NOT_TESTABLE for a number with another agent, INVALID_PARAMETER without one,
 * SERVICE_UNAVAILABLE while no edge can place the call
 */
export async function checkCallRun(
  { database: { db }, edges }: TestingDeps,
  orgId: string,
  scenarioId: string,
  { phone_number, version_number, weather }: RunStart,
): Promise<string> {
  const scenario = await requireScenario(db, orgId, scenarioId);
  if (scenario.scenario_type === 'HISTORICAL') {
    throw ApiError.invalid('/transport', 'a HISTORICAL scenario has no caller');
  }
  const problem = weather ? null : weatherProblem(scenarioView(scenario, []).metadata);
  if (problem !== null) {
    throw ApiError.invalid('/weather', `the scenario's metadata.call.weather is invalid: ${problem}`);
  }
  const subject = subjectOf(scenario);
  if (subject.kind === 'agent') throw ApiError.invalid('/transport', 'an agent of others is tested in text');
  const { number: version } = await testedVersion(db, orgId, subject, version_number);
  const number = await requireTestableNumber(db, orgId, subject, version, phone_number);
  // Throws when no edge is connected, or all are draining.
  edges.leastLoaded();
  return number;
}
