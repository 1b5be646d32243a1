/** /v1/agent-testing/loads: scenarios as calls at once, level by level (contract 6.16). */
import {
  LoadAnswer,
  LoadCancelled,
  LoadList,
  LoadPath,
  LoadQuery,
  LoadStart,
  LoadStarted,
} from '#shared/api/agent-testing/loads.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { NoMembers } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf } from '../../../audit/index.ts';
import { type Db, fromJson, type TestLoadRow } from '../../../db/index.ts';
import { type App, orgOf } from '../../../http/index.ts';
import { isoTime } from '../../../organizations/index.ts';
import { recordTestingChange } from '../../common/audit.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { deleteSet, leftInAnalytics } from '../../records/delete.ts';
import { endLoad, figuresOfSet, levelsOf, listLoads, requireLoad } from '../../records/load-store.ts';
import { cancelRunsOfSet } from '../cancel-set.ts';
import type { TestRuns } from '../start.ts';
import { kneeOf } from './knee.ts';
import { startLoad } from './start.ts';

const base = '/v1/agent-testing/loads';

export function loadRoutes(app: App, services: TestingDeps, { stopped }: TestRuns): void {
  const { db } = services.database;

  app.route({
    method: 'POST',
    url: base,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_test_loads', limit: 5, windowSeconds: 60 }],
      errors: [
        'SIMULATION_LIMIT',
        'NUMBER_NOT_TESTABLE',
        'TEST_AGENT_NOT_PROVEN',
        'TEST_LOAD_ACTIVE',
        'SCENARIO_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Run scenarios as calls at once, level by level',
      body: LoadStart,
      response: { 200: LoadStarted },
    },
    handler: async (request) =>
      testing(await startLoad(services, orgOf(request), request.body, actorOf(request))),
  });

  app.route({
    method: 'GET',
    url: base,
    config: { access: 'read' },
    schema: {
      summary: 'Loads, newest first, without their levels',
      querystring: LoadQuery,
      response: { 200: LoadList },
    },
    handler: async (request) => {
      const { limit = 50, offset = 0 } = request.query;
      const { rows, total } = await listLoads(db, orgOf(request), { limit, offset });
      return testing({ loads: rows.map(loadLine), total_count: total });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/:id`,
    config: { access: 'read', errors: ['TEST_LOAD_NOT_FOUND'] },
    schema: {
      summary: 'One load: what calls were like at each level, and the knee',
      params: LoadPath,
      response: { 200: LoadAnswer },
    },
    handler: async (request) =>
      testing(await loadView(db, await requireLoad(db, orgOf(request), request.params.id))),
  });

  app.route({
    method: 'POST',
    url: `${base}/:id/cancel`,
    config: { access: 'member', errors: ['TEST_LOAD_NOT_FOUND'] },
    schema: {
      summary: 'Cancel a load; its calls end at once',
      params: LoadPath,
      body: NoMembers,
      response: { 200: LoadCancelled },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const now = isoTime(services.clock);
      const load = await db.transaction().execute(async (trx) => {
        const found = await requireLoad(trx, orgId, request.params.id);
        if (await endLoad(trx, found.id, 'CANCELLED', 'It was cancelled.', now)) {
          const change = { orgId, subject: found.id, action: 'load_cancel' as const };
          await recordTestingChange(trx, services, actorOf(request), change);
        }
        return found;
      });
      const setId = levelsOf(load)[load.level]?.simulation_set_id;
      const cancelled_runs = setId ? await cancelRunsOfSet(services, setId, stopped) : 0;
      return testing({ id: load.id, cancelled_runs });
    },
  });

  app.route({
    method: 'DELETE',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['TEST_LOAD_NOT_FOUND', 'NOT_ENDED'] },
    schema: {
      summary: 'Delete a load that has ended, with its runs',
      description: leftInAnalytics,
      params: LoadPath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        const { id, status } = await requireLoad(trx, orgId, request.params.id);
        if (status === 'RUNNING') throw ApiError.of('NOT_ENDED');
        const sets = await trx
          .selectFrom('test_simulation_sets')
          .select('id')
          .where('load_id', '=', id)
          .where('org_id', '=', orgId)
          .execute();
        for (const set of sets) await deleteSet(trx, orgId, set.id);
        await trx.deleteFrom('test_loads').where('id', '=', id).execute();
        const change = { orgId, subject: id, action: 'load_delete' as const };
        await recordTestingChange(trx, services, actorOf(request), change);
      });
      return testing({ deleted: true as const });
    },
  });
}

function loadLine(load: TestLoadRow) {
  const { completed_at, created_at, id, phone_number, reason, status, version_number } = load;
  const { runs_per_level, seconds_per_level } = load;
  const scenario_ids = fromJson<string[]>(load.scenario_ids);
  const line = { id, status, reason, scenario_ids, version_number, phone_number, runs_per_level };
  return { ...line, seconds_per_level, created_at, completed_at };
}

/** The level that is under way has the figures of the calls that have ended. */
async function loadView(db: Db, load: TestLoadRow) {
  const levels = [];
  for (const level of levelsOf(load)) {
    const { ended_at, simulation_set_id } = level;
    const figures =
      ended_at === null && simulation_set_id !== null
        ? await figuresOfSet(db, simulation_set_id)
        : level.figures;
    levels.push({ ...level, figures });
  }
  const over = levels.filter(({ ended_at }) => ended_at !== null);
  return { ...loadLine(load), levels, knee: kneeOf(over) };
}
