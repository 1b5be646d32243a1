/** Supervisors of live calls: they listen, whisper, speak to both, or take the call over (contract 9.11). */
import { CallControlled, CallPath } from '#shared/api/calls.ts';
import { plain } from '#shared/api/common.ts';
import {
  SupervisorChange,
  SupervisorCreate,
  SupervisorList,
  SupervisorMade,
  SupervisorOne,
  SupervisorPath,
  WhisperOrder,
} from '#shared/api/supervisors.ts';
import { ApiError } from '#shared/errors.ts';
import type { SupervisionMode } from '#shared/supervision.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import type { CallRow } from '../db/index.ts';
import { recordEvents } from '../events/index.ts';
import { type App, keepAnswer, orgOf } from '../http/index.ts';
import { findOrganization, isoTime } from '../organizations/index.ts';
import {
  createPhoneSession,
  isSupervisors,
  modeOf,
  requireSession,
  requireSupervisor,
  revokeSession,
  type SupervisorRow,
  setMode,
  supervisionChange,
  supervisionHappening,
  supervisorRoom,
  supervisorsOf,
  supervisorTarget,
  supervisorView,
} from '../phone-sessions/index.ts';
import type { CallDeps } from './deps.ts';
import { findCall } from './store.ts';

/** To connect with. */
const joinWithinS = 120;
const unnamed = 'Supervisor';
const url = '/v1/calls/:call_id/supervisors';

