/** /v1/agent-testing/matrices: one scenario over versions, voices and weathers (contract 6.15). */
import {
  type Cell,
  MatrixAnswer,
  MatrixList,
  MatrixPath,
  MatrixQuery,
  MatrixStart,
  MatrixStarted,
} from '#shared/api/agent-testing/matrices.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf } from '../../../audit/index.ts';
import { type Db, fromJson } from '../../../db/index.ts';
import { type App, cursorAt, nextAfter, orgOf, readCursor } from '../../../http/index.ts';
import type { TestingDeps } from '../../common/deps.ts';
import { listMatrices, type MatrixLine, setsOfMatrix, setView } from '../../records/set-store.ts';
import { differenceOf, firstBreak, type MeasuredCell, matrixStatus } from './rules.ts';
import { startMatrix } from './start.ts';

const base = '/v1/agent-testing/matrices';
const defaultPage = 20;

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
    url: base,
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'Matrices, newest first, without their figures',
      querystring: MatrixQuery,
      response: { 200: MatrixList },
    },
    handler: async (request) => {
      const { before, limit = defaultPage } = request.query;
      const after = before === undefined ? null : readCursor(before);
      if (before !== undefined && after === null) throw ApiError.of('INVALID_CURSOR', { path: '?before' });
      const page = await listMatrices(services.database.db, orgOf(request), after, limit);
      const next = nextAfter(page, limit, ({ created_at, id }) => cursorAt(created_at, id));
      return testing({ matrices: page.flatMap(matrixLine), next });
    },
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

/** Nothing for one that was deleted meanwhile. */
function matrixLine({ created_at, id, sets }: MatrixLine) {
  const [first] = sets;
  const [scenario_id] = first ? fromJson<string[]>(first.scenario_ids) : [];
  if (!first || scenario_id === undefined) return [];
  const { simulations_per_scenario: repeats } = first;
  const status = matrixStatus(sets.map((set) => set.status));
  return [{ id, scenario_id, status, total_cells: sets.length, repeats, created_at }];
}

/** @throws ApiError TEST_MATRIX_NOT_FOUND */
async function matrixView(db: Db, orgId: string, id: string) {
  const measured: MeasuredCell[] = [];
  // The first cell of the request; null: it was deleted, and the next is no measure for the others.
  let base: MeasuredCell | null = null;
  let created_at = '';
  let scenario_id = '';
  for (const set of await setsOfMatrix(db, orgId, id)) {
    const { statistics, status } = await setView(db, set);
    const [one] = Object.values(statistics.per_scenario);
    if (!one || set.matrix_cell === null) continue;
    const cell = fromJson<Cell>(set.matrix_cell);
    const measuredCell = { cell, simulation_set_id: set.id, status, statistics: one };
    measured.push(measuredCell);
    if (set.matrix_place === 0) base = measuredCell;
    ({ created_at } = set);
    ({ scenario_id } = one);
  }
  if (measured.length === 0) throw ApiError.of('TEST_MATRIX_NOT_FOUND');
  const first = base?.statistics;
  return {
    id,
    scenario_id,
    status: matrixStatus(measured.map(({ status }) => status)),
    cells: measured.map(({ cell, ...one }) => ({
      ...cell,
      ...one,
      is_first: one.simulation_set_id === base?.simulation_set_id,
      difference:
        first === undefined || one.statistics === first ? null : differenceOf(one.statistics, first),
    })),
    first_break: base && firstBreak(measured),
    created_at,
  };
}
