/** /v2/tools: tools of agents (contract 8.1 and 8.2). */
import {
  ToolChanged,
  ToolCreate,
  ToolDeleted,
  ToolList,
  ToolLogQuery,
  ToolLogs,
  ToolPath,
  ToolQuery,
  ToolRead,
  ToolRunOrder,
  ToolRunResult,
  ToolUpdate,
} from '#shared/api/tools.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { actorOf, changedFields, recordChange } from '../audit/index.ts';
import type { Db, ToolRow } from '../db/index.ts';
import { type App, keepAnswer, orgOf, readPage, totalHeader, untilGone } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import type { ToolDeps } from './deps.ts';
import { findActiveResource } from './resources-store.ts';
import { checkTool, mergedDraft, newDraft, type ToolDraft } from './rules.ts';
import { listRuns } from './runs-store.ts';
import {
  deleteTool,
  draftOf,
  findTool,
  insertTool,
  listedTool,
  listTools,
  toolIdOf,
  updateTool,
} from './store.ts';
import type { Tools } from './tools.ts';
import { markUsers } from './users-store.ts';
import { logView, pagination, toolView } from './views.ts';

const written = [
  'INTEGRATION_NOT_FOUND',
  'ACTION_NOT_FOUND',
  'INVALID_INPUT_SCHEMA',
  'UNKNOWN_TEMPLATE_REFERENCE',
  'TARGET_NOT_ALLOWED',
  'RESOURCE_NOT_FOUND',
] as const;

export function toolRoutes(app: App, services: ToolDeps, tools: Tools): void {
  writeRoutes(app, services);
  readRoutes(app, services);
  runRoute(app, services, tools);
}