export function superviseRoutes(app: App, services: CallDeps): void {
  const { catalogue, clock, database, edges } = services;
  const { db } = database;
  const view = (row: SupervisorRow) => supervisorView(row, isoTime(clock));

  app.route({
    method: 'GET',
    url,
    config: { access: 'read', errors: ['CALL_NOT_FOUND'] },
    schema: {
      summary: 'Supervisors of a call, newest first',
      description: 'Also those that have left, for a day.',
      params: CallPath,
      response: { 200: SupervisorList },
    },
    handler: async (request) => {
      const { id } = await found(orgOf(request), request.params.call_id);
      return plain({ supervisors: (await supervisorsOf(db, orgOf(request), id)).map(view) });
    },
  });

  app.route({
    method: 'POST',
    url,
    config: {
      access: 'member',
      atomic: true,
      limits: [{ scope: 'new_supervisors', limit: 60, windowSeconds: 60 }],
      errors: ['CALL_NOT_FOUND', 'CALL_NOT_ACTIVE', 'QUOTA_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    },
    schema: {
      summary: 'Create credentials with which a browser joins a call as its supervisor',
      description: 'It begins to listen. The password is in this response only.',
      params: CallPath,
      body: SupervisorCreate,
      response: { 200: SupervisorMade },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const call = await running(orgId, request.params.call_id);
      if (call.test_run_id !== null || (await isSupervisors(db, call)))
        throw ApiError.of(
          'CALL_NOT_ACTIVE',
          undefined,
          'A call of a test or of a supervisor cannot be supervised.',
        );
      const edge = edges.forSupervisors(call.edge_id);
      await services.quotas.counting('supervisors', () => supervisorRoom(db, clock, orgId, call.id));
      const { supervision_tone } = await findOrganization(db, orgId);
      const actor = actorOf(request);
      const target = supervisorTarget(call.id, edge, supervision_tone === 1, actor);
      const { caller = unnamed } = request.body;
      const order = { orgId, target, caller, purpose: null, calls: 1, expiresInS: joinWithinS, actor };
      return createPhoneSession(services, order, async (trx, { row, credentials }) => {
        const supervisor = view({ ...row, answered_at: null, ended_at: null });
        return keepAnswer(trx, request, plain({ supervisor, credentials }));
      });
    },
  });

  app.route({
    method: 'PATCH',
    url: `${url}/:id`,
    config: {
      access: 'member',
      limits: [{ scope: 'supervision', limit: 120, windowSeconds: 60 }],
      errors: [
        'CALL_NOT_FOUND',
        'SUPERVISOR_NOT_FOUND',
        'CALL_NOT_ACTIVE',
        'SUPERVISOR_NOT_THERE',
        'CALL_TAKEN_OVER',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Listen, whisper, speak to both, or take the call over and give it back',
      params: SupervisorPath,
      body: SupervisorChange,
      response: { 200: SupervisorOne },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const { mode, note = null } = request.body;
      const call = await running(orgId, request.params.call_id);
      const row = await requireSupervisor(db, orgId, call.id, request.params.id);
      const before = modeOf(row);
      if (note !== null && (before !== 'take_over' || mode === 'take_over'))
        throw ApiError.invalid('/note', 'is only for giving back a call that was taken over');
      const edge = edges.forSupervisors(call.edge_id);
      await edge.command({ kind: 'supervise.mode', call_id: call.id, session_id: row.id, mode, note });
      return database.db.transaction().execute(async (trx) => {
        const changed = await setMode(trx, row, mode);
        const change = supervisionChange(row, actionOf(before, mode));
        await recordChange(trx, clock, actorOf(request), { ...change, fields: ['mode'] });
        await recordEvents(trx, [supervisionHappening(changed, 'supervision.changed', isoTime(clock))]);
        return plain({ supervisor: view(changed) });
      });
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    config: {
      access: 'member',
      errors: ['CALL_NOT_FOUND', 'SUPERVISOR_NOT_FOUND', 'SUPERVISOR_NOT_THERE', 'SERVICE_UNAVAILABLE'],
    },
    schema: {
      summary: 'Let a supervisor leave: the call goes on',
      params: SupervisorPath,
      response: { 200: SupervisorOne },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const call = await found(orgId, request.params.call_id);
      const row = await requireSupervisor(db, orgId, call.id, request.params.id);
      if (row.ended_at !== null || row.revoked_at !== null) throw ApiError.of('SUPERVISOR_NOT_THERE');
      const { last_call_id: leg } = row;
      if (leg !== null) await edges.command(call.edge_id, { kind: 'call.stop', call_id: leg });
      return catalogue.change(async (trx, altered) => {
        const session = await requireSession(trx, orgId, row.id, 'supervisor');
        const revoked_at = await revokeSession(trx, clock, session);
        altered.organizations.add(orgId);
        await recordChange(trx, clock, actorOf(request), supervisionChange(row, 'remove'));
        return plain({ supervisor: view({ ...row, revoked_at }) });
      });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/calls/:call_id/whisper',
    config: {
      access: 'member',
      limits: [{ scope: 'whispers', limit: 120, windowSeconds: 60 }],
      errors: ['CALL_NOT_FOUND', 'CALL_NOT_ACTIVE', 'AGENT_TAKES_NO_TEXT', 'SERVICE_UNAVAILABLE'],
    },
    schema: {
      summary: 'Tell the model of a call’s agent something that the other party does not hear',
      params: CallPath,
      body: WhisperOrder,
      response: { 200: CallControlled },
    },
    handler: async (request) => {
      const call = await running(orgOf(request), request.params.call_id);
      const { text } = request.body;
      await edges
        .forSupervisors(call.edge_id, 'text')
        .command({ kind: 'supervise.whisper', call_id: call.id, text });
      const change = supervisionChange({ org_id: call.org_id, supervises: call.id }, 'whisper');
      await recordChange(db, clock, actorOf(request), change);
      return { status: 'success' as const, message: 'The agent was told' };
    },
  });

  /** @throws ApiError CALL_NOT_FOUND */
  async function found(orgId: string, callId: string): Promise<CallRow> {
    const call = await findCall(db, orgId, callId);
    if (!call) throw ApiError.of('CALL_NOT_FOUND');
    return call;
  }

  /** @throws ApiError CALL_NOT_FOUND, CALL_NOT_ACTIVE */
  async function running(orgId: string, callId: string): Promise<CallRow> {
    const call = await found(orgId, callId);
    if (call.ended_at !== null) throw ApiError.of('CALL_NOT_ACTIVE');
    return call;
  }
}

/** As the log of changes calls it. */
function actionOf(before: SupervisionMode, mode: SupervisionMode): string {
  if (mode === before) return 'change_mode';
  if (mode === 'take_over') return 'take_over';
  return before === 'take_over' ? 'give_back' : 'change_mode';
}
