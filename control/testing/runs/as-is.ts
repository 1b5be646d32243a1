/**
 * Which runs are of their scenario as it is (`as_is`, contract 6.4): the promotion gate, the figures of pathways and
 * versions, and the newest run of a scenario count these alone. Decided when a run is planned, and stored with it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import { callSettings } from '../over-call/settings.ts';

type Metadata = Scenario['metadata'];
type Data = Readonly<Record<string, unknown>> | null;

/**
 * Whether a call is with the scenario's own voice, weather and habits.
 * @param usualVoice that speaks where none is named; null: not known
 */
export function isSameCall(own: Metadata, used: Metadata, usualVoice: string | null): boolean {
  return isDeepStrictEqual(callOf(own, usualVoice), callOf(used, usualVoice));
}

/** Calm weather is none. */
function callOf(metadata: Metadata, usualVoice: string | null): object {
  const { voice, weather, ...settings } = callSettings(metadata);
  return { ...settings, voice: voice ?? usualVoice, weather: weather ?? {} };
}

/** Whether the agent gets the scenario's own data. */
export function isSameData(own: Data, override: Data): boolean {
  return isDeepStrictEqual({ ...own, ...override }, { ...own });
}
