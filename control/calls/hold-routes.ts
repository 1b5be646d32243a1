/** POST /v1/calls/{call_id}/hold and /resume (contract 9.9). */
import { CallControlled, CallPath } from '#shared/api/calls.ts';
import { NoMembers } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import type { CallRow } from '../db/index.ts';
import { type App, orgOf } from '../http/index.ts';
import type { CallDeps } from './deps.ts';
import { findCall } from './store.ts';

export function holdRoutes(app: App, { database, edges }: CallDeps): void {
  for (const action of ['hold', 'resume'] as const) {
    app.route({
      method: 'POST',
      url: `/v1/calls/:call_id/${action}`,
      config: { resumable: true, errors: ['CALL_NOT_FOUND', 'CALL_NOT_ACTIVE', 'SERVICE_UNAVAILABLE'] },
      schema: {
        summary: action === 'hold' ? 'Put a call on hold with music' : 'End the hold of a call',
        params: CallPath,
        body: NoMembers,
        response: { 200: CallControlled },
      },
      handler: async (request) => {
        const call = await runningCall({ database }, orgOf(request), request.params.call_id);
        await edges.command(call.edge_id, { kind: 'call.hold', call_id: call.id, action });
        const message = action === 'hold' ? 'Call put on hold' : 'Hold ended';
        return { status: 'success' as const, message };
      },
    });
  }
}

/** @throws ApiError CALL_NOT_FOUND, CALL_NOT_ACTIVE */
async function runningCall(
  { database }: Pick<CallDeps, 'database'>,
  orgId: string,
  callId: string,
): Promise<CallRow> {
  const call = await findCall(database.db, orgId, callId);
  if (!call) throw ApiError.of('CALL_NOT_FOUND');
  if (call.ended_at !== null) throw ApiError.of('CALL_NOT_ACTIVE');
  return call;
}
