/** /v1/agent-testing: simulation sets (contract 6.7). */
import {
  GroupCancelled,
  GroupQuery,
  SimulationAnswer,
  SimulationList,
  SimulationPath,
  SimulationStart,
  SimulationStarted,
} from '#shared/api/agent-testing/batches.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { NoMembers } from '#shared/api/common.ts';
import { actorOf } from '../../../audit/index.ts';
import { type App, orgOf } from '../../../http/index.ts';
import { recordTestingChange } from '../../common/audit.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { deleteSet, leftInAnalytics } from '../../records/delete.ts';
import { listSets, requireSet, setLine, setView } from '../../records/set-store.ts';
import { cancelRunsOfSet } from '../cancel-set.ts';
import type { TestRuns } from '../start.ts';
import { startSimulationSet } from './start.ts';

const base = '/v1/agent-testing/simulation-sets';

export function simulationRoutes(app: App, services: TestingDeps, { stopped }: TestRuns): void {
  const { db } = services.database;

  app.route({
    method: 'POST',
    url: base,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_simulation_sets', limit: 10, windowSeconds: 60 }],
      errors: [
        'SIMULATION_LIMIT',
        'TARGET_NOT_ALLOWED',
        'SCENARIO_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Run scenarios many times',
      body: SimulationStart,
      response: { 200: SimulationStarted },
    },
    handler: async (request) => {
      const set = await startSimulationSet(services, orgOf(request), request.body, actorOf(request));
      return testing({
        simulation_set_id: set.id,
        status: 'PENDING' as const,
        simulations_per_scenario: set.simulations_per_scenario,
        total_scenarios: new Set(request.body.scenario_ids).size,
        created_at: set.created_at,
      });
    },
  });

  app.route({
    method: 'GET',
    url: base,
    config: { access: 'read' },
    schema: {
      summary: 'Simulation sets, newest first, without their statistics',
      querystring: GroupQuery,
      response: { 200: SimulationList },
    },
    handler: async (request) => {
      const { limit = 50, offset = 0 } = request.query;
      const { rows, total } = await listSets(db, orgOf(request), { limit, offset });
      return testing({ simulation_sets: rows.map(setLine), total_count: total });
    },
  });

  app.route({
    method: 'POST',
    url: `${base}/:id/cancel`,
    config: { access: 'member', errors: ['SIMULATION_SET_NOT_FOUND'] },
    schema: {
      summary: 'Cancel the runs of a simulation set that have not ended; the set ends with them',
      params: SimulationPath,
      body: NoMembers,
      response: { 200: GroupCancelled },
    },
    handler: async (request) => {
      const { id } = await requireSet(db, orgOf(request), request.params.id);
      const cancelled_runs = await cancelRunsOfSet(services, id, stopped);
      return testing({ id, cancelled_runs });
    },
  });

  app.route({
    method: 'DELETE',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['SIMULATION_SET_NOT_FOUND', 'NOT_ENDED'] },
    schema: {
      summary: 'Delete a simulation set that has ended, with its runs',
      description: leftInAnalytics,
      params: SimulationPath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const { id } = request.params;
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        await deleteSet(trx, orgId, id);
        await recordTestingChange(trx, services, actorOf(request), {
          orgId,
          subject: id,
          action: 'simulation_set_delete',
        });
      });
      return testing({ deleted: true as const });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/:id`,
    config: { access: 'read', errors: ['SIMULATION_SET_NOT_FOUND'] },
    schema: {
      summary: 'One simulation set with its statistics',
      params: SimulationPath,
      response: { 200: SimulationAnswer },
    },
    handler: async (request) =>
      testing(await setView(db, await requireSet(db, orgOf(request), request.params.id))),
  });
}
