/** /v1/calls: placing, reading, stopping, transferring and holding calls (contract 9). */
import {
  CallOrder,
  CallPath,
  CallQueued,
  CallStop,
  CallStopped,
  CallTransfer,
  CallTransferStarted,
  CallView,
} from '#shared/api/calls.ts';
import { plain } from '#shared/api/common.ts';
import { isPlace } from '#shared/call-target.ts';
import { readByeHeaders } from '#shared/custom-headers.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { ApiError } from '#shared/errors.ts';
import type { CallRow } from '../db/index.ts';
import { type App, orgOf, workOf } from '../http/index.ts';
import { readTarget } from '../numbers/index.ts';
import { conferenceRoutes } from './conference-routes.ts';
import type { CallDeps } from './deps.ts';
import { holdRoutes } from './hold-routes.ts';
import { listRoutes } from './list-routes.ts';
import { sipCallRoutes } from './log-routes.ts';
import { isClosedWithoutEdge, stopWhenReported } from './lost-store.ts';
import { CallPlacer } from './place.ts';
import { callView } from './rules.ts';
import { searchRoutes } from './search-routes.ts';
import { findCall, findTranscript } from './store.ts';
import { superviseRoutes } from './supervise-routes.ts';

export function callRoutes(app: App, services: CallDeps): void {
  const { db } = services.database;
  const placer = new CallPlacer(services);
  holdRoutes(app, services);
  conferenceRoutes(app, services);
  superviseRoutes(app, services);
  listRoutes(app, services);
  sipCallRoutes(app, services);
  searchRoutes(app, services);

  app.route({
    method: 'POST',
    url: '/v1/calls',
    config: {
      access: 'member',
      resumable: true,
      limits: [{ scope: 'organization_calls', limit: 60, windowSeconds: 60 }],
      errors: [
        'AGENT_SOURCE_CONFLICT',
        'NO_OUTBOUND_ROUTE',
        'TARGET_NOT_ALLOWED',
        'NUMBER_NOT_FOUND',
        'PATHWAY_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'TOOL_NOT_FOUND',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: { summary: 'Place a call', body: CallOrder, response: { 200: CallQueued } },
    handler: async (request, reply) => ({
      status: 'success' as const,
      message: 'Call queued',
      call_id: await placer.place(orgOf(request), request.body, reply, workOf(request, services.clock)),
      batch_id: null,
    }),
  });

  app.route({
    method: 'GET',
    url: '/v1/calls/:call_id',
    config: { access: 'read', errors: ['CALL_NOT_FOUND'] },
    schema: { summary: 'One call, running or ended', params: CallPath, response: { 200: CallView } },
    handler: async (request) => {
      const call = await findCall(db, orgOf(request), request.params.call_id);
      if (!call) throw ApiError.of('CALL_NOT_FOUND');
      return callView(call, await findTranscript(db, call.id), services.clock.now());
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/calls/:call_id/stop',
    config: { access: 'member', resumable: true, errors: ['CALL_NOT_FOUND'] },
    schema: {
      summary: 'End a call',
      params: CallPath,
      body: CallStop,
      response: { 200: CallStopped },
    },
    handler: async (request) => {
      const call = await findCall(db, orgOf(request), request.params.call_id);
      if (!call) throw ApiError.of('CALL_NOT_FOUND');
      await stopCall(services, call, byeOf(request.body));
      return { status: 'success' as const, message: 'Call stopped' };
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/calls/active/transfer',
    config: {
      access: 'member',
      errors: [
        'NO_OUTBOUND_ROUTE',
        'REFER_NOT_SUPPORTED',
        'TARGET_NOT_ALLOWED',
        'CALL_NOT_FOUND',
        'CALL_NOT_ACTIVE',
        'CALL_NOT_PARKED',
        'CALLS_APART',
        'CONFERENCE_FULL',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Transfer a call',
      body: CallTransfer,
      response: { 200: CallTransferStarted },
    },
    handler: async (request) => {
      await transferCall(services, orgOf(request), request.body);
      return plain({ message: 'Transfer started' });
    },
  });
}

/** Asks the edge until it has reported the end itself: a call closed without it may still be running there. */
async function stopCall({ database, edges }: CallDeps, call: CallRow, bye: StopExtras): Promise<void> {
  const closed = isClosedWithoutEdge(call);
  if (call.ended_at !== null && !closed) return;
  if (closed && !edges.has(call.edge_id)) return stopWhenReported(database.db, call.id);
  await edges.command(call.edge_id, { kind: 'call.stop', call_id: call.id, ...bye });
}

type StopExtras = Pick<Extract<EdgeCommand, { kind: 'call.stop' }>, 'cause' | 'headers'>;

/** @throws ApiError INVALID_PARAMETER for a header that cannot be sent */
function byeOf({ cause, headers }: CallStop): StopExtras {
  const given = cause === undefined ? {} : { cause };
  if (headers === undefined) return given;
  const read = readByeHeaders(headers);
  if ('headers' in read) return { ...given, headers: { ...read.headers } };
  // RFC 6901 section 3.
  const member = read.member?.replaceAll('~', '~0').replaceAll('/', '~1');
  throw ApiError.invalid(member === undefined ? '/headers' : `/headers/${member}`, read.problem);
}

/** Returns when the edge has started. The call's record and transcript show how the transfer ended. */
async function transferCall(services: CallDeps, orgId: string, order: CallTransfer): Promise<void> {
  const { database, edges, allowedTargets } = services;
  const { method = 'bridge', announcement = null, accept_key: acceptKey = null } = order;
  // A warm transfer calls the target itself, also before a REFER.
  const dials = announcement !== null || acceptKey !== null ? 'bridge' : method;
  const target = readTarget(order.transfer_number, '/transfer_number', allowedTargets, dials);
  if (isPlace(target)) requirePlain(order);
  const call = await findCall(database.db, orgId, order.call_id);
  if (!call) throw ApiError.of('CALL_NOT_FOUND');
  if (call.ended_at !== null) throw ApiError.of('CALL_NOT_ACTIVE');
  await edges.command(call.edge_id, {
    kind: 'call.transfer',
    call_id: call.id,
    target,
    method,
    announcement,
    accept_key: acceptKey,
  });
}

/** Nobody is called in the slot of a parked call or in a conference. */
function requirePlain({ method, announcement, accept_key }: CallTransfer): void {
  const rule = 'must be left out for the slot of a parked call and for a conference';
  if (method === 'refer') throw ApiError.invalid('/method', rule);
  if (announcement !== undefined) throw ApiError.invalid('/announcement', rule);
  if (accept_key !== undefined) throw ApiError.invalid('/accept_key', rule);
}
