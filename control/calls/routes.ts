/** /v1/calls: reading and stopping calls (contract 9.2 and 9.3). */
import { CallOrder, CallPath, CallQueued, CallStopped, CallView } from '#shared/api/calls.ts';
import { Closed } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { type App, orgOf } from '../http/app-types.ts';
import type { Services } from '../services.ts';
import { CallPlacer } from './place.ts';
import { callView } from './rules.ts';
import { findCall, findTranscript } from './store.ts';

export function callRoutes(app: App, services: Services): void {
  const { db } = services.database;
  const placer = new CallPlacer(services);

  app.route({
    method: 'POST',
    url: '/v1/calls',
    config: {
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
    schema: { summary: 'Call somebody', body: CallOrder, response: { 200: CallQueued } },
    handler: async (request, reply) => ({
      status: 'success' as const,
      message: 'Call queued',
      call_id: await placer.place(orgOf(request), request.body, reply),
      batch_id: null,
    }),
  });

  app.route({
    method: 'GET',
    url: '/v1/calls/:call_id',
    config: { errors: ['CALL_NOT_FOUND'] },
    schema: { summary: 'One call, also while it goes on', params: CallPath, response: { 200: CallView } },
    handler: async (request) => {
      const call = await findCall(db, orgOf(request), request.params.call_id);
      if (!call) throw ApiError.of('CALL_NOT_FOUND');
      return callView(call, await findTranscript(db, call.id), services.clock.now());
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/calls/:call_id/stop',
    config: { errors: ['CALL_NOT_FOUND'] },
    schema: {
      summary: 'End a call',
      params: CallPath,
      body: Closed({}),
      response: { 200: CallStopped },
    },
    handler: async (request) => {
      const call = await findCall(db, orgOf(request), request.params.call_id);
      if (!call) throw ApiError.of('CALL_NOT_FOUND');
      if (call.ended_at === null) {
        await services.edges.command(call.edge_id, { kind: 'call.stop', call_id: call.id });
      }
      return { status: 'success' as const, message: 'Call stopped' };
    },
  });
}
