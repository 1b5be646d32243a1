/** Checks whether a run over a real call can be started (contract 6.4 `transport: sip`). */
import type { RunStart } from '#shared/api/agent-testing/runs.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { ApiError } from '#shared/errors.ts';
import type { TestingDeps } from '../common/deps.ts';
import { requireProven } from '../foreign/called.ts';
import { isSpoken, settingsOf } from '../foreign/rules.ts';
import { requireForeignAgent } from '../foreign/store.ts';
import { checkStoredCaller, checkWeather, type Replaced } from '../noises/caller-check.ts';
import { scenarioView } from '../scenarios/rules.ts';
import { requireScenario } from '../scenarios/store.ts';
import { testedVersion } from './agent-store.ts';
import { subjectOf } from './execute.ts';
import { requireTestableNumber } from './number.ts';

/** How a request names a scenario that is called. */
interface Named {
  /** Default: in its path. */
  readonly path?: string;
  /** What the request says in place of the scenario. */
  readonly replaced?: Replaced;
}

/**
 * What a run that is to be started calls.
 * @returns the number, E.164 with plus; null: none, because it is a run in text, or the agent is of others
 * @throws ApiError NUMBER_NOT_TESTABLE for a number with another agent, TEST_AGENT_NOT_PROVEN, INVALID_PARAMETER,
 * SERVICE_UNAVAILABLE while no edge can place the call
 */
export async function checkedNumber(
  { database: { db }, edges }: TestingDeps,
  orgId: string,
  scenarioId: string,
  start: RunStart,
  { path, replaced = { weather: start.weather !== undefined } }: Named = {},
): Promise<string | null> {
  const { phone_number, transport, version_number, weather } = start;
  const scenario = await requireScenario(db, orgId, scenarioId);
  const subject = subjectOf(scenario);
  const others = subject.kind === 'agent' ? await requireForeignAgent(db, orgId, subject.id) : null;
  const spoken = others && isSpoken(settingsOf(others));
  checkTransport(start, spoken);
  if (transport !== 'sip' && !spoken) return null;
  if (scenario.scenario_type === 'HISTORICAL')
    throw ApiError.invalid('/transport', 'a HISTORICAL scenario has no caller');
  const checks = { edges, db, orgId };
  if (weather) await checkWeather(checks, weather, '/weather');
  await checkStoredCaller(checks, scenarioView(scenario, []), path ?? null, replaced);
  if (subject.kind === 'agent') {
    if (others) requireProven(others);
    edges.leastLoaded(null, edgeProtocol.testsOthers);
    return null;
  }
  const { number: version } = await testedVersion(db, orgId, subject, version_number);
  const number = await requireTestableNumber(db, orgId, subject, version, phone_number);
  // Throws when no edge is connected, or all are draining.
  edges.leastLoaded();
  return number;
}

/**
 * @param spoken whether an agent of others is reached over a call; null: the agent is ours
 * @throws ApiError INVALID_PARAMETER
 */
function checkTransport({ phone_number, transport, weather }: RunStart, spoken: boolean | null): void {
  if (spoken === false && transport === 'sip')
    throw ApiError.invalid('/transport', 'this agent of others is a chat: it is tested in text');
  if (spoken && transport === 'text')
    throw ApiError.invalid('/transport', 'this agent of others is reached over a call only');
  const isCall = transport === 'sip' || spoken === true;
  // A number given for a run in text is probably meant for a call.
  if (phone_number !== undefined && !isCall) throw ApiError.invalid('/phone_number', 'needs transport sip');
  if (phone_number !== undefined && spoken !== null)
    throw ApiError.invalid('/phone_number', 'not used: the agent of others says what is called');
  if (weather !== undefined && !isCall) throw ApiError.invalid('/weather', 'needs transport sip');
}
