/** Runs over a real call (contract 6.4 `transport: sip`): which number may be called. */
import type { RunStart } from '#shared/api/agent-testing/runs.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { findNumber } from '../../numbers/store.ts';
import type { Services } from '../../services.ts';
import { requireScenario } from '../store.ts';

/**
 * @throws ApiError NUMBER_NOT_TESTABLE for a number whose agent is not the tested one, INVALID_PARAMETER for none,
 *   SERVICE_UNAVAILABLE while nothing here can place the call
 */
export async function checkCallRun(
  { database, edges }: Services,
  orgId: string,
  scenarioId: string,
  { phone_number }: RunStart,
): Promise<never> {
  const scenario = await requireScenario(database.db, orgId, scenarioId);
  const number = phone_number === undefined ? null : toE164(phone_number);
  if (number === null) throw ApiError.invalid('/phone_number', 'must be a phone number in E.164 form');
  const row = await findNumber(database.db, orgId, number);
  const tested = scenario.pathway_id ?? scenario.persona_id;
  if (!row || (row.pathway_id ?? row.persona_id) !== tested) throw ApiError.of('NUMBER_NOT_TESTABLE');
  const missing = edges.count === 0 ? 'No edge is connected' : 'No edge takes test calls of runs';
  throw ApiError.unavailable(`${missing}; run the scenario as text.`, 30);
}
