/** /v1/phone-sessions: credentials with which a browser calls a number's agent (contract 18). */
import { plain } from '#shared/api/common.ts';
import {
  PhoneSessionCreate,
  PhoneSessionList,
  PhoneSessionMade,
  PhoneSessionOne,
  PhoneSessionPath,
  PhoneSessionQuery,
  withDefaults,
} from '#shared/api/phone-sessions.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import type { PhoneSessionRow } from '../db/index.ts';
import { type App, keepAnswer, orgOf } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { createSession } from './create.ts';
import type { PhoneSessionDeps } from './deps.ts';
import { changeOf, stateOf, viewOf } from './rules.ts';
import { pageOfSessions, requireSession, revokeSession } from './store.ts';
import { findTarget } from './targets.ts';

const defaultPage = 100;

export function phoneSessionRoutes(app: App, services: PhoneSessionDeps): void {
  const { allowedTargets, catalogue, clock, database } = services;
  const { db } = database;
  const view = (row: PhoneSessionRow) => viewOf(row, isoTime(clock));

  app.route({
    method: 'GET',
    url: '/v1/phone-sessions',
    config: { access: 'read' },
    schema: {
      summary: 'Phone sessions of the organization, newest first',
      description: 'Those that ended are listed for a day.',
      querystring: PhoneSessionQuery,
      response: { 200: PhoneSessionList },
    },
    handler: async (request) => {
      const { limit = defaultPage, offset = 0, state } = request.query;
      const { rows, total } = await pageOfSessions(db, clock, orgOf(request), { limit, offset, state });
      return plain({ phone_sessions: rows.map(view), total_count: total });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/phone-sessions/:id',
    config: { access: 'read', errors: ['PHONE_SESSION_NOT_FOUND'] },
    schema: { summary: 'One phone session', params: PhoneSessionPath, response: { 200: PhoneSessionOne } },
    handler: async (request) =>
      plain({ phone_session: view(await requireSession(db, orgOf(request), request.params.id)) }),
  });

  app.route({
    method: 'POST',
    url: '/v1/phone-sessions',
    config: {
      access: 'member',
      atomic: true,
      limits: [{ scope: 'new_phone_sessions', limit: 60, windowSeconds: 60 }],
      errors: [
        'AGENT_SOURCE_CONFLICT',
        'TARGET_NOT_ALLOWED',
        'NUMBER_NOT_FOUND',
        'NO_OUTBOUND_ROUTE',
        'PATHWAY_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'QUOTA_EXCEEDED',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Create credentials with which a browser calls an agent, or a party over a trunk',
      description:
        'Give phone_number (its agent is called, or `to` over its trunk), pathway_id or persona_id. The password is in this response only.',
      body: PhoneSessionCreate,
      response: { 200: PhoneSessionMade },
    },
    handler: async (request) => {
      const { caller, purpose, calls, expires_in_seconds, ...order } = withDefaults(request.body);
      const orgId = orgOf(request);
      const target = await findTarget(db, orgId, { ...order, caller }, allowedTargets);
      return createSession(
        services,
        { orgId, target, caller, purpose, calls, expiresInS: expires_in_seconds, actor: actorOf(request) },
        async (trx, { row, credentials }) =>
          keepAnswer(trx, request, plain({ phone_session: view(row), credentials })),
      );
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/phone-sessions/:id',
    config: { access: 'member', errors: ['PHONE_SESSION_NOT_FOUND', 'PHONE_SESSION_ENDED'] },
    schema: {
      summary: 'Revoke a phone session: it begins no more calls',
      description: 'Calls that are up go on; POST /v1/calls/{call_id}/stop ends them.',
      params: PhoneSessionPath,
      response: { 200: PhoneSessionOne },
    },
    handler: (request) =>
      catalogue.change(async (trx, altered) => {
        const orgId = orgOf(request);
        const row = await requireSession(trx, orgId, request.params.id);
        if (stateOf(row, isoTime(clock)) !== 'open') throw ApiError.of('PHONE_SESSION_ENDED');
        const revoked_at = await revokeSession(trx, clock, row);
        altered.organizations.add(orgId);
        await recordChange(trx, clock, actorOf(request), { ...changeOf(row), action: 'revoke' });
        return plain({ phone_session: view({ ...row, revoked_at }) });
      }),
  });
}
