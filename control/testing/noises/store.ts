/** Noises of an organization, as stored. */
import { noiseProblem, type Weather } from '#shared/agent-test-weather.ts';
import { mostNoises, type NoiseView } from '#shared/api/agent-testing/noises.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db, TestNoiseRow } from '../../db/index.ts';
import type { CallSettings } from '../over-call/settings.ts';

const shown = ['id', 'name', 'seconds', 'created_at'] as const;

export function listNoises(db: Db, orgId: string): Promise<NoiseView[]> {
  return db
    .selectFrom('test_noises')
    .select(shown)
    .where('org_id', '=', orgId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(mostNoises)
    .execute();
}

/** @throws ApiError TEST_NOISE_NOT_FOUND */
export async function requireNoise(db: Db, orgId: string, id: string): Promise<NoiseView> {
  const found = await db
    .selectFrom('test_noises')
    .select(shown)
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  if (!found) throw ApiError.of('TEST_NOISE_NOT_FOUND');
  return found;
}

/**
 * The sound of the noise that a call's weather names: mu-law at 8 kHz, base64; null: it names none.
 * @throws ApiError TEST_NOISE_NOT_FOUND
 */
export async function noiseOf(
  db: Db,
  orgId: string,
  { weather }: Pick<CallSettings, 'weather'>,
): Promise<string | null> {
  const id = weather?.noise?.noise_id;
  if (id === undefined) return null;
  const audio = await findAudio(db, orgId, id);
  if (audio === null)
    throw ApiError.of('TEST_NOISE_NOT_FOUND', undefined, `The weather has a noise that is not there: ${id}.`);
  return audio;
}

/** As it is kept. @throws ApiError TEST_NOISE_NOT_FOUND */
export async function requireAudio(db: Db, orgId: string, id: string): Promise<string> {
  const audio = await findAudio(db, orgId, id);
  if (audio === null) throw ApiError.of('TEST_NOISE_NOT_FOUND');
  return audio;
}

async function findAudio(db: Db, orgId: string, id: string): Promise<string | null> {
  const found = await db
    .selectFrom('test_noises')
    .select('audio')
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  return found?.audio ?? null;
}

/** Why the noise of a weather that is asked for cannot be used; null: it can, or there is none. */
export async function noiseObstacle(db: Db, orgId: string, weather: Weather): Promise<string | null> {
  const problem = noiseProblem(weather);
  if (problem !== null) return problem;
  const id = weather.noise?.noise_id;
  if (id === undefined) return null;
  const found = await db
    .selectFrom('test_noises')
    .select('id')
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  return found
    ? null
    : `is no noise of the organization: ${id}; GET /v1/agent-testing/noises lists them, POST uploads one`;
}

/** In the transaction of the change. @throws ApiError QUOTA_EXCEEDED */
export async function insertNoise(db: Db, row: TestNoiseRow): Promise<void> {
  const { count } = await db
    .selectFrom('test_noises')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', row.org_id)
    .executeTakeFirstOrThrow();
  if (Number(count) >= mostNoises)
    throw ApiError.of(
      'QUOTA_EXCEEDED',
      { quota: 'test_noises', limit: mostNoises },
      `An organization has at most ${mostNoises} noises: delete one.`,
    );
  await db.insertInto('test_noises').values(row).execute();
}
