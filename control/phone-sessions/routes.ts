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
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import type { PhoneSessionRow } from '../db/index.ts';
import { type App, keepAnswer, orgOf } from '../http/index.ts';
import { findNumber } from '../numbers/index.ts';
import { isoTime } from '../organizations/index.ts';
import type { PhoneSessionDeps } from './deps.ts';
import { credentialsOf, stateOf, viewOf } from './rules.ts';
import {
  insertSession,
  nextGeneration,
  pageOfSessions,
  requireSession,
  revokeSession,
  sessionRoom,
} from './store.ts';

const defaultPage = 100;

export function phoneSessionRoutes(app: App, services: PhoneSessionDeps): void {
  const { catalogue, clock, database, edges, quotas, secrets } = services;
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
      errors: ['NUMBER_NOT_FOUND', 'QUOTA_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    },
    schema: {
      summary: 'Create credentials with which a browser calls a number’s agent',
      description: 'The password is in this response only.',
      body: PhoneSessionCreate,
      response: { 200: PhoneSessionMade },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const { phone_number, caller, purpose, calls, expires_in_seconds } = withDefaults(request.body);
      return catalogue.change(async (trx, altered) => {
        const number = await findNumber(trx, orgId, toE164(phone_number) ?? phone_number);
        if (!number) throw ApiError.of('NUMBER_NOT_FOUND', { path: '/phone_number' });
        const edge = edges.leastLoadedForBrowsers();
        await quotas.counting('phone_sessions', () => sessionRoom(trx, clock, orgId));
        const now = clock.now();
        const row: PhoneSessionRow = {
          id: newId(),
          org_id: orgId,
          edge_id: edge.edgeId,
          number: number.number,
          caller,
          purpose,
          calls,
          created_at: new Date(now).toISOString(),
          expires_at: new Date(now + expires_in_seconds * 1000).toISOString(),
          revoked_at: null,
        };
        const { generation, replaced } = await nextGeneration(trx, clock, orgId);
        if (replaced) altered.organizations.add(orgId);
        await insertSession(trx, row);
        await recordChange(trx, clock, actorOf(request), { ...changeOf(row), action: 'create' });
        const credentials = credentialsOf(row, generation, edge, (input) => secrets.derive(input));
        return keepAnswer(trx, request, plain({ phone_session: view(row), credentials }));
      });
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

function changeOf({ id, org_id }: PhoneSessionRow) {
  return { orgId: org_id, area: 'phone_sessions', subject: id };
}
