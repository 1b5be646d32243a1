/** Authentication, rate limits, and the SIP entitlement: the first checks of contract 1.3. */

import type { FastifyReply, FastifyRequest } from 'fastify';
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
import { keyOfHeader } from './rules.ts';
import { findApiKey, noteKeyUse } from './store.ts';

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
  readonly requestsPerMinute: number;
  /** Whether /metrics answers without a key. */
  readonly metricsPublic: boolean;
}

/** Adds the checks to every route except those with access `public` or `edge`. */
export function addGuard(app: App, options: GuardOptions): void {
  const limiter = new RateLimiter(options.clock, options.sharedCounts.as('requests'));
  app.decorateRequest('caller', null);
  app.decorateRequest('counted', null);
  // A request rejected by any limit counts in none (contract 1.6), and a failed one not in those of its route.
  app.addHook('onSend', async (request, reply) => {
    const isRefusedByLimit = reply.statusCode === 429;
    if (!isRefusedByLimit && !changedNothing(reply)) return;
    for (const { subject, limits, moment, always } of request.counted ?? []) {
      if (isRefusedByLimit || !always) limiter.giveBack(subject, limits, moment);
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    const config = request.routeOptions.config;
    const access = config.access ?? 'customer';
    if (request.is404 || access === 'public' || access === 'edge') return;
    if (access === 'operator' && config.openWhenPublicMetrics && options.metricsPublic) return;
    if (await config.admits?.(request, reply)) return;
    const caller = await authenticate(options, request);
    request.caller = caller;
    await limitRequests(limiter, options, caller, request, reply);
    if (access === 'operator' && caller.kind !== 'operator') throw ApiError.of('OPERATOR_KEY_REQUIRED');
    if (access === 'customer' && caller.kind !== 'customer') throw ApiError.of('AUTH_FAILURE');
    const path = request.routeOptions.url ?? '';
    if (needsSip(path) && caller.kind === 'customer' && !caller.sipEnabled)
      throw ApiError.of('SIP_NOT_ENABLED');
  });
}

/** Rejected, or answered from an earlier request: it must not use up the organization's limits. */
function changedNothing(reply: FastifyReply): boolean {
  const { statusCode } = reply;
  const isRefused = (statusCode >= 400 && statusCode < 500) || statusCode === 503;
  return isRefused || reply.hasHeader('idempotent-replayed');
}

async function authenticate(
  { db, clock, wrongKeys }: GuardOptions,
  request: FastifyRequest,
): Promise<Caller> {
  const key = keyOfHeader(request.headers.authorization);
  // Looked up each time, so that a key revoked by another process stops working at once.
  const found = key === null ? null : await findApiKey(db, key);
  if (!found) throw await wrongKeys.refusal(request.ip, key);
  try {
    await noteKeyUse(db, clock, found);
  } catch (error) {
    // Reads still work on a full disk.
    if (storageFault(error) === null) throw error;
  }
  const { id: keyId, prefix: keyPrefix, org_id: orgId } = found;
  if (orgId === null) return { kind: 'operator', keyId, keyPrefix };
  return { kind: 'customer', keyId, keyPrefix, orgId, sipEnabled: found.sip_enabled };
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
  const limits = request.routeOptions.config.limits ?? [];
  if (!state.refused && caller.kind === 'customer' && limits.length > 0) {
    const own = await limiter.take(caller.orgId, limits);
    if (!own.refused) {
      counted.push({ subject: caller.orgId, limits, moment: own.moment, always: false });
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
