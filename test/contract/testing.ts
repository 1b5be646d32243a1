/** Agent testing (docs/contract, section 6). */
import type { Endpoint } from './endpoint.ts';

export const testing: readonly Endpoint[] = [
  [
    'POST',
    '/v1/agent-testing/scenarios',
    [200],
    { 404: ['PATHWAY_NOT_FOUND', 'PERSONA_NOT_FOUND'], 409: ['SCENARIO_NAME_TAKEN'] },
  ],
  ['GET', '/v1/agent-testing/scenarios', [200], {}],
  ['GET', '/v1/agent-testing/scenarios/{id}', [200], { 404: ['SCENARIO_NOT_FOUND'] }],
  [
    'PUT',
    '/v1/agent-testing/scenarios/{id}',
    [200],
    { 404: ['SCENARIO_NOT_FOUND'], 409: ['SCENARIO_NAME_TAKEN'] },
  ],
  ['DELETE', '/v1/agent-testing/scenarios/{id}', [200], { 404: ['SCENARIO_NOT_FOUND'] }],
  ['GET', '/v1/agent-testing/templates', [200], {}],
  [
    'POST',
    '/v1/agent-testing/templates/{id}/clone',
    [200],
    { 404: ['TEMPLATE_NOT_FOUND', 'PATHWAY_NOT_FOUND', 'PERSONA_NOT_FOUND'], 409: ['SCENARIO_NAME_TAKEN'] },
  ],
  [
    'POST',
    '/v1/agent-testing/scenarios/generate-from-call',
    [200],
    {
      400: ['EMPTY_TRANSCRIPT'],
      404: ['CALL_NOT_FOUND', 'PATHWAY_NOT_FOUND', 'PERSONA_NOT_FOUND'],
      502: ['MODEL_UNAVAILABLE'],
    },
  ],
  [
    'POST',
    '/v1/agent-testing/scenarios/{id}/run',
    [200],
    { 400: ['TARGET_NOT_ALLOWED', 'NUMBER_NOT_TESTABLE'], 404: ['SCENARIO_NOT_FOUND', 'VERSION_NOT_FOUND'] },
  ],
  [
    'POST',
    '/v1/agent-testing/batch-run',
    [200],
    { 400: ['TARGET_NOT_ALLOWED'], 404: ['SCENARIO_NOT_FOUND', 'VERSION_NOT_FOUND'] },
  ],
  ['GET', '/v1/agent-testing/runs', [200], {}],
  ['GET', '/v1/agent-testing/runs/{id}', [200], { 404: ['RUN_NOT_FOUND'] }],
  ['POST', '/v1/agent-testing/runs/{id}/cancel', [200], { 404: ['RUN_NOT_FOUND'], 409: ['RUN_NOT_ACTIVE'] }],
  [
    'POST',
    '/v1/agent-testing/runs/{id}/analyze',
    [200],
    { 404: ['RUN_NOT_FOUND'], 409: ['RUN_NOT_FINISHED', 'RUN_NOT_FAILED'], 502: ['MODEL_UNAVAILABLE'] },
  ],
  ['GET', '/v1/agent-testing/runs/{id}/events', [200], { 404: ['RUN_NOT_FOUND'] }],
  ['GET', '/v1/agent-testing/batches/{id}', [200], { 404: ['BATCH_NOT_FOUND'] }],
  ['GET', '/v1/agent-testing/batches/{id}/events', [200], { 404: ['BATCH_NOT_FOUND'] }],
  ['GET', '/v1/agent-testing/analytics/{pathwayId}', [200], { 404: ['PATHWAY_NOT_FOUND'] }],
  ['GET', '/v1/agent-testing/analytics/{pathwayId}/enhanced', [200], { 404: ['PATHWAY_NOT_FOUND'] }],
  [
    'POST',
    '/v1/agent-testing/simulation-sets',
    [200],
    { 400: ['SIMULATION_LIMIT', 'TARGET_NOT_ALLOWED'], 404: ['SCENARIO_NOT_FOUND', 'VERSION_NOT_FOUND'] },
  ],
  ['GET', '/v1/agent-testing/simulation-sets/{id}', [200], { 404: ['SIMULATION_SET_NOT_FOUND'] }],
  [
    'POST',
    '/v1/agent-testing/tornado/start',
    [200],
    {
      400: ['NO_SCENARIOS', 'TOO_MANY_SCENARIOS', 'TARGET_NOT_ALLOWED'],
      404: ['PATHWAY_NOT_FOUND', 'PERSONA_NOT_FOUND', 'SCENARIO_NOT_FOUND', 'VERSION_NOT_FOUND'],
      409: ['TORNADO_ALREADY_ACTIVE'],
    },
  ],
  ['GET', '/v1/agent-testing/tornado/active', [200], { 404: ['NO_ACTIVE_SESSION'] }],
  ['GET', '/v1/agent-testing/tornado/{id}/status', [200], { 404: ['TORNADO_NOT_FOUND'] }],
  [
    'POST',
    '/v1/agent-testing/tornado/{id}/cancel',
    [200],
    { 404: ['TORNADO_NOT_FOUND'], 409: ['TORNADO_NOT_ACTIVE'] },
  ],
  ['GET', '/v1/widget/{id}/threads', [200], {}],
];
