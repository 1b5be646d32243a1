/** POST /v1/pathway/{id}/publish (contract 11.4). */
import { PathwayPath, Publish, Published, PublishPending } from '#shared/api/pathways.ts';
import { actorOf } from '../audit/index.ts';
import { type App, orgOf } from '../http/index.ts';
import type { PathwayDeps } from './deps.ts';
import { publish } from './publish.ts';

export function publishRoute(app: App, services: PathwayDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/pathway/:id/publish',
    config: { access: 'member', errors: ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND', 'PROMOTION_BLOCKED'] },
    schema: {
      summary: 'Publish a version to production or staging',
      params: PathwayPath,
      body: Publish,
      response: { 200: Published, 202: PublishPending },
    },
    handler: async (request, reply) => {
      const { version_id, environment = 'production' } = request.body;
      const waiting = await publish(
        services,
        orgOf(request),
        request.params.id,
        request.body,
        actorOf(request),
      );
      if (!waiting) return { status: 'success' as const, message: 'Published', version_id, environment };
      const message = 'Published when its test scenarios pass';
      reply.code(202);
      return {
        status: 'pending' as const,
        message,
        version_id,
        environment,
        batch_id: waiting.batchId,
      };
    },
  });
}
