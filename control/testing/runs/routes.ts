/** /v1/agent-testing: starting, reading and following runs (contract 6.4). */
import { Type } from 'typebox';
import {
  RunAnswer,
  RunCancelled,
  RunList,
  RunPath,
  RunQuery,
  RunStart,
  RunStarted,
} from '#shared/api/agent-testing/runs.ts';
import { ScenarioPath } from '#shared/api/agent-testing/scenarios.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { NoMembers } from '#shared/api/common.ts';
import { actorOf } from '../../audit/index.ts';
import { fromJson } from '../../db/index.ts';
import { type App, orgOf, sendEvents } from '../../http/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import type { ChatLine } from '../judging/ports.ts';
import { deleteRun, leftInAnalytics } from '../records/delete.ts';
import { findRecord, findRun, listRuns, requireRun, resultsOf } from '../records/run-store.ts';
import { runSubject } from '../records/subjects.ts';
import { oneRunView, runLines, runRowView } from '../records/views.ts';
import { batchRoutes } from './batches/routes.ts';
import { lastTurn, type Snapshot } from './events.ts';
import { loadRoutes } from './load/routes.ts';
import { matrixRoutes } from './matrix/routes.ts';
import { checkedNumber } from './over-a-call.ts';
import { startRun } from './plan.ts';
import { simulationRoutes } from './simulation-sets/routes.ts';
import type { TestRuns } from './start.ts';

const base = '/v1/agent-testing';

/** Runs, batches and simulation sets. */
export function testRunRoutes(app: App, services: TestingDeps, runs: TestRuns): void {
  startRoute(app, services);
  readRoutes(app, services, runs);
  cancelRoute(app, runs);
  deleteRoute(app, services);
  eventRoute(app, services, runs);
  batchRoutes(app, services, runs);
  simulationRoutes(app, services, runs);
  matrixRoutes(app, services);
  loadRoutes(app, services, runs);
}

function startRoute(app: App, services: TestingDeps): void {
  app.route({
    method: 'POST',
    url: `${base}/scenarios/:id/run`,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_scenario_run', limit: 60, windowSeconds: 60 }],
      errors: [
        'TARGET_NOT_ALLOWED',
        'NUMBER_NOT_TESTABLE',
        'TEST_AGENT_NOT_PROVEN',
        'SCENARIO_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Run a scenario',
      params: ScenarioPath,
      body: RunStart,
      response: { 200: RunStarted },
    },
    handler: async (request) => {
      const { body, params } = request;
      const orgId = orgOf(request);
      const number = await checkedNumber(services, orgId, params.id, body);
      const run_id = await startRun(services, orgId, params.id, body, number);
      return testing({ run_id, status: 'PENDING' as const });
    },
  });
}

function readRoutes(app: App, { database: { db } }: TestingDeps, { live }: TestRuns): void {
  app.route({
    method: 'GET',
    url: `${base}/runs`,
    config: { access: 'read' },
    schema: { summary: 'Runs, newest first', querystring: RunQuery, response: { 200: RunList } },
    handler: async (request) => {
      const { limit = 50, offset = 0, ...filter } = request.query;
      const { rows, total } = await listRuns(db, orgOf(request), filter, limit, offset);
      return testing({ runs: await runLines(db, rows), total_count: total });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/runs/:id`,
    config: { access: 'read', errors: ['RUN_NOT_FOUND'] },
    schema: { summary: 'One run', params: RunPath, response: { 200: RunAnswer } },
    handler: async (request) => {
      const run = await requireRun(db, orgOf(request), request.params.id);
      const results = (await resultsOf(db, [run.id])).get(run.id) ?? [];
      const said = run.status === 'RUNNING' ? live.lines(run.id) : undefined;
      return testing(oneRunView(run, await findRecord(db, run.id), results, said));
    },
  });
}

function cancelRoute(app: App, runs: TestRuns): void {
  app.route({
    method: 'POST',
    url: `${base}/runs/:id/cancel`,
    config: { access: 'member', errors: ['RUN_NOT_FOUND', 'RUN_NOT_ACTIVE'] },
    schema: {
      summary: 'Cancel a run',
      params: RunPath,
      body: NoMembers,
      response: { 200: RunCancelled },
    },
    handler: async (request) => {
      const { id } = request.params;
      await runs.cancel(orgOf(request), id);
      return testing({ id, status: 'CANCELLED' as const, cancelled: true as const });
    },
  });
}

function deleteRoute(app: App, services: TestingDeps): void {
  const { db } = services.database;
  app.route({
    method: 'DELETE',
    url: `${base}/runs/:id`,
    config: { access: 'member', errors: ['RUN_NOT_FOUND', 'RUN_IN_GROUP', 'NOT_ENDED'] },
    schema: {
      summary: 'Delete a run that has ended',
      description: leftInAnalytics,
      params: RunPath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const { id } = request.params;
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        await deleteRun(trx, orgId, id);
        await recordTestingChange(trx, services, actorOf(request), {
          orgId,
          subject: id,
          action: 'run_delete',
        });
      });
      return testing({ deleted: true as const });
    },
  });
}

function eventRoute(
  app: App,
  { announcements, database: { db } }: TestingDeps,
  { live, streams }: TestRuns,
): void {
  app.route({
    method: 'GET',
    url: `${base}/runs/:id/events`,
    // A stream has no length for HEAD, and Fastify would leave it open.
    exposeHeadRoute: false,
    config: { access: 'read', errors: ['RUN_NOT_FOUND'] },
    schema: {
      summary: 'A run as server-sent events: state, turn, end',
      produces: ['text/event-stream'],
      params: RunPath,
      headers: Type.Object({
        'last-event-id': Type.Optional(Type.String({ description: 'Turns after this one are sent' })),
      }),
    },
    handler: async (request, reply) => {
      const orgId = orgOf(request);
      const { id } = await requireRun(db, orgId, request.params.id);
      const read = async (): Promise<Snapshot | null> => {
        const run = await findRun(db, orgId, id);
        if (!run) return null;
        const { attempts: attempt, status } = run;
        const over = status !== 'PENDING' && status !== 'RUNNING';
        const stored = async (): Promise<ChatLine[]> =>
          fromJson<ChatLine[]>((await findRecord(db, id)).chat_history);
        const turns = over ? await stored() : (live.lines(id) ?? []);
        const results = (await resultsOf(db, [id])).get(id) ?? [];
        return { state: runRowView(run, results), version: `${status} ${attempt}`, over, attempt, turns };
      };
      const stream = await streams.open({
        orgId,
        allowed: request.stillAllowed,
        after: lastTurn(request.headers['last-event-id']),
        watch: (tell) => {
          const stops = [announcements.on(runSubject(id), tell), live.watch(id)];
          return () => {
            for (const stop of stops) stop();
          };
        },
        read,
      });
      return sendEvents(reply, stream);
    },
  });
}
