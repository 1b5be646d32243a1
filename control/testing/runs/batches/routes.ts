/** /v1/agent-testing: batches (contract 6.6). */
import { Type } from 'typebox';
import {
  BatchAnswer,
  type BatchLine,
  BatchList,
  BatchPath,
  BatchStart,
  BatchStarted,
  GroupCancelled,
  GroupQuery,
} from '#shared/api/agent-testing/batches.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { NoMembers } from '#shared/api/common.ts';
import { actorOf } from '../../../audit/index.ts';
import { type App, orgOf, sendEvents } from '../../../http/index.ts';
import { recordTestingChange } from '../../common/audit.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { batchLine, batchView, findBatch, listBatches, requireBatch } from '../../records/batch-store.ts';
import { deleteBatch, leftInAnalytics } from '../../records/delete.ts';
import { lastTurn, type Snapshot } from '../events.ts';
import { batchSubject } from '../live.ts';
import { checkWebhook, testRunsSubject } from '../plan.ts';
import type { TestRuns } from '../start.ts';
import { cancelBatch, startBatch } from './start.ts';

const base = '/v1/agent-testing';

export function batchRoutes(app: App, services: TestingDeps, { stopped, streams }: TestRuns): void {
  const { announcements, database } = services;
  const { db } = database;

  app.route({
    method: 'POST',
    url: `${base}/batch-run`,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_batch_run', limit: 10, windowSeconds: 60 }],
      errors: ['TARGET_NOT_ALLOWED', 'SCENARIO_NOT_FOUND', 'VERSION_NOT_FOUND', 'QUOTA_EXCEEDED'],
    },
    schema: { summary: 'Run several scenarios', body: BatchStart, response: { 200: BatchStarted } },
    handler: async (request) => {
      const { scenario_ids, seed, version_number, webhook_url } = request.body;
      checkWebhook(services, webhook_url);
      const { batchId, runs } = await db.transaction().execute(async (trx) => {
        const batch = await startBatch(services, trx, {
          orgId: orgOf(request),
          scenarioIds: scenario_ids,
          versionNumber: version_number,
          triggerSource: 'api',
          seed,
          webhookUrl: webhook_url ?? null,
        });
        // Its own runs are already waiting.
        await services.quotas.waitingRunRoom(trx, orgOf(request), 0);
        return batch;
      });
      announcements.announce(testRunsSubject);
      return testing({
        batch_id: batchId,
        runs: runs.map(({ runId, scenarioId }) => ({ run_id: runId, scenario_id: scenarioId })),
      });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/batches`,
    config: { access: 'read' },
    schema: {
      summary: 'Batches, newest first, without their runs',
      querystring: GroupQuery,
      response: { 200: BatchList },
    },
    handler: async (request) => {
      const { limit = 50, offset = 0 } = request.query;
      const { rows, total } = await listBatches(db, orgOf(request), { limit, offset });
      const batches: BatchLine[] = [];
      for (const row of rows) batches.push(await batchLine(db, row));
      return testing({ batches, total_count: total });
    },
  });

  app.route({
    method: 'POST',
    url: `${base}/batches/:id/cancel`,
    config: { access: 'member', errors: ['BATCH_NOT_FOUND'] },
    schema: {
      summary: 'Cancel the runs of a batch that have not ended; the batch ends with them',
      params: BatchPath,
      body: NoMembers,
      response: { 200: GroupCancelled },
    },
    handler: async (request) => {
      const { id } = await requireBatch(db, orgOf(request), request.params.id);
      const cancelled = await db.transaction().execute((trx) => cancelBatch(services, trx, id));
      stopped(cancelled);
      announcements.announce(batchSubject(id));
      return testing({ id, cancelled_runs: cancelled.length });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/batches/:id`,
    config: { access: 'read', errors: ['BATCH_NOT_FOUND'] },
    schema: { summary: 'One batch with its runs', params: BatchPath, response: { 200: BatchAnswer } },
    handler: async (request) =>
      testing(await batchView(db, await requireBatch(db, orgOf(request), request.params.id))),
  });

  app.route({
    method: 'DELETE',
    url: `${base}/batches/:id`,
    config: { access: 'member', errors: ['BATCH_NOT_FOUND', 'NOT_ENDED'] },
    schema: {
      summary: 'Delete a batch that has ended, with its runs',
      description: leftInAnalytics,
      params: BatchPath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const { id } = request.params;
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        await deleteBatch(trx, orgId, id);
        await recordTestingChange(trx, services, actorOf(request), {
          orgId,
          subject: id,
          action: 'batch_delete',
        });
      });
      return testing({ deleted: true as const });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/batches/:id/events`,
    // A stream has no length for HEAD, and Fastify would leave it open.
    exposeHeadRoute: false,
    config: { access: 'read', errors: ['BATCH_NOT_FOUND'] },
    schema: {
      summary: 'A batch as server-sent events: state, end',
      produces: ['text/event-stream'],
      params: BatchPath,
      headers: Type.Object({
        'last-event-id': Type.Optional(Type.String({ description: 'The stream continues after this event' })),
      }),
    },
    handler: async (request, reply) => {
      const orgId = orgOf(request);
      const { id } = await requireBatch(db, orgId, request.params.id);
      const stream = await streams.open({
        orgId,
        allowed: request.stillAllowed,
        after: lastTurn(request.headers['last-event-id']),
        watch: (tell) => announcements.on(batchSubject(id), tell),
        read: async (): Promise<Snapshot | null> => {
          const batch = await findBatch(db, orgId, id);
          if (!batch) return null;
          const state = await batchView(db, batch);
          const version = [state.status, ...state.runs.map(({ status }) => status)].join(' ');
          return { state, version, over: state.completed_at !== null, attempt: 0, turns: [] };
        },
      });
      return sendEvents(reply, stream);
    },
  });
}
