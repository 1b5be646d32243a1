/** /v1/agent-testing: simulation sets (contract 6.7). */
import {
  SimulationAnswer,
  SimulationPath,
  SimulationStart,
  SimulationStarted,
} from '#shared/api/agent-testing/batches.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { actorOf } from '../../audit/rules.ts';
import { type App, orgOf } from '../../http/app-types.ts';
import type { Services } from '../../services.ts';
import { requireSet, setView } from './set-store.ts';
import { startSimulationSet } from './start.ts';

const base = '/v1/agent-testing/simulation-sets';

export function simulationRoutes(app: App, services: Services): void {
  const { db } = services.database;

  app.route({
    method: 'POST',
    url: base,
    config: {
      limits: [{ scope: 'organization_simulation_sets', limit: 10, windowSeconds: 60 }],
      errors: ['SIMULATION_LIMIT', 'TARGET_NOT_ALLOWED', 'SCENARIO_NOT_FOUND', 'VERSION_NOT_FOUND'],
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
    url: `${base}/:id`,
    config: { errors: ['SIMULATION_SET_NOT_FOUND'] },
    schema: {
      summary: 'One simulation set with its statistics',
      params: SimulationPath,
      response: { 200: SimulationAnswer },
    },
    handler: async (request) =>
      testing(await setView(db, await requireSet(db, orgOf(request), request.params.id))),
  });
}
