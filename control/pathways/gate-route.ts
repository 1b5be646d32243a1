/** GET /v1/pathway/{id}/version/{version_id}/gate (contract 11.5): what keeps a version from production. */
import { VersionGate, VersionPath } from '#shared/api/pathways.ts';
import { type App, orgOf } from '../http/index.ts';
import { batchAwaited } from '../promotion/index.ts';
import type { PathwayDeps } from './deps.ts';
import { requirePathway, requireVersion } from './require-store.ts';
import { versionOfPath } from './rules.ts';

/** Scenarios that an answer names. */
const mostNamed = 100;

export function gateRoute(app: App, { database: { db }, promotionGates }: PathwayDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/pathway/:id/version/:version_id/gate',
    config: { access: 'read', errors: ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND'] },
    schema: {
      summary: 'Whether a version may go into production, and what keeps it from that; starts no runs',
      params: VersionPath,
      response: { 200: VersionGate },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const { id, production_version } = await requirePathway(db, orgId, request.params.id);
      // The live graph has no version to publish.
      const number = versionOfPath(request.params.version_id) || null;
      const { content_hash, version_number } = await requireVersion(db, id, number);
      const verdict = await promotionGates.judge({
        orgId,
        subject: { kind: 'pathway', pathwayId: id, version: version_number },
        contentHash: content_hash,
        startBatch: false,
      });
      const blocking = verdict.passed ? [] : verdict.scenarios;
      return {
        version_id: version_number,
        in_production: production_version === version_number,
        passed: verdict.passed,
        blocking: blocking.length,
        scenarios: blocking.slice(0, mostNamed).map((one) => ({ ...one })),
        waiting_batch_id: await batchAwaited(db, 'pathway', id, String(version_number)),
      };
    },
  });
}
