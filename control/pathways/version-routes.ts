/** /v1/pathway/{id}/version: snapshots of graphs (contract 11.2 and 11.3). */
import {
  PathwayPath,
  VersionCreated,
  VersionDeleted,
  VersionGraph,
  VersionList,
  VersionPath,
  VersionQuery,
  VersionReplace,
  VersionUpdated,
  VersionWrite,
} from '#shared/api/pathways.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import type { Altered, Catalogue } from '../catalogue/index.ts';
import type { Db } from '../db/index.ts';
import { type App, keepAnswer, orgOf, totalHeader } from '../http/index.ts';
import { graphBytes } from '../organizations/index.ts';
import type { PathwayDeps } from './deps.ts';
import { authorNotes } from './notes-store.ts';
import { graphSource, setReferences } from './references-store.ts';
import { requirePathway, requireVersion } from './require-store.ts';
import { acceptGraph, contentHash, requireHash, transferReferences, versionOfPath } from './rules.ts';
import { latestVersion, pageOfVersions, updateVersion } from './store.ts';
import { dropVersion, keepVersion, versionUsers } from './versions-store.ts';
import { graphView, versionLine } from './views.ts';

export function versionRoutes(app: App, services: PathwayDeps): void {
  readRoutes(app, services);
  createRoute(app, services);
  changeRoutes(app, services);
}

function readRoutes(app: App, services: PathwayDeps): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/pathway/:id/versions',
    config: { access: 'read', errors: ['PATHWAY_NOT_FOUND'] },
    schema: {
      summary: 'The versions of a pathway, newest first',
      params: PathwayPath,
      querystring: VersionQuery,
      response: { 200: VersionList },
    },
    handler: async (request, reply) => {
      const pathway = await requirePathway(db, orgOf(request), request.params.id);
      const { limit = 200, offset = 0 } = request.query;
      const { versions, total } = await pageOfVersions(db, pathway.id, { limit, offset });
      reply.header(totalHeader, total);
      const latest = await latestVersion(db, pathway.id);
      return versions.map((version) => versionLine(pathway, version, latest));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway/:id/version/:version_id',
    config: { access: 'read', errors: ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND'] },
    schema: {
      summary: 'The graph of one version; 0 is the live one',
      params: VersionPath,
      response: { 200: VersionGraph },
    },
    handler: async (request) => {
      const pathway = await requirePathway(db, orgOf(request), request.params.id);
      const number = versionOfPath(request.params.version_id);
      const latest = await latestVersion(db, pathway.id);
      if (number !== 0) return graphView(await requireVersion(db, pathway.id, number), latest);
      return graphView({ ...pathway, version_number: 0, content_hash: contentHash(pathway) }, latest);
    },
  });
}

function createRoute(app: App, services: PathwayDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/pathway/:id/version',
    config: {
      access: 'member',
      atomic: true,
      errors: ['INVALID_GRAPH', 'TARGET_NOT_ALLOWED', 'PATHWAY_NOT_FOUND', 'QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Create a version from a graph',
      params: PathwayPath,
      body: VersionWrite,
      response: { 200: VersionCreated },
    },
    handler: async (request) => {
      const { name, nodes, edges } = request.body;
      const orgId = orgOf(request);
      const graph = acceptGraph(nodes, edges, services.allowedTargets);
      return services.catalogue.change(async (trx, altered) => {
        const made = { orgId, pathwayId: request.params.id, name, graph };
        const { created_at, number } = await keepVersion(services, trx, altered, actorOf(request), made);
        return keepAnswer(trx, request, {
          status: 'success' as const,
          message: 'Version created',
          data: { id: number, name, version_number: number, created_at },
          warnings: await authorNotes(trx, orgId, graph),
        });
      });
    },
  });
}

function changeRoutes(app: App, services: PathwayDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/pathway/:id/version/:version_id',
    config: {
      access: 'member',
      resumable: true,
      errors: [
        'INVALID_GRAPH',
        'TARGET_NOT_ALLOWED',
        'PATHWAY_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'VERSION_IN_PRODUCTION',
        'GRAPH_CHANGED',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Replace the graph of a version',
      params: VersionPath,
      body: VersionReplace,
      response: { 200: VersionUpdated },
    },
    handler: async (request) => {
      const { name, nodes, edges, expected_hash } = request.body;
      const { id, version_id } = request.params;
      const orgId = orgOf(request);
      const graph = acceptGraph(nodes, edges, services.allowedTargets);
      const number = changeableVersion(version_id, ':version_id');
      await services.catalogue.change(async (db, altered) => {
        const stored = await requireChangeable(db, orgId, id, number);
        const { version_number: version } = stored;
        requireHash(stored, expected_hash);
        await services.quotas.graphRoom(db, orgId, graphBytes(graph) - graphBytes(stored));
        const content_hash = contentHash(graph);
        await updateVersion(db, id, version, { name, ...graph, content_hash });
        const references = transferReferences(graph);
        await setReferences(db, orgId, graphSource(id, version), references, altered.pathways);
        altered.pathways.add(id);
        const change = { orgId, area: 'pathways', subject: id, action: 'version_update' } as const;
        await recordChange(db, services.clock, actorOf(request), change);
      });
      const warnings = await authorNotes(services.database.db, orgId, graph);
      return { status: 'success' as const, message: 'Version updated', warnings };
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/pathway/:id/version/:version_id',
    config: { access: 'member', errors: ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND', 'VERSION_IN_PRODUCTION'] },
    schema: { summary: 'Delete a version', params: VersionPath, response: { 200: VersionDeleted } },
    handler: async (request) => {
      const { id, version_id } = request.params;
      const number = changeableVersion(version_id, ':version_id');
      const orgId = orgOf(request);
      await services.catalogue.change(async (db, altered) => {
        await removeVersion(services.catalogue, db, altered, orgId, id, number);
        const change = { orgId, area: 'pathways', subject: id, action: 'version_delete' } as const;
        await recordChange(db, services.clock, actorOf(request), change);
      });
      return { status: 'success' as const, message: 'Version deleted' };
    },
  });
}

/** @returns null for an unknown version @throws ApiError for 0, which is the live graph */
function changeableVersion(text: string, path: string): number | null {
  const number = versionOfPath(text);
  if (number === 0) throw ApiError.invalid(path, '0 is the live graph, which POST /v1/pathway/{id} writes');
  return number;
}

/** @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, VERSION_IN_PRODUCTION */
async function requireChangeable(db: Db, orgId: string, id: string, number: number | null) {
  const pathway = await requirePathway(db, orgId, id);
  const { version_number, nodes, edges } = await requireVersion(db, pathway.id, number);
  if (pathway.production_version === version_number) throw ApiError.of('VERSION_IN_PRODUCTION');
  return { pathway, version_number, nodes, edges };
}

/** A number that uses the version would answer no more calls, so that counts as production too. */
async function removeVersion(
  catalogue: Catalogue,
  db: Db,
  altered: Altered,
  orgId: string,
  id: string,
  number: number | null,
): Promise<void> {
  const { pathway, version_number } = await requireChangeable(db, orgId, id, number);
  const users = await versionUsers(catalogue, db, { orgId, pathwayId: id, version: version_number });
  if (users.count > 0) {
    throw ApiError.of('VERSION_IN_PRODUCTION', users.ids, 'The version is in use; details says by what.');
  }
  await dropVersion(db, altered, pathway, version_number);
}
