/** /v1/admin/edges and /v1/admin/proxies: the operator's work on edges (contract 14.4). */
import { plain } from '#shared/api/common.ts';
import {
  EdgeList,
  EdgeOne,
  EdgePatch,
  EdgePath,
  EdgeRemoved,
  EdgesQuery,
  Proxies,
  ProxiesBody,
} from '#shared/api/edges.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf } from '../audit/index.ts';
import type { EdgeRow } from '../db/index.ts';
import { type App, countRows } from '../http/index.ts';
import type { EdgesDeps } from './deps.ts';
import { changeEdge, findEdge, listEdges, listProxies, removeEdge, setProxies } from './store.ts';
import { edgeView } from './views.ts';

const defaultPage = 100;

export function edgeRoutes(app: App, services: EdgesDeps): void {
  const { db } = services.database;
  const operator = { access: 'operator' } as const;
  const view = (row: EdgeRow) =>
    edgeView(
      row,
      services.edges.all.find(({ edgeId }) => edgeId === row.id),
    );

  app.route({
    method: 'GET',
    url: '/v1/admin/edges',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED'] },
    schema: {
      summary: 'Edges with their calls, by id',
      description: 'Every edge that ever connected. A page shorter than limit is the last.',
      querystring: EdgesQuery,
      response: { 200: EdgeList },
    },
    handler: async ({ query: { limit = defaultPage, offset = 0 } }) => {
      const rows = await listEdges(db, { limit, offset });
      return plain({ edges: rows.map(view), total_count: await countRows(db.selectFrom('edges')) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/admin/edges/:id',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED', 'EDGE_NOT_FOUND'] },
    schema: { summary: 'One edge', params: EdgePath, response: { 200: EdgeOne } },
    handler: async (request) => plain({ edge: view(required(await findEdge(db, request.params.id))) }),
  });

  app.route({
    method: 'PATCH',
    url: '/v1/admin/edges/:id',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED', 'EDGE_NOT_FOUND'] },
    schema: {
      summary: 'Drain an edge or take it back into service; set its weight and region',
      description:
        'A draining edge rejects new calls with 503 and keeps the ones it has. It drains until draining is set to false, over its restarts, too.',
      params: EdgePath,
      body: EdgePatch,
      response: { 200: EdgeOne },
    },
    handler: async (request) => {
      const row = await changeEdge(services, request.params.id, request.body, actorOf(request));
      return plain({ edge: view(required(row)) });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/admin/edges/:id',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED', 'EDGE_NOT_FOUND', 'EDGE_CONNECTED'] },
    schema: {
      summary: 'Remove an edge that is gone for good',
      description:
        'It must have been disconnected for 30 s. Its running calls are closed as edge_lost, and its work and share of limits go to other edges at once. Revoke its token too: an edge that connects again is listed again.',
      params: EdgePath,
      response: { 200: EdgeRemoved },
    },
    handler: async (request) => {
      const { id } = request.params;
      const isConnected = services.edges.has(id);
      if (!(await removeEdge(services, id, actorOf(request), isConnected)))
        throw ApiError.of('EDGE_NOT_FOUND');
      services.fleet.removed(id);
      return plain({ id });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/admin/proxies',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED'] },
    schema: {
      summary: 'Addresses of the SIP proxies that may name the source of a request',
      response: { 200: Proxies },
    },
    handler: async () => plain({ addresses: await listProxies(db) }),
  });

  app.route({
    method: 'PUT',
    url: '/v1/admin/proxies',
    config: { ...operator, errors: ['OPERATOR_KEY_REQUIRED'] },
    schema: {
      summary: 'Replace that list',
      description: 'Edges believe these hosts who a caller is. List only hosts that run nothing else.',
      body: ProxiesBody,
      response: { 200: Proxies },
    },
    handler: async (request) =>
      plain({ addresses: await setProxies(services, request.body.addresses, actorOf(request)) }),
  });
}

function required(row: EdgeRow | undefined): EdgeRow {
  if (!row) throw ApiError.of('EDGE_NOT_FOUND');
  return row;
}
