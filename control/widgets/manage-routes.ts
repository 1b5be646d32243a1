/** /v1/widget: creates, lists, reads, changes and deletes widgets. */
import {
  WidgetCreate,
  WidgetDeleted,
  WidgetList,
  WidgetOne,
  WidgetPage,
  WidgetPath,
  WidgetUpdate,
  widgetAnswer,
} from '#shared/api/widgets.ts';
import { newId } from '#shared/ids.ts';
import { actorOf, changedFields, recordChange } from '../audit/index.ts';
import { toJson, type WidgetRow } from '../db/index.ts';
import { type App, keepAnswer, orgOf } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { agentErrors, checkAgent } from './agent-check.ts';
import type { WidgetDeps } from './deps.ts';
import { acceptConfig, changedSource, checkSource, requireIds } from './rules.ts';
import type { WidgetParts } from './start.ts';
import { insertWidget, listWidgets, updateWidget } from './store.ts';
import { configOf, widgetLine, widgetView } from './views.ts';
import { requireWidget } from './visitors.ts';

export function widgetManageRoutes(app: App, services: WidgetDeps, { threads }: WidgetParts): void {
  const { clock, database } = services;
  const { db } = database;

  app.route({
    method: 'POST',
    url: '/v1/widget',
    config: { access: 'member', atomic: true, errors: [...agentErrors, 'QUOTA_EXCEEDED'] },
    schema: { summary: 'Create a widget', body: WidgetCreate, response: { 200: WidgetOne } },
    handler: async (request) => {
      const { body } = request;
      checkSource(body);
      const config = acceptConfig(body.config);
      const now = isoTime(clock);
      const { name, pathway_id = null, persona_id = null, pathway_version = 'production' } = body;
      const row = {
        id: newId(),
        org_id: orgOf(request),
        name,
        pathway_id,
        persona_id,
        pathway_version: pathway_id === null ? null : String(pathway_version),
        config: toJson(config),
        created_at: now,
        updated_at: now,
      };
      return db.transaction().execute(async (trx) => {
        await services.quotas.room(trx, 'widgets', row.org_id);
        await checkAgent(trx, row);
        await insertWidget(trx, row);
        await recordChange(trx, clock, actorOf(request), { ...subjectOf(row), action: 'create' });
        return keepAnswer(trx, request, widgetAnswer({ widget: widgetView(row) }));
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/widget',
    config: { access: 'read' },
    schema: {
      summary: 'The widgets of the organization, newest first, without their config',
      querystring: WidgetPage,
      response: { 200: WidgetList },
    },
    handler: async (request) => {
      const { limit = 20, page = 1 } = request.query;
      const found = await listWidgets(db, orgOf(request), { offset: (page - 1) * limit, limit });
      return widgetAnswer({ widgets: found.widgets.map(widgetLine), total: found.total });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/widget/:id',
    config: { access: 'read', errors: ['WIDGET_NOT_FOUND'] },
    schema: { summary: 'One widget', params: WidgetPath, response: { 200: WidgetOne } },
    handler: async (request) => {
      requireIds(request.params);
      return widgetAnswer({ widget: widgetView(await requireWidget(db, request, request.params.id)) });
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/widget/:id',
    config: { access: 'member', errors: ['WIDGET_NOT_FOUND', ...agentErrors] },
    schema: {
      summary: 'Change a widget; config is merged by key',
      description: 'Open threads keep the agent they started with.',
      params: WidgetPath,
      body: WidgetUpdate,
      response: { 200: WidgetOne },
    },
    handler: async (request) => {
      const { body, params } = request;
      requireIds(params);
      return db.transaction().execute(async (trx) => {
        const stored = await requireWidget(trx, request, params.id);
        const change = {
          ...(body.name !== undefined && { name: body.name }),
          ...changedSource(stored, body),
          ...(body.config && { config: toJson(acceptConfig(body.config, configOf(stored))) }),
          updated_at: isoTime(clock),
        };
        const row = { ...stored, ...change };
        if (row.pathway_id !== stored.pathway_id || 'pathway_version' in change || 'persona_id' in change) {
          await checkAgent(trx, row);
        }
        await updateWidget(trx, row.id, change);
        const fields = changedFields(stored, row);
        await recordChange(trx, clock, actorOf(request), { ...subjectOf(row), action: 'update', fields });
        return widgetAnswer({ widget: widgetView(row) });
      });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/widget/:id',
    config: { access: 'member', errors: ['WIDGET_NOT_FOUND'] },
    schema: {
      summary: 'Delete a widget with its threads',
      description: 'Open threads end: their event streams close, and visitors’ tokens become invalid.',
      params: WidgetPath,
      response: { 200: WidgetDeleted },
    },
    handler: async (request) => {
      requireIds(request.params);
      const widget = await requireWidget(db, request, request.params.id);
      await threads.removeWidget(widget, (trx) =>
        recordChange(trx, clock, actorOf(request), { ...subjectOf(widget), action: 'delete' }),
      );
      return widgetAnswer({ id: widget.id, deleted: true as const });
    },
  });
}

function subjectOf({ id, org_id }: Pick<WidgetRow, 'id' | 'org_id'>) {
  return { orgId: org_id, area: 'widgets', subject: id };
}
