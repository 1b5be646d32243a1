/** Hold, park and retrieval of running calls (contract 9.9). */
import { CallControlled, CallPark, CallPath, CallRetrieve } from '#shared/api/calls.ts';
import { NoMembers } from '#shared/api/common.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { ApiError } from '#shared/errors.ts';
import type { CallRow } from '../db/index.ts';
import { type App, orgOf } from '../http/index.ts';
import { readDialedTarget } from '../numbers/index.ts';
import type { CallDeps } from './deps.ts';
import { findCall } from './store.ts';

const defaultParkS = 120;

const done = (message: string) => ({ status: 'success' as const, message });

export function holdRoutes(app: App, { allowedTargets, database, edges }: CallDeps): void {
  for (const action of ['hold', 'resume'] as const) {
    app.route({
      method: 'POST',
      url: `/v1/calls/:call_id/${action}`,
      config: {
        access: 'member',
        resumable: true,
        errors: [
          'CALL_NOT_FOUND',
          'CALL_NOT_ACTIVE',
          ...(action === 'resume' ? (['CALL_WITHOUT_AGENT'] as const) : []),
          'SERVICE_UNAVAILABLE',
        ],
      },
      schema: {
        summary: action === 'hold' ? 'Put a call on hold with music' : 'End the hold of a call',
        params: CallPath,
        body: NoMembers,
        response: { 200: CallControlled },
      },
      handler: async (request) => {
        const call = await running(orgOf(request), request.params.call_id);
        await edges.command(call.edge_id, { kind: 'call.hold', call_id: call.id, action });
        return done(action === 'hold' ? 'Call put on hold' : 'Hold ended');
      },
    });
  }

  app.route({
    method: 'POST',
    url: '/v1/calls/:call_id/park',
    config: {
      access: 'member',
      resumable: true,
      errors: ['CALL_NOT_FOUND', 'CALL_NOT_ACTIVE', 'PARK_SLOT_TAKEN', 'SERVICE_UNAVAILABLE'],
    },
    schema: {
      summary: 'Park a call in a slot',
      params: CallPath,
      body: CallPark,
      response: { 200: CallControlled },
    },
    handler: async (request) => {
      const { slot, timeout_s = defaultParkS, on_timeout = 'agent' } = request.body;
      const call = await running(orgOf(request), request.params.call_id);
      await edges.command(call.edge_id, { kind: 'call.park', call_id: call.id, slot, timeout_s, on_timeout });
      return done('Call parked');
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/calls/:call_id/retrieve',
    config: {
      access: 'member',
      errors: [
        'CALL_NOT_FOUND',
        'CALL_NOT_ACTIVE',
        'CALL_NOT_PARKED',
        'CALL_WITHOUT_AGENT',
        'CALLS_APART',
        'NO_OUTBOUND_ROUTE',
        'TARGET_NOT_ALLOWED',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Join a parked call with another call, with a number that is called, or with its agent again',
      params: CallPath,
      body: CallRetrieve,
      response: { 200: CallControlled },
    },
    handler: async (request) => {
      const call = await running(orgOf(request), request.params.call_id);
      await edges.command(call.edge_id, await retrieval(orgOf(request), call, request.body));
      return done('Call retrieved');
    },
  });

  async function retrieval(orgId: string, call: CallRow, order: CallRetrieve): Promise<EdgeCommand> {
    const { id: call_id } = call;
    if (order.call_id !== undefined && order.phone_number !== undefined)
      throw ApiError.invalid('/phone_number', 'must not be given with call_id');
    if (order.phone_number !== undefined) {
      const target = readDialedTarget(order.phone_number, '/phone_number', allowedTargets);
      const once = { method: 'bridge' as const, announcement: null, accept_key: null };
      return { kind: 'call.transfer', call_id, target, ...once };
    }
    if (order.call_id === undefined) return { kind: 'call.retrieve', call_id, by_call_id: null };
    if (order.call_id === call_id)
      throw ApiError.invalid('/call_id', 'must be another call than the one that is parked');
    const by = await running(orgId, order.call_id);
    if (by.edge_id !== call.edge_id) throw ApiError.of('CALLS_APART');
    return { kind: 'call.retrieve', call_id, by_call_id: by.id };
  }

  /** @throws ApiError CALL_NOT_FOUND, CALL_NOT_ACTIVE */
  async function running(orgId: string, callId: string): Promise<CallRow> {
    const call = await findCall(database.db, orgId, callId);
    if (!call) throw ApiError.of('CALL_NOT_FOUND');
    if (call.ended_at !== null) throw ApiError.of('CALL_NOT_ACTIVE');
    return call;
  }
}
