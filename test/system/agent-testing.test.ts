/** Agent testing with the real programs: the control plane, killed during a session, and the command for CI. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { TornadoAnswer, TornadoStarted } from '#shared/api/agent-testing/tornado.ts';
import { PathwayCreated } from '#shared/api/pathways.ts';
import {
  faultyGraph,
  harshPrompt,
  missingEdge,
  missingVariable,
  soundBooking,
} from '../kit/control/dental.ts';
import { longTest } from '../kit/long-test.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';

const root = join(import.meta.dirname, '..', '..');

let control: ControlProgram;
beforeEach(async () => {
  control = new ControlProgram();
  await control.start();
});
afterEach(() => control.remove());

async function pathway(graph: { nodes: readonly object[]; edges: readonly object[] }): Promise<string> {
  const { pathway_id } = await control.api.read(PathwayCreated, 'POST', '/v1/pathway/create', {
    name: 'Dental',
  });
  await control.api.ok('POST', `/v1/pathway/${pathway_id}`, graph);
  await control.api.ok('POST', `/v1/pathway/${pathway_id}/version`, { name: 'v', ...graph });
  return pathway_id;
}

const scenario = (pathway_id: string, body: object) =>
  control.api.read(ScenarioAnswer, 'POST', '/v1/agent-testing/scenarios', { pathway_id, ...body });

interface Command {
  readonly code: number;
  readonly output: string;
}

function agentTest(...args: readonly string[]): Promise<Command> {
  return new Promise((resolve) => {
    const env = { ...process.env, TRUNKLINE_DATA: control.folder, NODE_NO_WARNINGS: '1' };
    const command = [join(root, 'scripts', 'agent-test.ts'), ...args];
    execFile(process.execPath, command, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}

describe('npm run agent-test', () => {
  it('exits with 0 when all pass, with 1 when one fails, and writes the result for CI', async () => {
    const id = await pathway(faultyGraph);
    await scenario(id, soundBooking);
    const passed = await agentTest('--pathway', id, '--version', '1', '--wait');
    expect(passed).toMatchObject({ code: 0, output: expect.stringContaining('PASSED: 1 of 1 passed') });

    await scenario(id, { ...missingEdge, name: 'Asks for <hours>' });
    const file = join(control.folder, 'out.xml');
    const failed = await agentTest('--pathway', id, '--junit', file, '--url', control.url);
    expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('FAILED: 1 of 2 passed') });
    const xml = readFileSync(file, 'utf8');
    expect(xml).toContain('<testsuites name="agent-test" tests="2" failures="1" errors="0"');
    expect(xml).toContain('<testcase name="Asks for &lt;hours&gt;"');

    const one = await agentTest('--pathway', id, '--scenario', 'Books and is done', '--wait');
    expect(one).toMatchObject({ code: 0, output: expect.stringContaining('1 of 1') });
  });

  longTest('exits with 2 on wrong options or a server error, and says why', async () => {
    const id = await pathway(faultyGraph);
    const key = join(control.folder, 'key');
    writeFileSync(key, 'not a key\n');
    const said = (text: string) => ({ code: 2, output: expect.stringContaining(text) });
    expect(await agentTest('--wait')).toMatchObject(said('exactly one of --pathway and --persona'));
    expect(await agentTest('--pathway', id)).toMatchObject(said('has no enabled scenario'));
    await scenario(id, soundBooking);
    expect(await agentTest('--pathway', id, '--scenario', 'Sings')).toMatchObject(said('Books and is done'));
    expect(await agentTest('--pathway', id, '--version', '9')).toMatchObject(said('VERSION_NOT_FOUND'));
    expect(await agentTest('--pathway', id, '--key-file', key)).toMatchObject(said('401'));
    expect(await agentTest('--pathway', id, '--url', 'http://127.0.0.1:1')).toMatchObject(
      said('cannot reach'),
    );
  });
});

describe('a tornado session whose control plane is killed', () => {
  it('continues its iteration after each restart', async () => {
    // The greeting is fetched, so that runs can be held until the kill.
    let asks = 0;
    let told = Promise.withResolvers<void>();
    let answer = Promise.withResolvers<void>();
    const outside = createServer(async (_request, response) => {
      asks++;
      told.resolve();
      await answer.promise;
      response.setHeader('content-type', 'application/json').end('{}');
    });
    await once(outside.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      outside.closeAllConnections();
      outside.close();
    });
    const { port } = outside.address() as AddressInfo;
    const [greet, ...others] = faultyGraph.nodes;
    const id = await pathway({
      nodes: [
        {
          id: 'lookup',
          type: 'Webhook',
          data: { name: 'Lookup', isStart: true, method: 'GET', url: `http://127.0.0.1:${port}/caller` },
        },
        { ...greet, data: { ...greet?.data, isStart: false } },
        ...others,
      ],
      edges: [{ source: 'lookup', target: 'greet', data: { label: 'success' } }, ...faultyGraph.edges],
    });
    const scenarios = [missingEdge, missingVariable, harshPrompt, soundBooking];
    for (const one of scenarios) await scenario(id, one);
    /** Holds each run of the iteration. */
    const allAsked = async () => {
      while (asks < scenarios.length) {
        await told.promise;
        told = Promise.withResolvers();
      }
      asks = 0;
    };
    const { session_id } = await control.api.read(TornadoStarted, 'POST', '/v1/agent-testing/tornado/start', {
      pathway_id: id,
      version_number: 1,
      seed: 1,
    });
    const status = () =>
      control.api.read(TornadoAnswer, 'GET', `/v1/agent-testing/tornado/${session_id}/status`);
    for (const iteration of [1, 2]) {
      await allAsked();
      const before = await status();
      expect(before).toMatchObject({ status: 'RUNNING', current_iteration: iteration });
      await control.end('SIGKILL');
      await control.start();
      await allAsked();
      const after = await status();
      expect(after.iterations.map(({ batch_id }) => batch_id)).toEqual(
        before.iterations.map(({ batch_id }) => batch_id),
      );
      const held = answer;
      answer = iteration === 1 ? Promise.withResolvers() : held;
      held.resolve();
    }
    // What the fixes made pass is tried on held-out variants before the session ends.
    const ended = await eventually('the end of the session', async () => {
      const now = saw(await status());
      return now.status === 'RUNNING' ? null : now;
    });
    expect(ended).toMatchObject({
      status: 'COMPLETED_ALL_PASSED',
      forked_version: 2,
      // Each of the three fixes is left out once, and is needed.
      current_iteration: 5,
      passed_scenarios: 4,
      iterations: [
        { version_number: 1 },
        { version_number: 2, failed_ids: [] },
        { failed_ids: [expect.any(String)] },
        { failed_ids: [expect.any(String)] },
        { failed_ids: [expect.any(String)] },
      ],
    });
  });
});
