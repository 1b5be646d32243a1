/** /v1/agent-testing/matrices: one scenario over versions, voices and weathers (contract 6.15). */
import {
  type Cell,
  MatrixAnswer,
  MatrixPath,
  MatrixStart,
  MatrixStarted,
} from '#shared/api/agent-testing/matrices.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf } from '../../../audit/index.ts';
import { type Db, fromJson } from '../../../db/index.ts';
import { type App, orgOf } from '../../../http/index.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { setsOfMatrix, setView } from '../../records/set-store.ts';
import { differenceOf, firstBreak, type MeasuredCell, matrixStatus } from './rules.ts';
import { startMatrix } from './start.ts';

const base = '/v1/agent-testing/matrices';

export function matrixRoutes(app: App, services: TestingDeps): void {
  app.route({
    method: 'POST',
    url: base,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_test_matrices', limit: 5, windowSeconds: 60 }],
      errors: [
        'SIMULATION_LIMIT',
        'NUMBER_NOT_TESTABLE',
        'TEST_AGENT_NOT_PROVEN',
        'SCENARIO_NOT_FOUND',
        'VERSION_NOT_FOUND',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Run a scenario over versions, voices and weathers',
      body: MatrixStart,
      response: { 200: MatrixStarted },
    },
    handler: async (request) =>
      testing(await startMatrix(services, orgOf(request), request.body, actorOf(request))),
  });

  app.route({
    method: 'GET',
    url: `${base}/:id`,
    config: { access: 'read', errors: ['TEST_MATRIX_NOT_FOUND'] },
    schema: {
      summary: 'One matrix as a table, with what breaks first',
      params: MatrixPath,
      response: { 200: MatrixAnswer },
    },
    handler: async (request) =>
      testing(await matrixView(services.database.db, orgOf(request), request.params.id)),
  });
}

/** @throws ApiError TEST_MATRIX_NOT_FOUND */
async function matrixView(db: Db, orgId: string, id: string) {
  const measured: MeasuredCell[] = [];
  let created_at = '';
  let scenario_id = '';
  for (const set of await setsOfMatrix(db, orgId, id)) {
    const { statistics, status } = await setView(db, set);
    const [one] = Object.values(statistics.per_scenario);
    if (!one || set.matrix_cell === null) continue;
    const cell = fromJson<Cell>(set.matrix_cell);
    measured.push({ cell, simulation_set_id: set.id, status, statistics: one });
    ({ created_at } = set);
    ({ scenario_id } = one);
  }
  const [first] = measured;
  if (!first) throw ApiError.of('TEST_MATRIX_NOT_FOUND');
  return {
    id,
    scenario_id,
    status: matrixStatus(measured.map(({ status }) => status)),
    cells: measured.map(({ cell, ...one }) => ({
      ...cell,
      ...one,
      difference:
        one.simulation_set_id === first.simulation_set_id
          ? null
          : differenceOf(one.statistics, first.statistics),
    })),
    first_break: firstBreak(measured),
    created_at,
  };
}
