/** /v1/calls: placing, reading, stopping and transferring calls (contract 9). */
import {
  CallOrder,
  CallPath,
  CallQueued,
  CallStopped,
  CallTransfer,
  CallTransferStarted,
  CallView,
} from '#shared/api/calls.ts';
import { NoMembers, plain } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import type { CallRow } from '../db/index.ts';
import { type App, orgOf, workOf } from '../http/index.ts';
import { readTarget } from '../numbers/index.ts';
import type { CallDeps } from './deps.ts';
import { isClosedWithoutEdge, stopWhenReported } from './lost-store.ts';
import { CallPlacer } from './place.ts';
import { callView } from './rules.ts';
import { findCall, findTranscript } from './store.ts';

export function callRoutes(app: App, services: CallDeps): void {
  const { db } = services.database;
  const placer = new CallPlacer(services);

  app.route({
    method: 'POST',
    url: '/v1/calls',
    config: {
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
    config: { errors: ['CALL_NOT_FOUND'] },
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
    config: { resumable: true, errors: ['CALL_NOT_FOUND'] },
    schema: {
      summary: 'End a call',
      params: CallPath,
      body: NoMembers,
      response: { 200: CallStopped },
    },
    handler: async (request) => {
      const call = await findCall(db, orgOf(request), request.params.call_id);
      if (!call) throw ApiError.of('CALL_NOT_FOUND');
      await stopCall(services, call);
      return { status: 'success' as const, message: 'Call stopped' };
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/calls/active/transfer',
    config: {
      errors: [
        'NO_OUTBOUND_ROUTE',
        'REFER_NOT_SUPPORTED',
        'TARGET_NOT_ALLOWED',
        'CALL_NOT_FOUND',
        'CALL_NOT_ACTIVE',
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
async function stopCall({ database, edges }: CallDeps, call: CallRow): Promise<void> {
  const closed = isClosedWithoutEdge(call);
  if (call.ended_at !== null && !closed) return;
  if (closed && !edges.has(call.edge_id)) return stopWhenReported(database.db, call.id);
  await edges.command(call.edge_id, { kind: 'call.stop', call_id: call.id });
}

/** Returns when the edge has started. The call's record and transcript show how the transfer ended. */
async function transferCall(services: CallDeps, orgId: string, order: CallTransfer): Promise<void> {
  const { database, edges, allowedTargets } = services;
  const target = readTarget(order.transfer_number, '/transfer_number', allowedTargets);
  const call = await findCall(database.db, orgId, order.call_id);
  if (!call) throw ApiError.of('CALL_NOT_FOUND');
  if (call.ended_at !== null) throw ApiError.of('CALL_NOT_ACTIVE');
  await edges.command(call.edge_id, {
    kind: 'call.transfer',
    call_id: call.id,
    target,
    method: order.method ?? 'bridge',
    announcement: order.announcement ?? null,
    accept_key: order.accept_key ?? null,
  });
}
