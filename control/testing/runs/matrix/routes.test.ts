import type { Static } from 'typebox';
import { beforeEach, describe, expect, it } from 'vitest';
import { MatrixAnswer, MatrixList, MatrixStarted } from '#shared/api/agent-testing/matrices.ts';
import { faultyGraph, missingEdge, soundBooking } from '../../../../test/kit/control/dental.ts';
import { startControl } from '../../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../../test/kit/control/routes-of-file.ts';
import { TestingClient } from '../../../../test/kit/control/test-runs.ts';

const test = emptiedForEach(startControl);
let client: TestingClient;
let pathway = '';
beforeEach(async () => {
  client = new TestingClient(test);
  pathway = await client.pathway(faultyGraph);
});

const start = (body: object) => client.call('POST', '/matrices', body);

async function ended(id: string) {
  for (;;) {
    const matrix = (await client.call('GET', `/matrices/${id}`)).read(MatrixAnswer);
    if (matrix.status !== 'PENDING' && matrix.status !== 'RUNNING') return matrix;
    await new Promise(setImmediate);
  }
}

describe('a matrix', () => {
  it('runs a scenario on each version with the same seeds, and names the version that breaks it', async () => {
    const edges = faultyGraph.edges.filter(({ target }) => target !== 'booked');
    const worse = { name: 'worse', nodes: faultyGraph.nodes, edges };
    await test.call('POST', `/v1/pathway/${pathway}/version`, { body: worse });
    const scenario_id = await client.scenario({ pathway_id: pathway, ...soundBooking });
    const started = (await start({ scenario_id, versions: [1, 2], repeats: 3, seed: 5 })).read(MatrixStarted);
    expect(started).toMatchObject({ status: 'PENDING', total_cells: 2, repeats: 3 });
    const matrix = await ended(started.matrix_id);
    expect(matrix).toMatchObject({
      scenario_id,
      status: 'FAILED',
      cells: [
        {
          version: 1,
          voice: null,
          weather: null,
          difference: null,
          statistics: { passed: 3, total_runs: 3 },
        },
        { version: 2, difference: { value: -1 }, statistics: { passed: 0, failed: 3 } },
      ],
    });
    const seeds = matrix.cells.map(({ simulation_set_id }) =>
      test.control.services.database.db
        .selectFrom('test_runs')
        .select('seed')
        .where('simulation_set_id', '=', simulation_set_id)
        .orderBy('seed')
        .execute(),
    );
    expect(await Promise.all(seeds)).toEqual(Array(2).fill([{ seed: 5 }, { seed: 6 }, { seed: 7 }]));
    const other = new TestingClient(test, test.foreignKey);
    expect((await other.call('GET', `/matrices/${matrix.id}`)).codes).toEqual(['TEST_MATRIX_NOT_FOUND']);
    const line = { id: matrix.id, scenario_id, status: 'FAILED', total_cells: 2, repeats: 3 };
    expect((await client.call('GET', '/matrices')).read(MatrixList)).toMatchObject({
      matrices: [line],
      next: null,
    });
    expect((await other.call('GET', '/matrices')).read(MatrixList).matrices).toEqual([]);
    for (const { simulation_set_id } of matrix.cells) {
      const { cells, first_break } = (await client.call('GET', `/matrices/${matrix.id}`)).read(MatrixAnswer);
      // Without the first cell nothing is a measure for the others.
      if (cells.length === 1)
        expect([cells[0]?.is_first, cells[0]?.difference, first_break]).toEqual([false, null, null]);
      expect((await client.call('DELETE', `/simulation-sets/${simulation_set_id}`)).status).toBe(200);
    }
    expect((await client.call('GET', `/matrices/${matrix.id}`)).codes).toEqual(['TEST_MATRIX_NOT_FOUND']);
  });

  it.each([
    ['one cell', [1]],
    ['several cells', [1, 0]],
  ])('of %s says which is the first, also before there is a result', async (_, versions) => {
    const scenario_id = await client.scenario({ pathway_id: pathway, ...soundBooking });
    const { matrix_id } = (await start({ scenario_id, versions, repeats: 1 })).read(MatrixStarted);
    const first = versions.map((__, place) => place === 0);
    const begun = (await client.call('GET', `/matrices/${matrix_id}`)).read(MatrixAnswer);
    expect(begun.cells.map(({ is_first }) => is_first)).toEqual(first);
    const matrix = await ended(matrix_id);
    expect(matrix.cells.map(({ is_first }) => is_first)).toEqual(first);
  });

  it('is listed behind newer ones, page by page', async () => {
    const scenario_id = await client.scenario({ pathway_id: pathway, ...missingEdge });
    const made: string[] = [];
    for (let count = 0; count < 3; count++) {
      // Two of them at one time.
      if (count > 0) test.clock.advance(count - 1);
      made.push((await start({ scenario_id, versions: [0, 1], repeats: 1 })).read(MatrixStarted).matrix_id);
    }
    const seen: string[] = [];
    let before: string | null = '';
    while (before !== null) {
      const query = new URLSearchParams({ limit: '1', ...(before && { before }) });
      const page: Static<typeof MatrixList> = (await client.call('GET', `/matrices?${query}`)).read(
        MatrixList,
      );
      seen.push(...page.matrices.map(({ id }) => id));
      before = page.next;
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    expect(seen[0]).toBe(made[2]);
    expect((await client.call('GET', '/matrices?before=nothing')).codes).toEqual(['INVALID_CURSOR']);
  });

  it('is refused when it is too large, and with what a text has not', async () => {
    const scenario_id = await client.scenario({ pathway_id: pathway, ...missingEdge });
    const versions = Array.from({ length: 10 }, (_, version) => version);
    const large = await start({ scenario_id, versions, repeats: 101 });
    expect(large.status).toBe(400);
    const weather = (name: number) => ({ name: String(name), weather: {} });
    const cells = {
      versions,
      voices: ['slt', 'kal'],
      weathers: Array.from({ length: 10 }, (_, index) => weather(index)),
      transport: 'sip',
    };
    for (const [repeats, limit] of [
      [2, 200],
      [100, 1000],
    ] as const)
      expect((await start({ scenario_id, ...cells, repeats })).errors[0]).toMatchObject({
        code: 'SIMULATION_LIMIT',
        message: expect.stringContaining('lower repeats'),
        details: { runs: 200 * repeats, limit },
      });
    const weathers = [{ name: 'calm', weather: {} }];
    expect((await start({ scenario_id, weathers })).errors[0]?.details).toMatchObject({ path: '/weathers' });
    expect((await start({ scenario_id, versions: [1, 1] })).errors[0]?.details).toMatchObject({
      path: '/versions',
    });
    expect((await start({ scenario_id, versions: [99] })).codes).toEqual(['VERSION_NOT_FOUND']);
  });
});
