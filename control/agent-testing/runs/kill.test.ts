/** A control plane that is killed while runs wait and are under way: after its restart every one ends, and once. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlProgram } from '../../../test/system/control-program.ts';
import { bookingGraph } from './testing.ts';

let control: ControlProgram;
/** The outside world: what the tested agent asks of it. */
let asked = 0;
let told: PromiseWithResolvers<void>;
/** Held back until it says so; null: answers at once. */
let answer: Promise<void> | null = null;
const outside = createServer(async (_request, response) => {
  asked++;
  told.resolve();
  await answer;
  response.setHeader('content-type', 'application/json').end('{}');
});

beforeEach(async () => {
  control = new ControlProgram();
  told = Promise.withResolvers();
  await once(outside.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  await control.remove();
  outside.closeAllConnections();
  await new Promise((resolve) => outside.close(resolve));
});

/** Waits for the end of a batch by its event stream. */
async function followed(batchId: string): Promise<void> {
  const response = await fetch(`${control.url}/v1/agent-testing/batches/${batchId}/events`, {
    headers: { authorization: control.keys.api_key },
  });
  expect(await response.text()).toMatch(/event: end\ndata: \{\}\n\n$/);
}

const inFlight = () => {
  const database = new SqliteFile(join(control.folder, 'control.db'), { readonly: true });
  const count = database.prepare('select status, count(*) as runs from test_runs group by status');
  const rows = count.all() as { status: string; runs: number }[];
  database.close();
  return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
};

interface Started {
  readonly batch_id: string;
}
interface Batch {
  readonly status: string;
  readonly passed_scenarios: number;
}

describe('a control plane that is killed while tests run', () => {
  it('ends each of 50 runs after its restart, exactly once, and counts it once', async () => {
    await control.start();
    const { port: outsidePort } = outside.address() as AddressInfo;
    const nodes = bookingGraph.nodes.map((node) =>
      node.id === 'book'
        ? { ...node, data: { ...node.data, method: 'GET', url: `http://127.0.0.1:${outsidePort}/book` } }
        : node,
    );
    const { pathway_id } = await control.call<{ pathway_id: string }>('POST', '/v1/pathway/create', {
      name: 'Kill',
    });
    await control.call('POST', `/v1/pathway/${pathway_id}`, { nodes, edges: bookingGraph.edges });
    const scenario_ids: string[] = [];
    for (let index = 0; index < 50; index++) {
      const { id } = await control.call<{ id: string }>('POST', '/v1/agent-testing/scenarios', {
        pathway_id,
        name: `Scenario ${index}`,
        tester_persona_prompt: 'You are Sam Reed. You want to book an appointment.\n- date: May 4, 2030',
        assertions: [{ type: 'NODE_REACHED', config: { node_id: 'done' } }],
      });
      scenario_ids.push(id);
    }
    // Twenty runs hang in their webhook, thirty wait: that is when the first kill comes, and the second.
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = promise;
    const { batch_id } = await control.call<Started>('POST', '/v1/agent-testing/batch-run', {
      scenario_ids,
      seed: 1,
    });
    for (let kill = 0; kill < 2; kill++) {
      const before = asked;
      while (asked < before + 20) {
        await told.promise;
        told = Promise.withResolvers();
      }
      // After a kill, what was running waits with its claim, and twenty others run.
      const { PENDING: waiting = 0, RUNNING: claimed = 0 } = inFlight();
      expect(claimed + waiting).toBe(50);
      if (kill === 0) expect(claimed).toBe(20);
      else expect(claimed).toBeGreaterThanOrEqual(20);
      await control.end('SIGKILL');
      await control.start();
    }
    resolve();
    await followed(batch_id);
    expect(await control.call<Batch>('GET', `/v1/agent-testing/batches/${batch_id}`)).toMatchObject({
      status: 'PASSED',
      passed_scenarios: 50,
    });
    await control.end('SIGTERM');
    const database = new SqliteFile(join(control.folder, 'control.db'), { readonly: true });
    const rows = (sql: string) => database.prepare(sql).all();
    expect(
      rows('select status, count(*) as runs, max(attempts) as most from test_runs group by status'),
    ).toEqual([
      { status: 'PASSED', runs: 50, most: expect.toSatisfy((most: number) => most === 2 || most === 3) },
    ]);
    expect(rows('select sum(runs) as counted from test_run_days')).toEqual([{ counted: 50 }]);
    expect(
      rows('select count(*) as results, count(distinct run_id) as runs from test_assertion_results'),
    ).toEqual([{ results: 50, runs: 50 }]);
    database.close();
  }, 180_000);
});
