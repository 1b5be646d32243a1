/** /v1/pathway: graphs and their versions (contract 11.3). */
import {
  type Pathway,
  PathwayCreate,
  PathwayCreated,
  PathwayList,
  PathwayPath,
  Pathway as PathwaySchema,
  PathwayUpdate,
  PathwayUpdated,
  VersionCreated,
  VersionGraph,
  VersionList,
  VersionPath,
  VersionWrite,
} from '#shared/api/pathways.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Db, PathwayRow, PathwayVersionRow } from '../db/tables.ts';
import { type App, orgOf } from '../http/app-types.ts';
import { isoTime } from '../organizations/store.ts';
import type { Services } from '../services.ts';
import { acceptGraph, contentHash, startGraph, versionOfPath } from './rules.ts';
import {
  deletePathway,
  findPathway,
  findVersion,
  insertPathway,
  insertVersion,
  listPathways,
  listVersions,
  numbersUsing,
  updatePathway,
} from './store.ts';

export function pathwayRoutes(app: App, services: Services): void {
  graphRoutes(app, services);
  versionRoutes(app, services);
}

function graphRoutes(app: App, services: Services): void {
  const { db } = services.database;

  app.route({
    method: 'POST',
    url: '/v1/pathway/create',
    schema: { summary: 'Create a pathway', body: PathwayCreate, response: { 200: PathwayCreated } },
    handler: async (request) => {
      const { name, description = null } = request.body;
      const id = newId();
      await services.edgeConfig.change(async (trx, altered) => {
        const now = isoTime(services.clock);
        await insertPathway(trx, {
          id,
          orgId: orgOf(request),
          name,
          description,
          now,
          ...startGraph(newId()),
        });
        altered.pathways.add(id);
      });
      return { status: 'success' as const, pathway_id: id };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway',
    schema: { summary: 'All pathways, newest first', response: { 200: PathwayList } },
    handler: async (request) => (await listPathways(db, orgOf(request))).map(pathwayView),
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway/:id',
    config: { errors: ['PATHWAY_NOT_FOUND'] },
    schema: { summary: 'One pathway', params: PathwayPath, response: { 200: PathwaySchema } },
    handler: async (request) => pathwayView(await requirePathway(db, orgOf(request), request.params.id)),
  });

  app.route({
    method: 'POST',
    url: '/v1/pathway/:id',
    config: { errors: ['INVALID_GRAPH', 'TARGET_NOT_ALLOWED', 'PATHWAY_NOT_FOUND'] },
    schema: {
      summary: 'Update a pathway’s live graph',
      params: PathwayPath,
      body: PathwayUpdate,
      response: { 200: PathwayUpdated },
    },
    handler: async (request) => {
      const row = await updateGraph(services, orgOf(request), request.params.id, request.body);
      const { pathway_id, name, description, nodes, edges } = pathwayView(row);
      return {
        status: 'success' as const,
        message: 'Pathway updated',
        pathway_data: { pathway_id, name, description, nodes, edges },
      };
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/pathway/:id',
    config: { errors: ['PATHWAY_NOT_FOUND', 'PATHWAY_IN_USE'] },
    schema: { summary: 'Delete a pathway', params: PathwayPath, response: { 200: PathwayCreated } },
    handler: async (request) => {
      const { id } = request.params;
      await services.edgeConfig.change(async (trx, altered) => {
        await requirePathway(trx, orgOf(request), id);
        const numbers = await numbersUsing(trx, id);
        if (numbers.length > 0)
          throw ApiError.of('PATHWAY_IN_USE', { phone_numbers: numbers, widget_ids: [] });
        await deletePathway(trx, id);
        altered.pathways.add(id);
      });
      return { status: 'success' as const, pathway_id: id };
    },
  });
}

function versionRoutes(app: App, services: Services): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/pathway/:id/versions',
    config: { errors: ['PATHWAY_NOT_FOUND'] },
    schema: {
      summary: 'The versions of a pathway, newest first',
      params: PathwayPath,
      response: { 200: VersionList },
    },
    handler: async (request) => {
      const pathway = await requirePathway(db, orgOf(request), request.params.id);
      return (await listVersions(db, pathway.id)).map((version) => versionLine(pathway, version));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/pathway/:id/version',
    config: { errors: ['INVALID_GRAPH', 'TARGET_NOT_ALLOWED', 'PATHWAY_NOT_FOUND'] },
    schema: {
      summary: 'Keep a graph as a version',
      params: PathwayPath,
      body: VersionWrite,
      response: { 200: VersionCreated },
    },
    handler: async (request) => {
      const { name, nodes, edges } = request.body;
      const graph = acceptGraph(nodes, edges, services.allowedTargets);
      const created_at = isoTime(services.clock);
      const version = await db.transaction().execute(async (trx) => {
        const pathway = await requirePathway(trx, orgOf(request), request.params.id);
        return insertVersion(trx, pathway.id, {
          name,
          ...graph,
          content_hash: contentHash(graph),
          created_at,
        });
      });
      return {
        status: 'success' as const,
        message: 'Version created',
        data: { id: version, name, version_number: version, created_at },
      };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway/:id/version/:version_id',
    config: { errors: ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND'] },
    schema: {
      summary: 'The graph of one version; 0 is the live one',
      params: VersionPath,
      response: { 200: VersionGraph },
    },
    handler: async (request) => {
      const pathway = await requirePathway(db, orgOf(request), request.params.id);
      const number = versionOfPath(request.params.version_id);
      if (number === 0)
        return graphView(pathway, { ...pathway, version_number: 0, content_hash: contentHash(pathway) });
      const version = number === null ? undefined : await findVersion(db, pathway.id, number);
      if (!version) throw ApiError.of('VERSION_NOT_FOUND');
      return graphView(pathway, version);
    },
  });
}

/** Fastify compares ids as text, so a malformed one is simply not found (contract 1.4). */
async function requirePathway(db: Db, orgId: string, id: string): Promise<PathwayRow> {
  const row = await findPathway(db, orgId, id);
  if (!row) throw ApiError.of('PATHWAY_NOT_FOUND');
  return row;
}

async function updateGraph(
  services: Services,
  orgId: string,
  id: string,
  body: PathwayUpdate,
): Promise<PathwayRow> {
  const { name, description, nodes, edges } = body;
  if ((nodes === undefined) !== (edges === undefined)) {
    throw ApiError.invalid(nodes ? '/edges' : '/nodes', 'nodes and edges come together');
  }
  const graph = nodes && edges && acceptGraph(nodes, edges, services.allowedTargets);
  return services.edgeConfig.change(async (db, altered) => {
    await requirePathway(db, orgId, id);
    await updatePathway(db, id, {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...graph,
      updated_at: isoTime(services.clock),
    });
    altered.pathways.add(id);
    return requirePathway(db, orgId, id);
  });
}

function pathwayView(row: PathwayRow): Pathway {
  return {
    pathway_id: row.id,
    name: row.name,
    description: row.description,
    nodes: JSON.parse(row.nodes),
    edges: JSON.parse(row.edges),
    production_version: row.production_version,
    staging_version: row.staging_version,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function versionLine(pathway: PathwayRow, version: PathwayVersionRow) {
  const { version_number, name, created_at, content_hash } = version;
  const environments = [
    ...(pathway.production_version === version_number ? ['production'] : []),
    ...(pathway.staging_version === version_number ? ['staging'] : []),
  ];
  const is_latest = version_number === pathway.last_version;
  return { id: version_number, version_number, name, created_at, is_latest, environments, content_hash };
}

function graphView(
  pathway: PathwayRow,
  graph: Pick<PathwayVersionRow, 'name' | 'nodes' | 'edges' | 'version_number' | 'content_hash'>,
) {
  return {
    name: graph.name,
    nodes: JSON.parse(graph.nodes),
    edges: JSON.parse(graph.edges),
    version_number: graph.version_number,
    is_latest: graph.version_number === pathway.last_version,
    content_hash: graph.content_hash,
  };
}
