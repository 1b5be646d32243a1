/** /v1/agent-testing/tornado (contract 6.8). */
import {
  ActiveQuery,
  ActiveTornado,
  TornadoAccept,
  TornadoAccepted,
  TornadoAnswer,
  TornadoCancelled,
  TornadoList,
  TornadoPath,
  TornadoQuery,
  TornadoStart,
  TornadoStarted,
  type TornadoStatus,
} from '#shared/api/agent-testing/tornado.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { NoMembers } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf } from '../../audit/index.ts';
import { type App, keepAnswer, orgOf } from '../../http/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { deleteSession, requireSession } from '../records/tornado-sessions.ts';
import { readSubject } from '../scenarios/rules.ts';
import { acceptFixes } from './accept.ts';
import type { Tornado } from './start.ts';
import { findActive, listIterations, listSessions } from './store.ts';
import { activeView, statusView } from './views.ts';

const base = '/v1/agent-testing/tornado';

export function tornadoRoutes(app: App, services: TestingDeps, tornado: Tornado): void {
  startRoute(app, tornado);
  readRoutes(app, services);
  acceptRoute(app, services);
  deleteRoute(app, services);
  app.route({
    method: 'POST',
    url: `${base}/:id/cancel`,
    config: { access: 'member', errors: ['TORNADO_NOT_FOUND', 'TORNADO_NOT_ACTIVE'] },
    schema: {
      summary: 'Cancel a tornado session',
      params: TornadoPath,
      body: NoMembers,
      response: { 200: TornadoCancelled },
    },
    handler: async (request) => {
      await tornado.cancel(orgOf(request), request.params.id, actorOf(request));
      return testing({ cancelled: true as const });
    },
  });
}

function acceptRoute(app: App, services: TestingDeps): void {
  app.route({
    method: 'POST',
    url: `${base}/:id/accept`,
    config: {
      access: 'member',
      atomic: true,
      errors: [
        'TORNADO_NOT_FOUND',
        'NOT_ENDED',
        'TORNADO_BASE_CHANGED',
        'PATHWAY_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'INVALID_GRAPH',
        'TARGET_NOT_ALLOWED',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Create a version from the base and some of the fixes of an ended tornado session',
      params: TornadoPath,
      body: TornadoAccept,
      response: { 200: TornadoAccepted },
    },
    handler: (request) =>
      services.catalogue.change(async (trx, altered) => {
        const asked = { orgId: orgOf(request), sessionId: request.params.id, body: request.body };
        const made = await acceptFixes(services, trx, altered, actorOf(request), asked);
        return keepAnswer(trx, request, testing(made));
      }),
  });
}

function deleteRoute(app: App, services: TestingDeps): void {
  const { db } = services.database;
  app.route({
    method: 'DELETE',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['TORNADO_NOT_FOUND', 'NOT_ENDED'] },
    schema: {
      summary: 'Delete a tornado session that has ended; the versions and batches that it created stay',
      params: TornadoPath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const { id } = request.params;
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        await deleteSession(trx, orgId, id);
        await recordTestingChange(trx, services, actorOf(request), {
          orgId,
          subject: id,
          action: 'tornado_delete',
        });
      });
      return testing({ deleted: true as const });
    },
  });
}

function startRoute(app: App, tornado: Tornado): void {
  app.route({
    method: 'POST',
    url: `${base}/start`,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_tornado_start', limit: 10, windowSeconds: 60 }],
      errors: [
        'NO_SCENARIOS',
        'TOO_MANY_SCENARIOS',
        'TARGET_NOT_ALLOWED',
        'PATHWAY_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'SCENARIO_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'TORNADO_ALREADY_ACTIVE',
      ],
    },
    schema: {
      summary: 'Run scenarios, fix a fork of the pathway, and run again',
      body: TornadoStart,
      response: { 200: TornadoStarted },
    },
    handler: async (request) => {
      const session = await tornado.start(orgOf(request), request.body, actorOf(request));
      const { id, created_at, max_iterations, pathway_id, timeout_ms } = session;
      const status = 'RUNNING' as const;
      return testing({ session_id: id, status, pathway_id, max_iterations, timeout_ms, created_at });
    },
  });
}

function readRoutes(app: App, { clock, database: { db } }: TestingDeps): void {
  app.route({
    method: 'GET',
    url: base,
    config: { access: 'read' },
    schema: {
      summary: 'Tornado sessions, newest first, without their iterations',
      querystring: TornadoQuery,
      response: { 200: TornadoList },
    },
    handler: async (request) => {
      const { limit = 50, offset = 0, pathway_id } = request.query;
      const { rows, total } = await listSessions(db, orgOf(request), pathway_id, { limit, offset });
      const sessions = rows.map((row) => ({
        ...activeView(row),
        status: row.status as TornadoStatus,
        forked_version: row.forked_version,
        completed_at: row.completed_at,
      }));
      return testing({ sessions, total_count: total });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/active`,
    config: { access: 'read', errors: ['NO_ACTIVE_SESSION'] },
    schema: {
      summary: 'The running session of a pathway',
      querystring: ActiveQuery,
      response: { 200: ActiveTornado },
    },
    handler: async (request) => {
      const { id, kind } = readSubject(request.query, '?');
      const session = await findActive(db, orgOf(request), `${kind}_id`, id);
      if (!session) throw ApiError.of('NO_ACTIVE_SESSION');
      return testing(activeView(session));
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/:id/status`,
    config: { access: 'read', errors: ['TORNADO_NOT_FOUND'] },
    schema: { summary: 'Status of a tornado session', params: TornadoPath, response: { 200: TornadoAnswer } },
    handler: async (request) => {
      const session = await requireSession(db, orgOf(request), request.params.id);
      return testing(statusView(session, await listIterations(db, session.id), clock.now()));
    },
  });
}
