/** /v1/pathway: graphs and their versions (contract 11.3). */
import {
  PathwayCreate,
  PathwayCreated,
  PathwayList,
  PathwayPath,
  PathwayQuery,
  Pathway as PathwaySchema,
  PathwayUpdate,
  PathwayUpdated,
} from '#shared/api/pathways.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type Actor, actorOf, recordChange } from '../audit/index.ts';
import type { Altered, Catalogue } from '../catalogue/index.ts';
import type { Db, PathwayRow } from '../db/index.ts';
import { type App, orgOf, readPage, totalHeader, workOf } from '../http/index.ts';
import { graphBytes, isoTime } from '../organizations/index.ts';
import { dropPending } from '../promotion/index.ts';
import type { PathwayDeps } from './deps.ts';
import { gateRoute } from './gate-route.ts';
import { authorNotes } from './notes-store.ts';
import { publishRoute } from './publish-route.ts';
import { dropReferences, graphSource, setReferences } from './references-store.ts';
import { requirePathway } from './require-store.ts';
import { acceptGraph, requireHash, startGraph, transferReferences } from './rules.ts';
import {
  deletePathway,
  findPathway,
  insertPathway,
  listedPathway,
  numbersUsing,
  pageOfPathways,
  pathwayLines,
  updatePathway,
} from './store.ts';
import { versionRoutes } from './version-routes.ts';
import { pathwayView } from './views.ts';

export function pathwayRoutes(app: App, services: PathwayDeps): void {
  graphRoutes(app, services);
  versionRoutes(app, services);
  publishRoute(app, services);
  gateRoute(app, services);
}