function writeRoutes(app: App, services: ToolDeps): void {
  app.route({
    method: 'POST',
    url: '/v2/tools',
    config: {
      access: 'member',
      atomic: true,
      errors: [...written, 'QUOTA_EXCEEDED'],
      errorStatuses: { INTEGRATION_NOT_FOUND: 400 },
    },
    schema: { summary: 'Create a tool', body: ToolCreate, response: { 200: ToolChanged } },
    handler: async (request) => {
      const draft = newDraft(request.body);
      checkTool(draft, services.allowedTargets);
      const orgId = orgOf(request);
      const id = newId();
      return services.database.db.transaction().execute(async (db) => {
        await services.quotas.room(db, 'tools', orgId);
        await requireResource(db, orgId, draft);
        await insertTool(db, services.secrets, { id, orgId, now: isoTime(services.clock) }, draft);
        const change = { orgId, area: 'tools', subject: toolIdOf(id), action: 'create' };
        await recordChange(db, services.clock, actorOf(request), change);
        return keepAnswer(db, request, done({ id: toolIdOf(id) }));
      });
    },
  });

  app.route({
    method: 'POST',
    url: '/v2/tools/:id',
    config: {
      access: 'member',
      resumable: true,
      errors: ['TOOL_NOT_FOUND', ...written],
      errorStatuses: { INTEGRATION_NOT_FOUND: 400 },
    },
    schema: {
      summary: 'Update a tool; the merged tool is checked',
      params: ToolPath,
      body: ToolUpdate,
      response: { 200: ToolChanged },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const id = await services.catalogue.change(async (db, altered) => {
        const row = await requireTool(db, orgId, request.params.id);
        const before = draftOf(services.secrets, row);
        const draft = mergedDraft(before, request.body);
        checkTool(draft, services.allowedTargets);
        await requireResource(db, orgId, draft);
        await updateTool(db, services.secrets, row.id, draft, isoTime(services.clock));
        await markUsers(db, orgId, row.id, altered);
        const fields = changedFields(comparable(before), comparable(draft));
        const change = { orgId, area: 'tools', subject: toolIdOf(row.id), action: 'update', fields };
        await recordChange(db, services.clock, actorOf(request), change);
        return row.id;
      });
      return done({ id: toolIdOf(id) });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v2/tools/:id',
    config: { access: 'member', errors: ['TOOL_NOT_FOUND'] },
    schema: {
      summary: 'Delete a tool; calls in progress lose it',
      params: ToolPath,
      response: { 200: ToolDeleted },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const id = await services.catalogue.change(async (db, altered) => {
        const row = await requireTool(db, orgId, request.params.id);
        await deleteTool(db, row.id);
        await markUsers(db, orgId, row.id, altered);
        const change = { orgId, area: 'tools', subject: toolIdOf(row.id), action: 'delete' };
        await recordChange(db, services.clock, actorOf(request), change);
        return row.id;
      });
      return done({ id: toolIdOf(id), deleted: true as const });
    },
  });
}

const omittable = {
  description: '',
  input_schema: null,
  body: null,
  speech: null,
  response_data: [],
  label: null,
} as const;

function readRoutes(app: App, services: ToolDeps): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v2/tools',
    config: { access: 'read' },
    schema: {
      summary: 'The tools of the organization',
      description: 'Large members of large tools are omitted and listed in `omitted`.',
      querystring: ToolQuery,
      response: { 200: ToolList },
    },
    handler: async (request, reply) => {
      const { page = 1, limit = 50, search = null, orderDirection = 'desc' } = request.query;
      const order = { page, limit, search, direction: orderDirection };
      const orgId = orgOf(request);
      const { ids, total } = await listTools(db, orgId, order);
      reply.header(totalHeader, total);
      return done({
        tools: await readPage(ids, omittable, async (id, share) => {
          const found = await listedTool(db, orgId, id, share);
          return found && { item: toolView(services.secrets, found.row), cut: found.cut };
        }),
        pagination: pagination(page, limit, total),
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/v2/tools/:id',
    config: { access: 'read', errors: ['TOOL_NOT_FOUND'] },
    schema: { summary: 'One tool', params: ToolPath, response: { 200: ToolRead } },
    handler: async (request) =>
      done(toolView(services.secrets, await requireTool(db, orgOf(request), request.params.id))),
  });

  app.route({
    method: 'GET',
    url: '/v2/tools/:id/logs',
    config: { access: 'read', errors: ['TOOL_NOT_FOUND'] },
    schema: {
      summary: 'Results of a tool’s runs, newest first, without request or response data',
      params: ToolPath,
      querystring: ToolLogQuery,
      response: { 200: ToolLogs },
    },
    handler: async (request, reply) => {
      const tool = await requireTool(db, orgOf(request), request.params.id);
      const { page = 1, limit = 50 } = request.query;
      const { rows, total } = await listRuns(db, tool.id, page, limit);
      reply.header(totalHeader, total);
      return done({ logs: rows.map(logView), pagination: pagination(page, limit, total) });
    },
  });
}

function runRoute(app: App, services: ToolDeps, tools: Tools): void {
  app.route({
    method: 'POST',
    url: '/v2/tools/:id/run',
    config: { access: 'member', errors: ['TOOL_NOT_FOUND', 'RESOURCE_NOT_FOUND'] },
    schema: {
      summary: 'Run a tool; if the target fails, the response is 200 with success false',
      params: ToolPath,
      body: ToolRunOrder,
      response: { 200: ToolRunResult },
    },
    handler: async (request) => {
      const tool = await requireTool(services.database.db, orgOf(request), request.params.id);
      const { inputs = {}, variables = {} } = request.body;
      const order = { inputs, variables, source: 'api' as const, conversationId: null };
      return done(await untilGone(request, (signal) => tools.run(tool, { ...order, signal })));
    },
  });
}

async function requireTool(db: Db, orgId: string, id: string): Promise<ToolRow> {
  const row = await findTool(db, orgId, id);
  if (!row) throw ApiError.of('TOOL_NOT_FOUND');
  return row;
}

async function requireResource(
  db: Db,
  orgId: string,
  { resource_id, integration }: ToolDraft,
): Promise<void> {
  if (resource_id === null) return;
  const found = await findActiveResource(db, orgId, integration, resource_id);
  if (!found) throw ApiError.of('RESOURCE_NOT_FOUND', { path: '/resource_id' });
}

/** With one text per member, so that tools can be compared by member. */
function comparable(draft: ToolDraft): Record<string, string> {
  return Object.fromEntries(Object.entries(draft).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Success body of the tools group (contract 1.2). */
function done<T>(data: T): { status: 'success'; data: T; errors: null } {
  return { status: 'success', data, errors: null };
}
