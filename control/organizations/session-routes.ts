/** /v1/session and /v1/sessions: browsers sign in with a key, and are listed and ended (contract 14.6). */
import type { FastifyRequest } from 'fastify';
import { NoMembers, plain } from '#shared/api/common.ts';
import {
  type CurrentSession,
  CurrentSessionAnswer,
  SessionEnded,
  SessionList,
  SessionPath,
  SessionsQuery,
  type SessionView,
} from '#shared/api/keys.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import type { ApiKeyRow, Db, SessionRow } from '../db/index.ts';
import type { App, Caller } from '../http/index.ts';
import type { OrganizationDeps } from './deps.ts';
import { csrfTokenOf, idleUntil, sessionCookie, sessionTokenOf } from './session-rules.ts';
import {
  beginSession,
  endSession,
  findOpenSession,
  findSession,
  type KnownSession,
  listSessions,
  type SessionOwner,
} from './session-store.ts';
import { findOrganization } from './store.ts';

const defaultPage = 100;
/** Longer ones are cut: it is shown, and nothing depends on it. */
const mostOfUserAgent = 300;

export function sessionRoutes(app: App, { accessMetrics, clock, database }: OrganizationDeps): void {
  const { db } = database;

  app.route({
    method: 'POST',
    url: '/v1/session',
    config: {
      access: 'any_key',
      keyItself: true,
      limits: [{ scope: 'sign_ins', limit: 60, windowSeconds: 60 }],
    },
    schema: {
      summary: 'Sign a browser in with a key: the answer sets the cookie of a session',
      description:
        'Requests with the cookie may do what the key may. Those that change something need the header X-CSRF-Token. A session that the browser had before ends.',
      body: NoMembers,
      response: { 200: CurrentSessionAnswer },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const before = sessionTokenOf(request);
      const { token, replaced, answer } = await db.transaction().execute(async (trx) => {
        const former = before === null ? null : await findSession(trx, clock, before);
        if (former?.inForce) {
          await endSession(trx, clock, former.session.id);
          await record(trx, request, former.session, 'end');
        }
        const made = await beginSession(trx, clock, {
          key_id: caller.keyId,
          org_id: caller.kind === 'customer' ? caller.orgId : null,
          address: request.ip,
          user_agent: userAgentOf(request),
        });
        const found = await findSession(trx, clock, made.token);
        if (!found) throw new Error('The session that was begun is missing');
        await record(trx, request, found.session, 'begin');
        return { ...made, answer: await view(trx, caller, found.session, made.token) };
      });
      accessMetrics.session('begun');
      accessMetrics.session('replaced', replaced);
      reply.header('set-cookie', sessionCookie(request, token));
      return plain(answer);
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/session',
    config: { access: 'any_key' },
    schema: {
      summary: 'Who is signed in, with which role, and the CSRF token',
      description: 'With a key instead of a session, session and csrf_token are null.',
      response: { 200: CurrentSessionAnswer },
    },
    handler: async (request) => {
      const caller = callerOf(request);
      const token = caller.sessionId === null ? null : sessionTokenOf(request);
      const found = token === null ? null : await findSession(db, clock, token);
      return plain(await view(db, caller, found?.session ?? null, token));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/session',
    config: { access: 'any_key', errors: ['SESSION_NOT_FOUND'] },
    schema: { summary: 'Sign out: the session of the cookie ends', response: { 200: SessionEnded } },
    handler: async (request, reply) => {
      const { sessionId } = callerOf(request);
      if (sessionId === null) throw ApiError.of('SESSION_NOT_FOUND');
      await end(request, sessionId);
      accessMetrics.session('signed_out');
      reply.header('set-cookie', sessionCookie(request, null));
      return plain({ id: sessionId });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sessions',
    config: { access: 'any_key' },
    schema: {
      summary: 'Open sessions, newest first',
      description:
        'Those of the request’s key; for admins those of their organization, for operators those of all operators.',
      querystring: SessionsQuery,
      response: { 200: SessionList },
    },
    handler: async (request) => {
      const caller = callerOf(request);
      const { limit = defaultPage, offset = 0 } = request.query;
      const { rows, total } = await listSessions(db, clock, ownerOf(caller), { limit, offset });
      const sessions = rows.map((row) => ({ ...sessionView(row), current: row.id === caller.sessionId }));
      return plain({ sessions, total_count: total });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/sessions/:id',
    config: { access: 'any_key', errors: ['SESSION_NOT_FOUND'] },
    schema: { summary: 'End a session at once', params: SessionPath, response: { 200: SessionEnded } },
    handler: async (request) => {
      const { id } = request.params;
      await end(request, id);
      accessMetrics.session('revoked');
      return plain({ id });
    },
  });

  /** @throws ApiError SESSION_NOT_FOUND */
  function end(request: FastifyRequest, id: string): Promise<void> {
    return db.transaction().execute(async (trx) => {
      const session = await findOpenSession(trx, clock, ownerOf(callerOf(request)), id);
      if (!session) throw ApiError.of('SESSION_NOT_FOUND');
      await endSession(trx, clock, session.id);
      await record(trx, request, session, 'end');
    });
  }

  function record(trx: Db, request: FastifyRequest, session: SessionRow, action: string): Promise<void> {
    const change = { orgId: session.org_id, area: 'sessions', subject: session.id, action };
    return recordChange(trx, clock, actorOf(request), change);
  }
}

function callerOf({ caller }: Pick<FastifyRequest, 'caller'>): Caller {
  if (!caller) throw new Error('This route is open to keys only');
  return caller;
}

function ownerOf(caller: Caller): SessionOwner {
  if (caller.kind === 'operator') return { operators: true };
  return caller.role === 'admin' ? { orgId: caller.orgId } : { keyId: caller.keyId };
}

function userAgentOf({ headers }: FastifyRequest): string | null {
  return headers['user-agent']?.slice(0, mostOfUserAgent) ?? null;
}

async function view(
  db: Db,
  caller: Caller,
  session: KnownSession | null,
  token: string | null,
): Promise<CurrentSession> {
  const key = await db
    .selectFrom('api_keys')
    .select(['id', 'name', 'prefix'])
    .where('id', '=', caller.keyId)
    .executeTakeFirstOrThrow();
  const organization = caller.kind === 'customer' ? await findOrganization(db, caller.orgId) : null;
  return {
    role: caller.role,
    key: keyView(key),
    organization: organization && {
      id: organization.id,
      name: organization.name,
      sip_enabled: organization.sip_enabled === 1,
    },
    session: session && sessionView(session),
    csrf_token: token === null ? null : csrfTokenOf(token),
  };
}

function keyView({ id, name, prefix }: Pick<ApiKeyRow, 'id' | 'name' | 'prefix'>) {
  return { id, name, begins: prefix };
}

function sessionView(row: KnownSession): SessionView {
  return {
    id: row.id,
    key: keyView({ ...row, id: row.key_id }),
    role: row.kind === 'operator' ? 'operator' : row.role,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
    idle_until: idleUntil(row),
    expires_at: row.expires_at,
    address: row.address,
    user_agent: row.user_agent,
  };
}
