/** Authentication, rate limits, roles and the SIP entitlement: the first checks of contract 1.3. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Role } from '#shared/api/keys.ts';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import { ApiError } from '#shared/errors.ts';
import { storageFault } from '#shared/storage-fault.ts';
import type { Db } from '../db/index.ts';
import {
  type App,
  type Caller,
  type Limit,
  RateLimiter,
  type WindowState,
  type WrongKeys,
} from '../http/index.ts';
import type { SharedCounts } from '../replicas/index.ts';
import type { AccessMetrics } from './access-metrics.ts';
import { keyOfHeader, reaches } from './rules.ts';
import { isCsrfToken, sessionTokenOf } from './session-rules.ts';
import { findSession, noteSessionUse } from './session-store.ts';
import { type FoundKey, findApiKey, noteKeyUse } from './store.ts';

/** Requests of an organization's keys together, in those of one key: it makes as many keys as it wants. */
const mostKeysWorth = 10;

/** Windows of one subject in which a request was counted. */
interface Counted {
  readonly subject: string;
  readonly limits: readonly Limit[];
  readonly moment: number;
  /** Whether it stays counted when the request failed for another reason than a limit. */
  readonly always: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request was counted; null: nowhere. */
    counted: readonly Counted[] | null;
  }
}

export interface GuardOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly wrongKeys: WrongKeys;
  readonly sharedCounts: SharedCounts;
  readonly accessMetrics: AccessMetrics;
  readonly requestsPerMinute: number;
  /** Whether /metrics answers without a key. */
  readonly metricsPublic: boolean;
}

/** Adds the checks to every route except those with access `public` or `edge`. Each route must state its access. */
export function addGuard(app: App, options: GuardOptions): void {
  const limiter = new RateLimiter(options.clock, options.sharedCounts.as('requests'));
  app.decorateRequest('caller', null);
  app.decorateRequest('stillAllowed', null);
  app.decorateRequest('counted', null);
  // A request rejected by any limit counts in none (contract 1.6), and a failed one not in those of its route.
  app.addHook('onSend', async (request, reply) => {
    const isRefusedByLimit = reply.statusCode === 429;
    if (!isRefusedByLimit && !changedNothing(reply)) return;
    for (const { subject, limits, moment, always } of request.counted ?? []) {
      if (isRefusedByLimit || !always) limiter.giveBack(subject, limits, moment);
    }
  });
  requireStatedAccess(app);
  app.addHook('onRequest', async (request, reply) => {
    const { access, admits, openWhenPublicMetrics } = request.routeOptions.config;
    if (request.is404 || access === 'public' || access === 'edge') return;
    if (access === 'operator' && openWhenPublicMetrics && options.metricsPublic) return;
    if (await admits?.(request, reply)) return;
    const caller = await authenticate(options, request);
    request.caller = caller;
    request.stillAllowed = () => isStillAllowed(options, request, caller);
    await limitRequests(limiter, options, caller, request, reply);
    if (caller.sessionId !== null) requireCsrfToken(options, request);
    requireRole(options, caller, access);
    const path = request.routeOptions.url ?? '';
    if (needsSip(path) && caller.kind === 'customer' && !caller.sipEnabled)
      throw ApiError.of('SIP_NOT_ENABLED');
  });
}

/** A route that forgets its role must not be open to all of them. */
export function requireStatedAccess(app: App): void {
  app.addHook('onRoute', ({ config, method, url }) => {
    const name = `${[method].flat().join(', ')} ${url}`;
    if (!config?.access) throw new Error(`${name} does not state its least role`);
  });
}

/** @throws ApiError OPERATOR_KEY_REQUIRED, AUTH_FAILURE, ROLE_TOO_LOW */
function requireRole({ accessMetrics }: GuardOptions, caller: Caller, least: Role | 'any_key'): void {
  if (least === 'any_key') return;
  if (least === 'operator') {
    if (caller.kind !== 'operator') throw ApiError.of('OPERATOR_KEY_REQUIRED');
    return;
  }
  if (caller.kind !== 'customer') throw ApiError.of('AUTH_FAILURE');
  if (reaches(caller.role, least)) return;
  accessMetrics.refused('role');
  const message = `This endpoint needs a key with the role ${least} or higher; the role of this one is ${caller.role}.`;
  throw ApiError.of('ROLE_TOO_LOW', { role: caller.role, least_role: least }, message);
}

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A browser adds the cookie to requests of any page of the same site, and only pages of this origin can read the token.
 * @throws ApiError CSRF_TOKEN_INVALID
 */
function requireCsrfToken({ accessMetrics }: GuardOptions, request: FastifyRequest): void {
  if (reading.has(request.method)) return;
  const token = sessionTokenOf(request);
  if (token !== null && isCsrfToken(request.headers['x-csrf-token'], token)) return;
  accessMetrics.refused('csrf');
  throw ApiError.of('CSRF_TOKEN_INVALID', { path: '@x-csrf-token' });
}

/** Rejected, or answered from an earlier request: it must not use up the organization's limits. */
function changedNothing(reply: FastifyReply): boolean {
  const { statusCode } = reply;
  const isRefused = (statusCode >= 400 && statusCode < 500) || statusCode === 503;
  return isRefused || reply.hasHeader('idempotent-replayed');
}

