/**
 * Whether the caller of a call can be as it is asked for: its weather, with the noise, and its voice. Checked by every
 * request that names one, and again by those that start runs: meanwhile a noise may be deleted, or an edge have changed.
 */
import { isObject } from '#shared/agent/graph-problem.ts';
import type { Weather } from '#shared/agent-test-weather.ts';
import { ApiError } from '#shared/errors.ts';
import { embeddedVoice, fliteVoices } from '#shared/models/flite-voices.ts';
import type { Db } from '../../db/index.ts';
import type { ConnectedEdges } from '../../edge-link/index.ts';
import { callSettings, weatherProblem } from '../over-call/settings.ts';
import { noiseObstacle } from './store.ts';

interface CallerChecks {
  readonly edges: Pick<ConnectedEdges, 'speakEmbedded'>;
  readonly db: Db;
  readonly orgId: string;
}

/** @param path of the weather @throws ApiError INVALID_PARAMETER */
export async function checkWeather(
  { db, orgId }: CallerChecks,
  weather: Weather,
  path: string,
): Promise<void> {
  const obstacle = await noiseObstacle(db, orgId, weather);
  if (obstacle !== null) throw ApiError.invalid(`${path}/noise/noise_id`, obstacle);
}

/** @param path of the voice @throws ApiError INVALID_PARAMETER */
export function checkVoice({ edges }: CallerChecks, voice: string, path: string): void {
  const obstacle = voiceObstacle(edges, voice);
  if (obstacle !== null) throw ApiError.invalid(path, obstacle);
}

/** With a server that speaks, only that server knows its voices: the edge asks it before it places the call. */
function voiceObstacle({ speakEmbedded }: CallerChecks['edges'], voice: string): string | null {
  if (!speakEmbedded || embeddedVoice(voice)) return null;
  return `must be one of ${fliteVoices.join(', ')}: no edge has a text-to-speech server with other voices (TTS_BASE_URL)`;
}

type Metadata = Readonly<Record<string, unknown>> | null;

/** Of a scenario that is written. @throws ApiError INVALID_PARAMETER at /metadata/call */
export async function checkWrittenCaller(checks: CallerChecks, metadata: Metadata): Promise<void> {
  const path = '/metadata/call';
  const problem = weatherProblem(metadata);
  if (problem !== null) throw ApiError.invalid(`${path}/weather`, `is invalid: ${problem}`);
  const { voice, weather } = callSettings(metadata);
  if (weather) await checkWeather(checks, weather, `${path}/weather`);
  if (voice !== null) checkVoice(checks, voice, `${path}/voice`);
}

/** What a request says itself, in the place of the scenario. */
export interface Replaced {
  readonly weather?: boolean;
  readonly voice?: boolean;
}

/**
 * Of a scenario whose run is to be a call.
 * @param path what in the request names it; null: its path @throws ApiError INVALID_PARAMETER
 */
export async function checkStoredCaller(
  checks: CallerChecks,
  scenario: { readonly name: string; readonly metadata: Metadata },
  path: string | null,
  replaced: Replaced = {},
): Promise<void> {
  const { metadata, name } = scenario;
  if (!isObject(metadata?.call)) return;
  const { voice, weather } = callSettings(metadata);
  const problem = replaced.weather ? null : (weatherProblem(metadata) ?? (weather && (await noise(weather))));
  if (problem !== null)
    throw ApiError.invalid(
      path ?? '/weather',
      `the scenario "${name}" has an invalid metadata.call.weather: ${problem}`,
    );
  const obstacle = replaced.voice || voice === null ? null : voiceObstacle(checks.edges, voice);
  if (obstacle !== null)
    throw ApiError.invalid(
      path ?? '',
      `the scenario "${name}" has an unknown metadata.call.voice, "${voice}": it ${obstacle}`,
    );

  async function noise(asked: Weather): Promise<string | null> {
    const why = await noiseObstacle(checks.db, checks.orgId, asked);
    return why && `/noise/noise_id ${why}`;
  }
}