function graphRoutes(app: App, services: PathwayDeps): void {
  const { db } = services.database;

  app.route({
    method: 'POST',
    url: '/v1/pathway/create',
    config: { access: 'member', resumable: true, errors: ['QUOTA_EXCEEDED'] },
    schema: { summary: 'Create a pathway', body: PathwayCreate, response: { 200: PathwayCreated } },
    handler: async (request) => {
      const { name, description = null } = request.body;
      const { id, again } = workOf(request, services.clock);
      if (again && (await findPathway(db, orgOf(request), id))) {
        return { status: 'success' as const, pathway_id: id };
      }
      await services.catalogue.change(async (trx, altered) => {
        const now = isoTime(services.clock);
        await services.quotas.room(trx, 'pathways', orgOf(request));
        await insertPathway(trx, {
          id,
          orgId: orgOf(request),
          name,
          description,
          now,
          ...startGraph(newId()),
        });
        altered.pathways.add(id);
        const change = { orgId: orgOf(request), area: 'pathways', subject: id, action: 'create' } as const;
        await recordChange(trx, services.clock, actorOf(request), change);
      });
      return { status: 'success' as const, pathway_id: id };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway',
    config: { access: 'read' },
    schema: {
      summary: 'Pathways, newest first',
      description:
        'Large graphs, and with `graphs=false` all, are left out and named in `omitted`. X-Total-Count is the total.',
      querystring: PathwayQuery,
      response: { 200: PathwayList },
    },
    handler: async (request, reply) => {
      const { graphs = true, limit = 500, offset = 0 } = request.query;
      const orgId = orgOf(request);
      const { ids, total } = await pageOfPathways(db, orgId, { limit, offset });
      reply.header(totalHeader, total);
      const lines = graphs ? null : await pathwayLines(db, ids);
      return readPage(ids, { description: null, nodes: [], edges: [] }, async (id, share) => {
        const found = lines ? lines.get(id) : await listedPathway(db, orgId, id, share);
        return found && { item: pathwayView(found.row), cut: found.cut };
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway/:id',
    config: { access: 'read', errors: ['PATHWAY_NOT_FOUND'] },
    schema: { summary: 'One pathway', params: PathwayPath, response: { 200: PathwaySchema } },
    handler: async (request) => pathwayView(await requirePathway(db, orgOf(request), request.params.id)),
  });

  app.route({
    method: 'POST',
    url: '/v1/pathway/:id',
    config: {
      access: 'member',
      resumable: true,
      errors: ['INVALID_GRAPH', 'TARGET_NOT_ALLOWED', 'PATHWAY_NOT_FOUND', 'GRAPH_CHANGED', 'QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Update a pathway’s live graph',
      params: PathwayPath,
      body: PathwayUpdate,
      response: { 200: PathwayUpdated },
    },
    handler: async (request) => {
      const row = await updateGraph(
        services,
        orgOf(request),
        request.params.id,
        request.body,
        actorOf(request),
      );
      const { pathway_id, name, description, nodes, edges } = pathwayView(row);
      return {
        status: 'success' as const,
        message: 'Pathway updated',
        pathway_data: { pathway_id, name, description, nodes, edges },
        warnings: request.body.nodes ? await authorNotes(db, row.org_id, row) : [],
      };
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/pathway/:id',
    config: { access: 'member', errors: ['PATHWAY_NOT_FOUND', 'PATHWAY_IN_USE'] },
    schema: { summary: 'Delete a pathway', params: PathwayPath, response: { 200: PathwayCreated } },
    handler: async (request) => {
      const { id } = request.params;
      await services.catalogue.change(async (trx, altered) => {
        await requirePathway(trx, orgOf(request), id);
        const change = { orgId: orgOf(request), area: 'pathways', subject: id, action: 'delete' } as const;
        await recordChange(trx, services.clock, actorOf(request), change);
        await removePathway(services.catalogue, trx, altered, id, isoTime(services.clock));
      });
      return { status: 'success' as const, pathway_id: id };
    },
  });
}

/** @throws ApiError PATHWAY_IN_USE */
async function removePathway(
  catalogue: Catalogue,
  db: Db,
  altered: Altered,
  id: string,
  now: string,
): Promise<void> {
  const phone_numbers = await numbersUsing(db, id);
  const others = await catalogue.usersOf(db, { kind: 'pathway', id });
  if (phone_numbers.length + others.count > 0) {
    throw ApiError.of('PATHWAY_IN_USE', { phone_numbers, ...others.ids });
  }
  await dropReferences(db, id, altered.pathways);
  await dropPending(db, 'pathway', id);
  await catalogue.removed(db, altered, { kind: 'pathway', id }, now);
  await deletePathway(db, id);
  altered.pathways.add(id);
}

async function updateGraph(
  services: PathwayDeps,
  orgId: string,
  id: string,
  body: PathwayUpdate,
  by: Actor,
): Promise<PathwayRow> {
  const { name, description, nodes, edges, expected_hash } = body;
  if ((nodes === undefined) !== (edges === undefined)) {
    throw ApiError.invalid(nodes ? '/edges' : '/nodes', 'nodes and edges must be sent together');
  }
  const graph = nodes && edges && acceptGraph(nodes, edges, services.allowedTargets);
  return services.catalogue.change(async (db, altered) => {
    const stored = await requirePathway(db, orgId, id);
    requireHash(stored, expected_hash);
    if (graph) await services.quotas.graphRoom(db, orgId, graphBytes(graph) - graphBytes(stored));
    await updatePathway(db, id, {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...graph,
      updated_at: isoTime(services.clock),
    });
    altered.pathways.add(id);
    const change = { orgId, area: 'pathways', subject: id, action: 'update' } as const;
    await recordChange(db, services.clock, by, { ...change, fields: writtenFields(body) });
    if (graph) {
      await setReferences(db, orgId, graphSource(id, 0), transferReferences(graph), altered.pathways);
    }
    return requirePathway(db, orgId, id);
  });
}

function writtenFields({ expected_hash: _, ...written }: PathwayUpdate): string[] {
  return Object.keys(written).sort();
}