/** By the key of the header, else by the cookie of a session. */
async function authenticate(options: GuardOptions, request: FastifyRequest): Promise<Caller> {
  const { authorization } = request.headers;
  const { keyItself } = request.routeOptions.config;
  const token = authorization === undefined && !keyItself ? sessionTokenOf(request) : null;
  return token === null ? byKey(options, request) : bySession(options, request, token);
}

async function byKey({ db, clock, wrongKeys }: GuardOptions, request: FastifyRequest): Promise<Caller> {
  const key = keyOfHeader(request.headers.authorization);
  // Looked up each time, so that a key revoked by another process stops working at once.
  const found = key === null ? null : await findApiKey(db, clock, key);
  if (!found) throw await wrongKeys.refusal(request.ip, key);
  await evenOnFullDisk(noteKeyUse(db, clock, found));
  const { id, kind, org_id, prefix, role, sip_enabled } = found;
  return callerOf({ id, kind, org_id, prefix, role }, sip_enabled, null);
}

async function bySession(
  { db, clock, wrongKeys }: GuardOptions,
  request: FastifyRequest,
  token: string,
): Promise<Caller> {
  const found = await findSession(db, clock, token);
  if (!found) throw await wrongKeys.refusal(request.ip, token);
  const { session, inForce, keyLastUsedAt, sipEnabled } = found;
  // A page that stayed open overnight guesses nothing.
  if (!inForce) throw ApiError.of('AUTH_FAILURE');
  await evenOnFullDisk(noteSessionUse(db, clock, session));
  await evenOnFullDisk(noteKeyUse(db, clock, { id: session.key_id, last_used_at: keyLastUsedAt }));
  return callerOf({ ...session, id: session.key_id }, sipEnabled, session.id);
}

/** Whether what a request was allowed with still works; its use is not noted. */
async function isStillAllowed(
  { db, clock }: GuardOptions,
  request: FastifyRequest,
  { sessionId }: Caller,
): Promise<boolean> {
  if (sessionId === null) {
    const key = keyOfHeader(request.headers.authorization);
    return key !== null && (await findApiKey(db, clock, key)) !== null;
  }
  const token = sessionTokenOf(request);
  return token !== null && ((await findSession(db, clock, token))?.inForce ?? false);
}

/** Reads still work when nothing can be stored. */
async function evenOnFullDisk(noting: Promise<void>): Promise<void> {
  try {
    await noting;
  } catch (error) {
    if (storageFault(error) === null) throw error;
  }
}

function callerOf(
  { id: keyId, org_id: orgId, prefix: keyPrefix, role }: Omit<FoundKey, 'last_used_at' | 'sip_enabled'>,
  sipEnabled: boolean,
  sessionId: string | null,
): Caller {
  const key = { keyId, keyPrefix, sessionId };
  if (orgId === null) return { ...key, kind: 'operator', role: 'operator' };
  return { ...key, kind: 'customer', role, orgId, sipEnabled };
}

async function limitRequests(
  limiter: RateLimiter,
  { requestsPerMinute }: GuardOptions,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const perKey = { scope: 'key', limit: requestsPerMinute, windowSeconds: 60 };
  let state = await limiter.take(caller.keyId, [perKey]);
  const counted: Counted[] = [];
  if (!state.refused) {
    counted.push({ subject: caller.keyId, limits: [perKey], moment: state.moment, always: true });
  }
  if (!state.refused && caller.kind === 'customer') {
    const { orgId: subject } = caller;
    const { limits = [] } = request.routeOptions.config;
    const ofAllKeys = {
      scope: 'organization',
      limit: requestsPerMinute * mostKeysWorth,
      windowSeconds: 60,
    };
    const own = await limiter.take(subject, [ofAllKeys, ...limits]);
    const { moment } = own;
    if (!own.refused) {
      counted.push({ subject, limits: [ofAllKeys], moment, always: true });
      counted.push({ subject, limits, moment, always: false });
    }
    if (own.refused || own.remaining < state.remaining) state = own;
  }
  request.counted = counted;
  showWindow(reply, state);
}

/** Writes the headers of contract 1.6. @throws ApiError RATE_LIMITED when the window rejects */
export function showWindow(reply: FastifyReply, state: WindowState): void {
  reply.headers({
    'ratelimit-limit': state.limit,
    'ratelimit-remaining': state.remaining,
    'ratelimit-reset': state.resetSeconds,
  });
  if (state.refused) throw rateLimited(state);
}

function rateLimited(state: WindowState): ApiError {
  const { limit, resetSeconds, scope, windowSeconds } = state;
  const message = `At most ${counted(limit, 'request')} in ${windowSeconds} s (limit "${scope}"); wait ${resetSeconds} s and try again.`;
  return ApiError.of('RATE_LIMITED', { limit, window_seconds: windowSeconds, scope }, message).waiting(
    resetSeconds,
  );
}

/** Every `/v1/sip` route requires the entitlement (contract 1.1). */
function needsSip(path: string): boolean {
  return path === '/v1/sip' || path.startsWith('/v1/sip/');
}
