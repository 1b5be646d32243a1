/** /v1/agent-testing/noises: background noise for the weather of runs over a call (contract 6.18). */
import { NoiseAnswer, NoiseCreate, NoiseList, NoisePath } from '#shared/api/agent-testing/noises.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { actorOf } from '../../audit/index.ts';
import { type App, orgOf } from '../../http/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { soundOf, wavOf } from './sound.ts';
import { insertNoise, listNoises, requireAudio, requireNoise } from './store.ts';

const base = '/v1/agent-testing/noises';

export function noiseRoutes(app: App, services: TestingDeps): void {
  const { clock, database } = services;
  const { db } = database;

  app.route({
    method: 'GET',
    url: base,
    config: { access: 'read' },
    schema: { summary: 'Noises for the weather of test runs, newest first', response: { 200: NoiseList } },
    handler: async (request) => testing({ noises: await listNoises(db, orgOf(request)) }),
  });

  app.route({
    method: 'GET',
    url: `${base}/:id`,
    config: { access: 'read', errors: ['TEST_NOISE_NOT_FOUND'] },
    schema: { summary: 'One noise, without its sound', params: NoisePath, response: { 200: NoiseAnswer } },
    handler: async (request) => testing(await requireNoise(db, orgOf(request), request.params.id)),
  });

  app.route({
    method: 'GET',
    url: `${base}/:id/sound`,
    config: { access: 'read', errors: ['TEST_NOISE_NOT_FOUND'] },
    schema: {
      summary: 'The sound of a noise as a WAV file, as runs have it',
      params: NoisePath,
      produces: ['audio/wav'],
    },
    handler: async (request, reply) => {
      const wav = wavOf(await requireAudio(db, orgOf(request), request.params.id));
      return reply.type('audio/wav').send(wav);
    },
  });

  app.route({
    method: 'POST',
    url: base,
    config: { access: 'member', errors: ['QUOTA_EXCEEDED'] },
    schema: {
      summary: 'Upload a noise for the weather of test runs',
      body: NoiseCreate,
      response: { 200: NoiseAnswer },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const { name, wav } = request.body;
      const sound = await soundOf(wav);
      if (!sound.ok) throw ApiError.invalid('/wav', sound.problem);
      const { audio, seconds } = sound;
      const row = { id: newId(), org_id: orgId, name, audio, seconds, created_at: isoTime(clock) };
      await db.transaction().execute(async (trx) => {
        await insertNoise(trx, row);
        const change = { orgId, subject: row.id, action: 'noise_create' as const };
        await recordTestingChange(trx, services, actorOf(request), change);
      });
      return testing({ id: row.id, name, seconds, created_at: row.created_at });
    },
  });

  app.route({
    method: 'DELETE',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['TEST_NOISE_NOT_FOUND'] },
    schema: {
      summary: 'Delete a noise; runs with it end in ERROR from then on',
      params: NoisePath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        const { id } = await requireNoise(trx, orgId, request.params.id);
        await trx.deleteFrom('test_noises').where('id', '=', id).execute();
        const change = { orgId, subject: id, action: 'noise_delete' as const };
        await recordTestingChange(trx, services, actorOf(request), change);
      });
      return testing({ deleted: true as const });
    },
  });
}
