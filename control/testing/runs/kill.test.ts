/** A control plane killed while runs wait and run: after its restart every run ends, exactly once. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BatchAnswer, BatchStarted } from '#shared/api/agent-testing/batches.ts';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { PathwayCreated } from '#shared/api/pathways.ts';
import { bookingGraph } from '../../../test/kit/control/test-runs.ts';
import { ControlProgram } from '../../../test/kit/programs/control-program.ts';
import { eventually, saw } from '../../../test/kit/programs/eventually.ts';

let control: ControlProgram;
/** Requests of the tested agents that hang until `answer`; those of a killed process are removed. */
let hanging: Set<object>;
let answer: PromiseWithResolvers<void>;
const outside = createServer(async (_request, response) => {
  hanging.add(response);
  response.once('close', () => hanging.delete(response));
  await answer.promise;
  response.setHeader('content-type', 'application/json').end('{}');
});

beforeEach(async () => {
  control = new ControlProgram();
  hanging = new Set();
  answer = Promise.withResolvers();
  await once(outside.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  await control.remove();
  outside.closeAllConnections();
  await new Promise((resolve) => outside.close(resolve));
});

function rows<Row>(sql: string): Row[] {
  const database = new SqliteFile(join(control.folder, 'control.db'), { readonly: true });
  try {
    return database.prepare<[], Row>(sql).all();
  } finally {
    database.close();
  }
}

interface Run {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly worker: string | null;
}
const runs = () => rows<Run>('select id, status, attempts, worker from test_runs order by id');

/** For a failure message: the runs' states, and the program's output. */
const state = () => ({
  runs: rows('select status, attempts, worker, count(*) as runs from test_runs group by 1, 2, 3'),
  hanging: hanging.size,
  output: control.output.slice(-1000),
});

/** Longer than anything in these tests takes, even on a heavily overloaded machine, ms. */
const limitMs = 180_000;

/** Twenty runs hang in their webhook: an organization's limit. */
const twentyHang = () =>
  eventually(
    'twenty runs in their webhook',
    () => {
      saw(state());
      return hanging.size === 20 ? true : null;
    },
    limitMs,
  );

/** The whole content of a batch's stream. */
async function followed(batchId: string): Promise<string> {
  const response = await fetch(`${control.url}/v1/agent-testing/batches/${batchId}/events`, {
    headers: { authorization: control.keys.api_key },
    signal: AbortSignal.timeout(2 * limitMs),
  });
  return response.text();
}

describe('a control plane killed while tests run', () => {
  it('ends each of 50 runs after its restart, exactly once, and counts it once', async () => {
    await control.start();
    const { port: outsidePort } = outside.address() as AddressInfo;
    const url = `http://127.0.0.1:${outsidePort}/book`;
    const nodes = bookingGraph.nodes.map((node) =>
      // The longest possible timeout: no run continues while the others get there.
      node.id === 'book' ? { ...node, data: { ...node.data, method: 'GET', url, timeoutValue: 60 } } : node,
    );
    const { pathway_id } = await control.api.read(PathwayCreated, 'POST', '/v1/pathway/create', {
      name: 'Kill',
    });
    await control.api.ok('POST', `/v1/pathway/${pathway_id}`, { nodes, edges: bookingGraph.edges });
    const scenario_ids: string[] = [];
    for (let index = 0; index < 50; index++) {
      const { id } = await control.api.read(ScenarioAnswer, 'POST', '/v1/agent-testing/scenarios', {
        pathway_id,
        name: `Scenario ${index}`,
        tester_persona_prompt: 'You are Sam Reed. You want to book an appointment.\n- date: May 4, 2030',
        assertions: [{ type: 'NODE_REACHED', config: { node_id: 'done' } }],
      });
      scenario_ids.push(id);
    }
    const { batch_id } = await control.api.read(BatchStarted, 'POST', '/v1/agent-testing/batch-run', {
      scenario_ids,
      seed: 1,
    });
    /** How often each run was started, and by whom. */
    const tries = new Map<string, number>();
    const dead = new Set<string | null>();
    for (let kill = 1; kill <= 2; kill++) {
      await twentyHang();
      const taken = runs().filter(({ worker }) => worker !== null && !dead.has(worker));
      expect(taken).toHaveLength(20);
      for (const { id, worker } of taken) {
        tries.set(id, (tries.get(id) ?? 0) + 1);
        dead.add(worker);
      }
      // What an earlier kill interrupted and what is running is claimed, everything else waits.
      expect(runs()).toEqual(
        runs().map(({ id, worker }) => ({
          id,
          worker,
          status: tries.has(id) ? 'RUNNING' : 'PENDING',
          attempts: tries.get(id) ?? 0,
        })),
      );
      await control.end('SIGKILL');
      await eventually('the requests of the dead program to leave', () => {
        saw(state());
        return hanging.size === 0 ? true : null;
      });
      await control.start();
    }
    const stream = followed(batch_id);
    // A failure before this is checked must fail this test, not the stream that ends with its server.
    stream.catch(() => undefined);
    answer.resolve();
    await eventually(
      'the end of the batch',
      () => {
        saw(state());
        return rows<{ completed_at: string | null }>('select completed_at from test_batches')[0]
          ?.completed_at;
      },
      limitMs,
    );
    expect(await stream).toMatch(/event: end\ndata: \{\}\n\n$/);
    expect(await control.api.read(BatchAnswer, 'GET', `/v1/agent-testing/batches/${batch_id}`)).toMatchObject(
      {
        status: 'PASSED',
        passed_scenarios: 50,
      },
    );
    await control.end('SIGTERM');
    // Each kill has cost the running ones one attempt, and no others.
    expect(runs()).toEqual(
      runs().map(({ id }) => ({ id, status: 'PASSED', worker: null, attempts: 1 + (tries.get(id) ?? 0) })),
    );
    expect(rows('select sum(runs) as counted from test_run_days')).toEqual([{ counted: 50 }]);
    expect(
      rows('select count(*) as results, count(distinct run_id) as runs from test_assertion_results'),
    ).toEqual([{ results: 50, runs: 50 }]);
  }, 900_000);
});
