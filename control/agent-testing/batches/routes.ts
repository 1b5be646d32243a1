/** /v1/agent-testing: batches (contract 6.6). */
import { Type } from 'typebox';
import { BatchAnswer, BatchPath, BatchStart, BatchStarted } from '#shared/api/agent-testing/batches.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { type App, orgOf } from '../../http/app-types.ts';
import type { Services } from '../../services.ts';
import { lastTurn, type Snapshot } from '../runs/events.ts';
import { batchSubject } from '../runs/live.ts';
import { checkWebhook, testRunsSubject } from '../runs/plan.ts';
import type { TestRuns } from '../runs/start.ts';
import { batchView, findBatch, requireBatch } from './batch-store.ts';
import { startBatch } from './start.ts';

const base = '/v1/agent-testing';

export function batchRoutes(app: App, services: Services, { streams }: TestRuns): void {
  const { announcements, database } = services;
  const { db } = database;

  app.route({
    method: 'POST',
    url: `${base}/batch-run`,
    config: {
      limits: [{ scope: 'organization_batch_run', limit: 10, windowSeconds: 60 }],
      errors: ['TARGET_NOT_ALLOWED', 'SCENARIO_NOT_FOUND', 'VERSION_NOT_FOUND'],
    },
    schema: { summary: 'Run several scenarios', body: BatchStart, response: { 200: BatchStarted } },
    handler: async (request) => {
      const { scenario_ids, seed, version_number, webhook_url } = request.body;
      checkWebhook(services, webhook_url);
      const { batchId, runs } = await db.transaction().execute((trx) =>
        startBatch(services, trx, {
          orgId: orgOf(request),
          scenarioIds: scenario_ids,
          versionNumber: version_number,
          triggerSource: 'api',
          seed,
          webhookUrl: webhook_url ?? null,
        }),
      );
      announcements.announce(testRunsSubject);
      return testing({
        batch_id: batchId,
        runs: runs.map(({ runId, scenarioId }) => ({ run_id: runId, scenario_id: scenarioId })),
      });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/batches/:id`,
    config: { errors: ['BATCH_NOT_FOUND'] },
    schema: { summary: 'One batch with its runs', params: BatchPath, response: { 200: BatchAnswer } },
    handler: async (request) =>
      testing(await batchView(db, await requireBatch(db, orgOf(request), request.params.id))),
  });

  app.route({
    method: 'GET',
    url: `${base}/batches/:id/events`,
    // A stream has no length that HEAD could ask for, and Fastify would leave it open.
    exposeHeadRoute: false,
    config: { errors: ['BATCH_NOT_FOUND'] },
    schema: {
      summary: 'A batch as server-sent events: state, end',
      params: BatchPath,
      headers: Type.Object({ 'last-event-id': Type.Optional(Type.String()) }),
    },
    handler: async (request, reply) => {
      const orgId = orgOf(request);
      const { id } = await requireBatch(db, orgId, request.params.id);
      const stream = streams.open({
        orgId,
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
      reply.header('x-accel-buffering', 'no').type('text/event-stream; charset=utf-8');
      return reply.send(stream);
    },
  });
}
